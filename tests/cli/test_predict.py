"""``hinge predict``: labels out, notes aside, and rows as wide as the model."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, write_rows

import hinge
from hinge.models import load


def test_a_label_per_line(shell: Shell, trained: Path) -> None:
    run = shell("predict", trained, "rows.svm")
    assert run.code == 0
    X, y = hinge.data.read_libsvm("rows.svm")
    expected = load(trained).predict(X)
    assert run.out.split() == [f"{label:g}" for label in expected]
    right = int((expected == y).sum())
    assert f"hinge: note: accuracy {100 * right / 60:.4g} % ({right} of 60 labels" in run.err


def test_decision_values_come_after_the_label(shell: Shell, trained: Path) -> None:
    run = shell("predict", trained, "rows.svm", "--scores")
    X, _ = hinge.data.read_libsvm("rows.svm")
    values = [float(line.split("\t")[1]) for line in run.out.splitlines()]
    np.testing.assert_array_equal(values, load(trained).decision_function(X))


def test_into_a_file(shell: Shell, trained: Path) -> None:
    Path("labels").write_text("old")
    run = shell("predict", trained, "rows.svm", "-o", "labels")
    assert (run.code, run.out) == (0, "")
    assert set(Path("labels").read_text().split()) == {"1", "2"}


def test_as_json(shell: Shell, trained: Path) -> None:
    data = shell("predict", trained, "rows.svm", "--scores", "--json").data
    assert set(data["labels"]) == {1, 2}
    assert len(data["labels"]) == len(data["decision_values"]) == 60
    assert 0.9 < data["accuracy"] <= 1.0


def test_json_and_a_file_do_not_go_together(shell: Shell, trained: Path) -> None:
    run = shell("predict", trained, "rows.svm", "--json", "--output", "labels")
    assert run.code == 2
    assert run.err == (
        "hinge: error: --json writes to stdout, so --output cannot be given with it; leave one "
        "out.\n"
    )
    assert not Path("labels").exists()
    assert shell("predict", trained, "rows.svm", "--json", "--output", "-").code == 0


def test_stdout_by_name_and_devices(shell: Shell, trained: Path) -> None:
    assert shell("predict", trained, "rows.svm", "-o", "-").out.split() == (
        shell("predict", trained, "rows.svm").out.split()
    )
    if Path(os.devnull).is_char_device():
        assert shell("predict", trained, "rows.svm", "-o", os.devnull).code == 0
        assert shell("svm-predict", "rows.svm", trained, os.devnull).code == 0
    assert sorted(path.name for path in Path().iterdir()) == ["rows.svm", "rows.svm.hinge"]


@pytest.mark.parametrize("target", ["rows.svm", "rows.svm.hinge"])
def test_an_input_is_no_output(shell: Shell, trained: Path, target: str) -> None:
    before = Path(target).read_bytes()
    run = shell("predict", trained, "rows.svm", "--output", target)
    assert run.code == 2
    assert run.err == (
        f"hinge: error: {target} is an input of this command and cannot be its output.\n"
    )
    assert Path(target).read_bytes() == before


def test_features_that_the_model_never_saw_are_absent(shell: Shell, trained: Path) -> None:
    write_rows(Path("wide.svm"), ["1 1:1 9:5", "2 2:1"])
    write_rows(Path("narrow.svm"), ["1 1:1", "2 2:1"])
    wide, narrow = shell("predict", trained, "wide.svm"), shell("predict", trained, "narrow.svm")
    assert wide.out == narrow.out
    assert "wide.svm: features 4 to 9 were not in the training data and are ignored." in wide.err


def test_a_table_of_another_width_is_another_table(shell: Shell, trained: Path) -> None:
    Path("t.csv").write_text("1,2,3,4,1\n1,2,3,4,2\n")
    run = shell("predict", trained, "t.csv")
    assert run.code == 1
    assert "t.csv: the rows have 4 features, but the model was trained on 3; check --label" in (
        run.err
    )


def test_columns_are_found_by_their_names(shell: Shell) -> None:
    Path("t.csv").write_text("height,weight,label\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n")
    assert shell("train", "t.csv", "m").code == 0
    Path("u.csv").write_text("weight,id,height\n2,7,1\n1,8,2\n3,9,1\n1,10,3\n")
    run = shell("predict", "m", "u.csv", "--unlabelled")
    assert run.out.split() == ["a", "b", "a", "b"]
    assert "these columns were not in the training data and are ignored: 'id'." in run.err
    Path("v.csv").write_text("weight,length\n2,7\n")
    run = shell("predict", "m", "v.csv", "--unlabelled")
    assert run.code == 1
    assert "are not among its features: 'height'; check --label, or --unlabelled" in run.err
    Path("w.csv").write_text("height,weight\n1,2\n")
    assert "are not among its features: 'weight'; check" in shell("predict", "m", "w.csv").err


def test_text_and_numbers_are_not_taken_for_each_other(shell: Shell, trained: Path) -> None:
    Path("t.csv").write_text("1,2,3,a\n1,2,4,b\n")
    run = shell("evaluate", trained, "t.csv")
    assert run.code == 1
    assert "the labels are text, but the classes of the model are numbers" in run.err


def test_labels_that_cannot_be_compared_are_no_hindrance(shell: Shell) -> None:
    Path("t.csv").write_text("height,weight,label\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n")
    assert shell("train", "t.csv", "m").code == 0
    write_rows(Path("u.svm"), ["1 1:1 2:2", "2 1:2 2:1"])
    run = shell("predict", "m", "u.svm")
    assert (run.code, run.out) == (0, "a\nb\n")
    message = (
        "hinge: note: u.svm: the labels are numbers, but the classes of the model are text, so "
        "they are not compared."
    )
    assert run.err.splitlines()[-1] == message
    assert shell("predict", "m", "u.svm", "--json").data["accuracy"] is None
    run = shell("svm-predict", "u.svm", "m", "out")
    assert (run.code, run.out) == (0, "")
    assert run.err.splitlines()[-1] == message
    assert Path("out").read_text() == "a\nb\n"


def test_a_model_of_liblinear(shell: Shell, trained: Path) -> None:
    assert shell("export", trained, "their.model").code == 0
    ours = shell("predict", trained, "rows.svm")
    theirs = shell("predict", "their.model", "rows.svm")
    assert theirs.code == 0
    assert theirs.out == ours.out


def test_a_damaged_model(shell: Shell, trained: Path) -> None:
    content = bytearray(trained.read_bytes())
    content[-1] ^= 1
    Path("damaged").write_bytes(bytes(content))
    run = shell("predict", "damaged", "rows.svm")
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("hinge: error: damaged: ")


@pytest.mark.parametrize(
    ("words", "order"),
    [
        (["predict", "rows.svm", "rows.svm.hinge"], "MODEL DATA"),
        (["verify", "rows.svm", "rows.svm.hinge"], "MODEL DATA"),
        (["evaluate", "rows.svm", "rows.svm.hinge"], "MODEL... DATA"),
        (["export", "rows.svm", "m.model"], "MODEL TARGET"),
        (["svm-predict", "rows.svm.hinge", "rows.svm", "out"], "DATA MODEL OUTPUT"),
    ],
)
def test_files_in_the_wrong_order(
    shell: Shell, trained: Path, words: list[str], order: str
) -> None:
    del trained
    run = shell(*words)
    assert run.code == 1
    assert run.err == (f"hinge: error: rows.svm: this is not a model file; the order is {order}.\n")


def test_a_file_that_is_not_there(shell: Shell, trained: Path) -> None:
    run = shell("predict", "missing.hinge", "rows.svm")
    assert run.code == 1
    assert run.err.startswith("hinge: error: missing.hinge: there is no such file")
    run = shell("predict", trained, "missing.svm")
    assert run.err.startswith("hinge: error: missing.svm: there is no such file")


def test_many_classes(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_rows=200, n_classes=5)
    assert shell("train", path, "m").code == 0
    run = shell("predict", "m", path, "--scores")
    assert {len(line.split("\t")) for line in run.out.splitlines()} == {6}
