"""Messages of the library name parameters; on the command line they name options."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, write_rows

import hinge
from hinge.cli._errors import sentence
from hinge.cli._words import in_options
from hinge.errors import InvalidParameterError


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("pass a larger memory_limit, or", "pass a larger --memory-limit, or"),
        (
            "is not one number; pass multilabel=True if rows have several labels, and write",
            "is not one number; split rows with several labels into files, and write",
        ),
        (
            "their checksums were not compared, as open_shards(verify=True) does.",
            "their checksums were not compared.",
        ),
        ("choose one with label=.", "choose one with --label."),
        ("pass label=False for a file", "pass --unlabelled for a file"),
        ("pass zero_based=True if", "pass --index-base 0 if"),
        ("Pass header=True or header=False.", "Pass --header or --no-header."),
        ("pass memory_limit=1234, or", "pass --memory-limit 1234, or"),
        ("name it with format= (csv)", "name it with --format (csv)"),
        ("format='csv' was asked for", "--format csv was asked for"),
        ("read with dtype=float64.", "read with --dtype float64."),
        ("raise max_iter, or loosen tol.", "raise --max-iter, or loosen --tol."),
        ("stopped at max_iter=3", "stopped at --max-iter=3"),
        ("raise time_limit", "raise --time-limit"),
        ("save the model with proof=True to", "train without --no-proof to"),
        ("the label 'total' is not", "the label 'total' is not"),
        ("label=3 names no column", "--label 3 names no column"),
        ("label='tol' names no column", "--label 'tol' names no column"),
        ("the columns 'tol', 'label=' and \"tol\"", "the columns 'tol', 'label=' and \"tol\""),
        ("the file's tol and the rows' tol", "the file's --tol and the rows' --tol"),
    ],
)
def test_parameters_become_options(said: str, shown: str) -> None:
    assert in_options(said) == shown


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        ({"random_state": -1}, "--seed must be None, a whole number at least 0"),
        ({"intercept_scaling": 0}, "--intercept-scale must be greater than 0"),
        ({"n_jobs": 0}, "--threads must be "),
        ({"class_weight": 3}, "--class-weight must be None, 'balanced' or a dictionary"),
        ({"max_iter": -1}, "--max-iter must be an integer of at least 0"),
        ({"time_limit": -1}, "--time-limit must "),
        ({"tol": -1}, "--tol must not be negative"),
    ],
)
def test_what_an_estimator_refuses(parameters: dict[str, Any], shown: str) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        hinge.LinearSVC(**parameters).fit([[0.0], [1.0]], [0, 1])
    assert sentence(caught.value).startswith(shown)


def test_what_an_imported_model_says(shell: Shell, trained: Path) -> None:
    assert shell("export", trained, "their.model").code == 0
    (note,) = hinge.models.read_liblinear("their.model").certificate_.notes
    assert "; hinge verify on the training data recomputes the objective" in in_options(note)


@pytest.fixture
def odd_folder(folder: Path) -> str:
    """Make a folder whose name has the names of parameters in it, and two blanks."""
    name = "tol/max_iter  label="
    (folder / name).mkdir(parents=True)
    return name


def test_paths_are_left_alone(shell: Shell, odd_folder: str) -> None:
    rows = write_rows(Path(odd_folder, "n_jobs.svm"), ["1 1:x"])
    run = shell("train", rows, "m")
    assert run.err.startswith(f"hinge: error: {rows}, line 1, column 5: the value 'x' is not")
    model = Path(odd_folder, "random_state  .hinge")
    run = shell("predict", model, rows)
    assert run.err.startswith(f"hinge: error: {model}: there is no such file")
    run = shell("predict", rows, rows)
    assert run.err.startswith(f"hinge: error: {rows}: this is not a model file")
    classes_apart(rows)
    assert shell("train", rows, model, "--quiet").code == 0
    content = bytearray(model.read_bytes())
    content[-1] ^= 1
    model.write_bytes(bytes(content))
    assert shell("predict", model, rows).err.startswith(f"hinge: error: {model}: ")
    run = shell("train", rows, "m", "--label", "tol")
    assert run.code == 2
    assert "--label 'tol' cannot be chosen" in run.err


def test_names_of_classes_are_left_alone(shell: Shell, folder: Path) -> None:
    del folder
    random = np.random.default_rng(0)
    np.savez("rows.npz", X=random.normal(size=(90, 20)), y=["tol", "n_jobs", "max_iter"] * 30)
    run = shell("train", "rows.npz", "m", "--C", "100", "--max-iter", "1")
    assert run.code == 3
    assert re.search("classes, class (tol|n_jobs|max_iter) being the worst,", run.err)
    assert "(--tol=0.0001)" in run.err


def test_names_of_columns_are_left_alone(shell: Shell, odd_folder: str) -> None:
    table = Path(odd_folder, "t.csv")
    table.write_text("tol,n_jobs,label=\n1,2,a\n2,1,b\n")
    run = shell("train", table, "m", "--label", "max_iter")
    assert run.code == 2
    assert run.err == (
        f"hinge: error: --label 'max_iter' names no column of {table}; its columns are 'tol', "
        "'n_jobs', 'label='.\n"
    )
    run = shell("train", table, "m", "--label", "7")
    assert run.err.startswith(f"hinge: error: --label 7 names no column of {table}, which has 3")
