"""``hinge convert``: the same rows in another form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart

import hinge
from hinge.models import load


def test_shards_train_to_the_same_bits(shell: Shell, trained: Path) -> None:
    run = shell("convert", "rows.svm", "rows.hingedata")
    assert run.code == 0
    lines = dict(line.split(maxsplit=1) for line in run.out.splitlines())
    assert (lines["rows"], lines["features"]) == ("60", "3")
    assert shell("train", "rows.hingedata", "m").code == 0
    np.testing.assert_array_equal(load(Path("m")).coef_, load(trained).coef_)


def test_there_and_back(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    assert shell("convert", path, "rows.hingedata").code == 0
    assert shell("convert", "rows.hingedata", "again.svm").code == 0
    X, y = hinge.data.read_libsvm(path)
    X_again, y_again = hinge.data.read_libsvm("again.svm")
    np.testing.assert_array_equal(X.toarray(), X_again.toarray())
    np.testing.assert_array_equal(y, y_again)


def test_a_smaller_type(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    assert shell("convert", path, "rows.hingedata", "--dtype", "float32").code == 0
    assert hinge.data.read("rows.hingedata").X.dtype == np.float32
    run = shell("convert", path, "single.svm", "--dtype", "float32", "--json")
    assert run.data["rows"] == 60
    X, _ = hinge.data.read_libsvm("single.svm", dtype=np.float32)
    again, _ = hinge.data.read_libsvm(path)
    np.testing.assert_array_equal(X.toarray(), again.toarray().astype(np.float32))


def test_labels_that_are_text_stay_in_shards(shell: Shell) -> None:
    Path("t.csv").write_text("1,2,a\n2,1,b\n")
    assert shell("convert", "t.csv", "t.hingedata").code == 0
    assert hinge.data.read("t.hingedata").y.tolist() == ["a", "b"]
    run = shell("convert", "t.csv", "t.svm")
    assert run.code == 1
    assert "t.csv: LIBSVM text needs labels that are numbers; shards take any." in run.err


def test_a_name_that_does_not_tell(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("convert", path, "rows.bin")
    assert run.code == 2
    assert run.err == (
        "hinge: error: the name rows.bin does not tell the format; pass --to shards or --to "
        "libsvm.\n"
    )
    assert shell("convert", path, "rows.bin", "--to", "shards").code == 0


def test_what_is_there_stays(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    Path("rows.hingedata").write_text("precious")
    run = shell("convert", path, "rows.hingedata")
    assert run.code == 1
    assert run.err == ("hinge: error: rows.hingedata exists already; pass --force to replace it.\n")
    assert Path("rows.hingedata").read_text() == "precious"
    assert shell("convert", path, "rows.hingedata", "--force").code == 0


@pytest.mark.parametrize("target", ["out.hingedata", "out.svm"])
def test_a_bad_line_leaves_nothing(shell: Shell, folder: Path, target: str) -> None:
    Path("bad.svm").write_text("1 1:1\n2 1:x\n")
    run = shell("convert", "bad.svm", target)
    assert run.code == 1
    assert "bad.svm, line 2, column" in run.err
    assert [path.name for path in folder.iterdir()] == ["bad.svm"]
