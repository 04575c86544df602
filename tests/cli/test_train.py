"""``hinge train``: what it writes, says and returns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, hard_rows, write_rows

import hinge
from hinge.models import load


def test_a_model_beside_the_data(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("train", path)
    assert run.code == 0
    lines = dict(line.split(maxsplit=1) for line in run.out.splitlines())
    assert lines["data"] == "60 rows, 3 features"
    assert lines["classes"] == "2: 1, 2"
    assert lines["status"].startswith("solved after ")
    assert lines["model"].startswith("rows.svm.hinge (")
    assert Path("rows.svm.hinge").exists()


def test_it_is_the_model_that_python_trains(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    options = ["--C", "2", "--loss", "hinge", "--intercept", "free", "--tol", "1e-6"]
    assert shell("train", path, "m", *options, "--class-weight", "1=2", "--seed", "3").code == 0
    X, y = hinge.data.read_libsvm(path)
    model = hinge.LinearSVC(
        C=2, loss="hinge", intercept="free", tol=1e-6, class_weight={1.0: 2.0}, random_state=3
    )
    model.fit(X, y)
    loaded = load(Path("m"))
    np.testing.assert_array_equal(loaded.coef_, model.coef_)
    np.testing.assert_array_equal(loaded.intercept_, model.intercept_)


def test_what_json_says(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("train", path, "--json", "--intercept", "none")
    assert run.code == 0
    data = run.data
    assert data["status"] == "solved"
    assert data["exit_code"] == 0
    assert data["classes"] == [1, 2, 3]
    assert (data["rows"], data["features"]) == (60, 4)
    assert data["model"] == "rows.svm.hinge"
    assert [problem["positive_class"] for problem in data["problems"]] == [1, 2, 3]
    assert all(problem["relative_gap"] <= 1e-4 for problem in data["problems"])
    assert 0 <= data["open_labels"] <= 60
    assert data["warnings"] == []


def test_a_limit_that_comes_first(shell: Shell) -> None:
    hard_rows(Path("hard.npz"), 500, 50)
    run = shell("train", "hard.npz", "--max-iter", "1", "--C", "1000", "--tol", "1e-9")
    assert run.code == 3
    assert "iteration_limit after" in run.out
    assert "hinge: warning: training stopped at --max-iter=1 with a relative duality" in run.err
    assert "loosen --tol" in run.err
    assert load(Path("hard.npz.hinge")).coef_.shape == (1, 50)


def test_a_time_limit(shell: Shell) -> None:
    hard_rows(Path("hard.npz"))
    words = ["--C", "10", "--loss", "hinge", "--tol", "1e-13", "--max-iter", "100000000"]
    run = shell("train", "hard.npz", *words, "--time-limit", "1e-6", "--json")
    assert run.code == 3
    assert run.data["status"] == "time_limit"


def test_notes_go_to_stderr_and_quiet_leaves_them_out(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    assert "hinge: note: rows.svm: " in shell("train", path).err
    assert shell("train", path, "--quiet").err == ""


def test_a_model_is_replaced_but_nothing_else(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    assert shell("train", path, "m").code == 0
    assert shell("train", path, "m", "--C", "2").code == 0
    Path("text").write_text("precious")
    run = shell("train", path, "text")
    assert run.code == 1
    assert run.err == (
        "hinge: error: text exists already, and it is not a model; pass --force to replace it.\n"
    )
    assert Path("text").read_text() == "precious"
    assert shell("train", path, "text", "--force").code == 0


def test_data_are_never_replaced(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    before = path.read_bytes()
    run = shell("train", path, path, "--force")
    assert run.code == 2
    assert "rows.svm is an input of this command and cannot be its output." in run.err
    assert path.read_bytes() == before


def test_where_the_model_cannot_be_written_nothing_is_trained(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"))
    run = shell("train", path, "nowhere/model")
    assert run.code == 1
    assert run.err == "hinge: error: nowhere: there is no such folder; make it first.\n"
    Path("here").mkdir()
    run = shell("train", path, "here")
    assert run.err == "hinge: error: here: this is a folder, and a file is needed.\n"


def test_a_model_does_not_go_to_a_terminal(shell: Shell) -> None:
    run = shell("train", classes_apart(Path("rows.svm")), "-")
    assert run.code == 2
    assert run.err == ("hinge: error: this cannot be written to standard output; name a file.\n")


def test_a_header_can_be_said(shell: Shell) -> None:
    Path("t.csv").write_text("1,2,3\n1,2,4\n2,1,3\n2,2,4\n")
    for option, rows in (("--header", 3), ("--no-header", 4)):
        assert shell("train", "t.csv", option, "--json", "--quiet").data["rows"] == rows


def test_a_memory_limit(shell: Shell) -> None:
    hard_rows(Path("hard.npz"), 500, 50)
    run = shell("train", "hard.npz", "--memory-limit", "1000")
    assert run.code == 1
    assert "if that is right, pass --memory-limit " in run.err


def test_names_of_columns_are_kept(shell: Shell) -> None:
    Path("t.csv").write_text("height,weight,label\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n")
    assert shell("train", "t.csv").code == 0
    model = load(Path("t.csv.hinge"))
    assert list(model.feature_names_in_) == ["height", "weight"]
    assert list(model.classes_) == ["a", "b"]


def test_a_label_column_by_name_and_by_number(shell: Shell) -> None:
    Path("t.csv").write_text("kind,height,weight\na,1,2\nb,2,1\na,1,3\nb,3,1\n")
    for column in ("kind", "0"):
        assert shell("train", "t.csv", "--label", column, "--quiet").code == 0
        assert list(load(Path("t.csv.hinge")).classes_) == ["a", "b"]


def test_the_base_of_indices_can_be_said(shell: Shell) -> None:
    path = write_rows(Path("rows.svm"), ["1 1:1", "2 2:1", "1 1:2", "2 2:2"])
    for base, width in (("auto", 2), ("1", 2), ("0", 3)):
        run = shell("train", path, "--index-base", base, "--json")
        assert run.data["features"] == width


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["rows.svm", "--C", "0"], 2, "0 is not a number above 0, nor inf"),
        (["rows.svm", "--C", "-1"], 2, "invalid value for '--C'"),
        (["rows.svm", "--C", "x"], 2, "invalid value for '--C'"),
        (["rows.svm", "--loss", "hing"], 2, "invalid value for '--loss'"),
        (["rows.svm", "--los", "hinge"], 2, "no such option: --los"),
        (["rows.svm", "--class-weight", "7=1"], 2, "there is no class '7' in the data"),
        (["rows.svm", "--time-limit", "0"], 2, "invalid value for '--time-limit'"),
        (["missing.svm"], 1, "missing.svm: there is no such file"),
        ([], 2, "missing argument 'DATA'"),
    ],
)
def test_what_cannot_be_done(shell: Shell, words: list[str], code: int, message: str) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", *words)
    assert run.code == code
    assert run.out == ""
    *_, last = run.err.splitlines()
    assert last.startswith("hinge: error: ")
    assert message in last
    assert not Path("rows.svm.hinge").exists()
