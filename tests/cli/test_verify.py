"""``hinge verify`` and ``hinge inspect``: what a model file says, and whether it is true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, hard_rows

import hinge


def test_a_true_and_proven_model(shell: Shell, trained: Path) -> None:
    run = shell("verify", trained, "rows.svm")
    assert run.code == 0
    assert "proven" in run.out
    data = shell("verify", trained, "rows.svm", "--json").data
    assert data["truthful"] is True
    assert data["optimality"] == "proven"
    assert data["exit_code"] == 0
    assert data["sentences"] == run.out.splitlines()


def test_without_a_proof_optimality_is_unproven(shell: Shell, trained: Path) -> None:
    assert shell("train", "rows.svm", "small", "--no-proof", "--quiet").code == 0
    assert Path("small").stat().st_size < trained.stat().st_size
    run = shell("verify", "small", "rows.svm")
    assert run.code == 3
    assert "unproven" in run.out


@pytest.mark.parametrize("passes", [0, 3])
def test_an_unsolved_model_is_not_certified(shell: Shell, passes: int) -> None:
    path = hard_rows(Path("hard.npz"), 300, 30)
    words = ["--C", "10", "--loss", "hinge", "--max-iter", passes]
    assert shell("train", path, "m", *words).code == 3
    run = shell("verify", "m", path)
    assert run.code == 3
    data = shell("verify", "m", path, "--json").data
    assert data["exit_code"] == 3
    assert data["truthful"] is True
    assert data["relative_gap"] > 1e-4
    assert data["sentences"] == run.out.splitlines()
    if passes:
        assert run.out.splitlines()[1] == (
            "The gap is larger than the 0.0001 that the model was to be trained to, so it is not "
            "certified."
        )


def test_other_data_are_noticed(shell: Shell, trained: Path) -> None:
    classes_apart(Path("other.svm"), seed=1)
    run = shell("verify", trained, "other.svm")
    assert run.code == 1
    data = shell("verify", trained, "other.svm", "--json").data
    assert data["truthful"] is False
    assert data["exit_code"] == 1


def test_an_imported_model_has_nothing_to_be_true(shell: Shell, trained: Path) -> None:
    assert shell("export", trained, "their.model").code == 0
    assert shell("import-model", "their.model", "ours").code == 0
    assert shell("verify", "ours", "rows.svm").code == 3
    run = shell("verify", "their.model", "rows.svm")
    assert run.code == 3
    assert run.err.splitlines()[0] == (
        "hinge: note: their.model: C is not in the file; taken as 1, and the intercept as "
        "augmented; import-model takes others with --C and --intercept."
    )


def test_several_classes(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_rows=90, n_classes=3)
    assert shell("train", path, "m", "--class-weight", "balanced", "--loss", "hinge").code == 0
    assert shell("verify", "m", path).code == 0


def test_what_a_file_says(shell: Shell, trained: Path) -> None:
    run = shell("inspect", trained)
    assert run.code == 0
    lines = dict(line.split(maxsplit=1) for line in run.out.splitlines())
    assert lines["classes"] == "2: 1, 2"
    assert lines["features"] == "3"
    data = shell("inspect", trained, "--json").data
    assert data["n_features"] == 3
    assert data["classes"] == [1, 2]


@pytest.mark.parametrize("unit", ["D", "ns"])
def test_labels_that_are_dates(shell: Shell, unit: str) -> None:
    X = np.asarray([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]])
    y = np.asarray(["2024-01-01", "2025-01-01"] * 2, dtype=f"datetime64[{unit}]")
    hinge.models.save(hinge.LinearSVC().fit(X, y), "m")
    shown = [str(label) for label in np.unique(y)]
    assert shell("inspect", "m", "--json").data["classes"] == shown
    assert f"2: {shown[0]}, {shown[1]}" in shell("inspect", "m").out
    np.savez("rows.npz", X=X, y=y.astype(np.int64))
    run = shell("predict", "m", "rows.npz")
    assert run.out.split() == shown * 2
    assert "the labels are numbers, but the classes of the model are dates, so they are not" in (
        run.err
    )
    assert shell("predict", "m", "rows.npz", "--json").data["labels"] == shown * 2


def test_what_is_no_model(shell: Shell, trained: Path) -> None:
    del trained
    run = shell("inspect", "rows.svm")
    assert run.code == 1
    assert run.err.startswith("hinge: error: rows.svm: ")
