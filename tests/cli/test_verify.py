"""``hinge verify`` and ``hinge inspect``: what a model file says, and whether it is true."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import Shell, classes_apart


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
    assert shell("verify", "their.model", "rows.svm").code == 3


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


def test_what_is_no_model(shell: Shell, trained: Path) -> None:
    del trained
    run = shell("inspect", "rows.svm")
    assert run.code == 1
    assert run.err.startswith("hinge: error: rows.svm: ")
