"""Where a file begins to count is remembered by the model, for files that do not show it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell, write_rows

from hinge.models import load

WARNING = (
    "hinge: warning: new.svm: the model was trained with indices counted from zero, and these are "
    "counted from one; unless the files differ in that, every feature is taken for its neighbour."
)


@pytest.fixture
def zero_based(shell: Shell) -> Path:
    """Leave a model of rows whose class is the number of their feature, and new rows without 0."""
    write_rows(Path("rows.svm"), ["0 0:1", "1 1:1", "2 2:1", "0 0:2", "1 1:2", "2 2:2"])
    write_rows(Path("new.svm"), ["1 1:1", "2 2:1"])
    assert shell("train", "rows.svm", "m").code == 0
    assert load(Path("m")).index_base_ == 0
    return Path("m")


def test_new_rows_count_as_the_training_data_did(shell: Shell, zero_based: Path) -> None:
    run = shell("predict", zero_based, "new.svm")
    assert run.out.split() == ["1", "2"]
    assert run.err.splitlines()[0] == (
        "hinge: note: new.svm: Indices are counted from zero, as in the training data of the model."
    )
    (found,) = shell("evaluate", zero_based, "new.svm", "--json").data["models"]
    assert found["accuracy"] == 1.0
    assert shell("svm-predict", "new.svm", zero_based, "out").out.startswith("Accuracy = 100%")
    assert shell("verify", zero_based, "rows.svm").code == 0


def test_the_user_goes_first_and_is_warned(shell: Shell, zero_based: Path) -> None:
    run = shell("predict", zero_based, "new.svm", "--index-base", "1", "--quiet")
    assert run.out.split() == ["0", "1"]
    assert run.err.splitlines() == [WARNING]
    assert shell("predict", zero_based, "new.svm", "--index-base", "0", "--quiet").err == ""


def test_an_index_zero_where_the_training_data_had_none(shell: Shell, trained: Path) -> None:
    assert load(trained).index_base_ == 1
    write_rows(Path("new.svm"), ["1 1:1", "2 0:1"])
    run = shell("predict", trained, "new.svm")
    assert run.code == 1
    assert run.err == (
        "hinge: error: new.svm, line 2, column 3: the index is 0, but those of the model's "
        "training data are counted from one; if both files count from zero, train again with "
        "--index-base 0.\n"
    )


def test_models_of_different_bases_are_compared(shell: Shell, zero_based: Path) -> None:
    write_rows(Path("one.svm"), ["0 1:1", "1 2:1", "0 1:2", "1 2:2"])
    assert shell("train", "one.svm", "n", "--quiet").code == 0
    first, second = shell("evaluate", zero_based, "n", "new.svm", "--json").data["models"]
    assert (first["right"], second["right"]) == (2, 0)


def test_tables_have_no_base(shell: Shell, zero_based: Path) -> None:
    Path("t.csv").write_text("1,0,0,0\n0,1,0,1\n0,0,1,2\n")
    assert shell("predict", zero_based, "t.csv").out.split() == ["0", "1", "2"]
    assert shell("train", "t.csv", "table").code == 0
    assert not hasattr(load(Path("table")), "index_base_")


def test_another_fit_forgets_it(zero_based: Path) -> None:
    model = load(zero_based)
    assert not hasattr(model.fit([[0.0], [1.0]], [0, 1]), "index_base_")
