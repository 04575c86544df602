"""``hinge accelerate`` and ``hinge predict --anytime``: the same labels, and honest guesses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart

import hinge
from hinge.anytime import ORDERINGS
from hinge.cli import _progress
from hinge.cli._console import Output
from hinge.cli.accelerate import Ordering
from hinge.models import load, save


@pytest.fixture
def machine(shell: Shell) -> Path:
    """Leave ``rows.svm`` and a kernel machine in the folder, and return the machine."""
    classes_apart(Path("rows.svm"), n_rows=90, n_classes=3)
    assert shell("train", "rows.svm", "machine.hinge", "--kernel", "rbf").code == 0
    return Path("machine.hinge")


def test_an_accelerated_file_predicts_the_same_labels(shell: Shell, machine: Path) -> None:
    made = shell("accelerate", machine, "--queries", "rows.svm", "--candidates", "rows.svm")
    assert made.code == 0
    assert "support vectors" in made.out
    assert "machine.fast.hinge" in made.out
    assert isinstance(load("machine.fast.hinge"), hinge.AnytimeClassifier)
    expected = shell("predict", machine, "rows.svm").out
    for words in ((), ("--anytime",), ("--max-terms", "1000000"), ("--seconds", "1000")):
        run = shell("predict", "machine.fast.hinge", "rows.svm", *words)
        assert run.code == 0
        marks = ["proven"] * 90 if len(words) == 2 else []
        labels = [line.split("\t") for line in run.out.splitlines()]
        assert [line[0] for line in labels] == expected.split()
        assert [line[1] for line in labels if len(line) > 1] == marks


def test_a_machine_gets_its_stages_from_the_first_rows(shell: Shell, machine: Path) -> None:
    expected = shell("predict", machine, "rows.svm").out
    assert shell("predict", machine, "rows.svm", "--anytime").out == expected


def test_every_order_is_an_option() -> None:
    assert tuple(map(str, Ordering)) == ORDERINGS


def test_guesses_are_marked(shell: Shell, machine: Path) -> None:
    run = shell("predict", machine, "rows.svm", "--max-terms", "0")
    assert {line.split("\t")[1] for line in run.out.splitlines()} == {"guess"}
    assert "hinge: note: 0 of 90 labels are proven." in run.err
    found = shell("predict", machine, "rows.svm", "--seconds", "0", "--json").data
    assert found["proven"] == [False] * 90
    assert set(found["labels"]) <= {1, 2, 3}


def test_other_commands_take_an_accelerated_file(shell: Shell, machine: Path) -> None:
    shell("accelerate", machine, "-o", "fast.hinge", "--points", "20", "--ordering", "given")
    assert load("fast.hinge").get_params()["n_points"] == 20
    assert shell("verify", "fast.hinge", "rows.svm").out.startswith("Confirmed")
    assert shell("evaluate", "fast.hinge", "rows.svm").code == 0
    shown = shell("inspect", "fast.hinge").out
    assert "anytime-kernel-classifier" in shown
    assert "anytime     The machine has" in shown
    assert shell("predict", "fast.hinge", "rows.svm", "--scores").code == 0


def test_points_that_are_no_rows(shell: Shell) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    labels = np.where(X[:, 0] * X[:, 1] > 0.0, "a", "b")
    lines = [
        ",".join((label, *map(repr, row.tolist()))) for label, row in zip(labels, X, strict=True)
    ]
    Path("rows.csv").write_text("label,x,y,z\n" + "\n".join(lines) + "\n")
    train = ("train", "rows.csv", "dense.hinge", "--kernel", "rbf", "--label", "label")
    assert shell(*train).code == 0
    run = shell("accelerate", "dense.hinge", "--reduced-set", "4", "--points", "16")
    assert run.code == 0
    assert load("dense.fast.hinge").get_params()["reduced_set"] == 4


def test_what_is_being_made_is_shown(shell: Shell, machine: Path, monkeypatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(Output, "shows_progress", True)
    monkeypatch.setattr(_progress.Progress, "update", lambda *_, **words: shown.append(str(words)))
    assert shell("accelerate", machine, "--points", "12").code == 0
    assert "accelerating machine.hinge: basis points" in "".join(shown)
    assert shown[-1] == "{'description': 'accelerating machine.hinge: stages', 'completed': 1.0}"


def test_a_predictor_alone(shell: Shell, machine: Path) -> None:
    save(hinge.accelerate(load(machine)), "alone.hinge")
    expected = shell("predict", machine, "rows.svm").out
    assert shell("predict", "alone.hinge", "rows.svm").out == expected
    assert "without a certificate" in shell("inspect", "alone.hinge").out
    for words in (("verify", "alone.hinge", "rows.svm"), ("evaluate", "alone.hinge", "rows.svm")):
        run = shell(*words)
        assert run.code == 1
        assert "alone.hinge holds a predictor without the model that it was made of" in run.err
    run = shell("predict", "alone.hinge", "rows.svm", "--scores")
    assert (run.code, "holds a predictor of labels alone; leave out --scores" in run.err) == (1, 1)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("predict", "rows.svm.hinge", "rows.svm", "--anytime"), 1, "holds a linear model, which"),
        (("accelerate", "rows.svm.hinge"), 1, "only kernel machines can be accelerated."),
        (("accelerate", "rows.svm"), 1, "this is not a model file; the order is MODEL."),
        (("accelerate", "rows.svm.hinge", "-o", "-"), 2, "cannot be written to standard output"),
        (("accelerate", "rows.svm.hinge", "-o", "rows.svm"), 1, "pass --force to replace it"),
        (("accelerate", "rows.svm.hinge", "--ordering", "best"), 2, "'best'"),
        (("predict", "rows.svm.hinge", "rows.svm", "--seconds", "nan"), 2, "nan is not a finite"),
        (
            ("predict", "rows.svm.hinge", "rows.svm", "--anytime", "--scores"),
            2,
            "--scores evaluates every row in full, so --anytime cannot help; leave one out.",
        ),
        (
            ("predict", "rows.svm.hinge", "rows.svm", "--max-terms", "3", "--scores"),
            2,
            "--scores evaluates every row in full, so a budget cannot help; leave one out.",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(
    shell: Shell, trained: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    del trained
    run = shell(*words)
    assert (run.code, run.out) == (code, "")
    assert message in run.err.replace("\n", " ")
    assert np.sum([line.startswith("hinge: error:") for line in run.err.splitlines()]) == 1
