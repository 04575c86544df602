"""``hinge evaluate``: the figures are right, for one model and for many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, write_rows

from hinge.cli._scores import score


def test_figures_by_hand() -> None:
    truth = np.asarray([0, 0, 0, 1, 1, 2])
    guessed = np.asarray([0, 0, 1, 1, 1, 0])
    found = score("m", np.asarray([0, 1, 3]), truth, guessed)
    assert found.labels == [0, 1, 2, 3]
    assert found.confusion.tolist() == [[2, 1, 0, 0], [0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert (found.right, found.rows) == (4, 6)
    assert found.precision.tolist() == pytest.approx([2 / 3, 2 / 3, 0, 0])
    assert found.recall.tolist() == pytest.approx([2 / 3, 1, 0, 0])
    assert found.support.tolist() == [3, 2, 1, 0]
    assert found.mean_recall == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_two_models_at_once(shell: Shell, trained: Path) -> None:
    assert shell("train", "rows.svm", "worse", "--C", "1e-5", "--quiet").code == 0
    run = shell("evaluate", trained, "worse", "rows.svm")
    assert run.code == 0
    lines = run.out.splitlines()
    heads = ["model", "accuracy", "right", "mean", "recall", "mean", "F1", "examined"]
    assert lines[0].split() == heads
    assert {line.split()[0] for line in lines[2:4]} == {str(trained), "worse"}
    assert "Classes of worse:" in lines
    assert run.out.count("Confusion of") == 2


def test_json_has_every_figure(shell: Shell, trained: Path) -> None:
    data = shell("evaluate", trained, "rows.svm", "--json").data
    (model,) = data["models"]
    assert data["data"] == "rows.svm"
    assert model["labels"] == [1, 2]
    assert model["right"] == sum(model["confusion"][k][k] for k in range(2))
    assert model["accuracy"] == model["right"] / 60
    assert [entry["rows"] for entry in model["per_class"]] == [30, 30]


def _clouds(n_rows: int) -> list[str]:
    rng = np.random.default_rng(5)
    lines = []
    for number in range(n_rows):
        label = number % 2
        x = rng.standard_normal(6) + 0.4 * (2 * label - 1)
        lines.append(f"{label} " + " ".join(f"{k + 1}:{v:.4f}" for k, v in enumerate(x)))
    return lines


def test_models_of_a_path_share_most_of_the_work(shell: Shell) -> None:
    write_rows(Path("rows.svm"), _clouds(2000))
    names = []
    for C in np.geomspace(0.001, 1.0, 8):
        names.append(f"m{len(names)}")
        assert shell("train", "rows.svm", names[-1], "--C", f"{C:.4g}", "--quiet").code == 0
    together = shell("evaluate", *names, "rows.svm", "--json").data["models"]
    for name, found in zip(names, together, strict=True):
        (alone,) = shell("evaluate", name, "rows.svm", "--json").data["models"]
        assert alone.pop("examined") == 2000
        examined = found.pop("examined")
        assert examined <= 2000
        assert found == alone
    assert shell("evaluate", *names, "rows.svm").out.count("no decision value was computed") == 1


def test_models_of_three_and_of_two_classes_together(shell: Shell) -> None:
    path = classes_apart(Path("three.svm"), n_rows=90, n_classes=3)
    assert shell("train", path, "three", "--quiet").code == 0
    two = [line for line in path.read_text().splitlines() if not line.startswith("2")]
    write_rows(Path("two.svm"), two)
    for name, C in (("two", "1"), ("again", "0.5")):
        assert shell("train", "two.svm", name, "--C", C, "--quiet").code == 0
    together = shell("evaluate", "two", "three", "again", path, "--json").data["models"]
    for name, found in zip(("two", "three", "again"), together, strict=True):
        (alone,) = shell("evaluate", name, path, "--json").data["models"]
        assert found["confusion"] == alone["confusion"]
        assert found["labels"] == alone["labels"]


def test_labels_that_the_model_does_not_know_are_wrong(shell: Shell, trained: Path) -> None:
    write_rows(Path("new.svm"), ["1 1:1", "7 2:1"])
    (model,) = shell("evaluate", trained, "new.svm", "--json").data["models"]
    assert model["labels"] == [1, 2, 7]
    assert (model["right"], model["rows"]) == (1, 2)


def test_numbers_that_are_no_labels(shell: Shell, trained: Path) -> None:
    write_rows(Path("real.svm"), [f"{k}.5 1:1" for k in range(1001)])
    run = shell("evaluate", trained, "real.svm")
    assert run.code == 1
    assert run.err.splitlines()[-1] == (
        "hinge: error: real.svm: there are 1001 different labels, and the model knows 2 classes; "
        "name the column of the labels with --label."
    )
    write_rows(Path("real.svm"), [f"{k}.5 1:1" for k in range(1000)])
    assert shell("evaluate", trained, "real.svm", "--json").code == 0


def test_a_table_too_wide_for_a_screen_is_shortened(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_rows=300, n_classes=25)
    assert shell("train", path, "m", "--quiet", "--C", "0.01").code == 0
    run = shell("evaluate", "m", path)
    assert "Most frequent confusions" in run.out
    assert max(len(line) for line in run.out.splitlines()) <= 80


def test_the_output_has_no_colours_and_no_trailing_rules(shell: Shell, trained: Path) -> None:
    assert "\x1b" not in shell("evaluate", trained, "rows.svm").out
