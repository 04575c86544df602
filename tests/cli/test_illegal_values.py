"""Every option has values that it cannot take: a usage error that names it, before any work."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell

TRAIN = [
    ("--C", "0"),
    ("--C", "nan"),
    ("-c", "-1"),
    ("--loss", "square"),
    ("--intercept", "some"),
    ("--intercept-scale", "0"),
    ("--class-weight", "1"),
    ("--tol", "-1"),
    ("-e", "inf"),
    ("--max-iter", "-1"),
    ("--time-limit", "0"),
    ("--time-limit", "nan"),
    ("--checkpoint-every", "-1"),
    ("--seed", "-1"),
    ("--threads", "0"),
    ("--memory-limit", "0"),
    ("--index-base", "2"),
    ("--format", "tsv"),
    ("--label", "3"),
]
TRAIN_ALONE = ("--C", "-c", "--checkpoint-every")
OTHERS = [
    (["predict", "rows.svm.hinge", "rows.svm"], "--threads", "0"),
    (["evaluate", "rows.svm.hinge", "rows.svm"], "--threads", "0"),
    (["verify", "rows.svm.hinge", "rows.svm"], "--threads", "0"),
    (["convert", "rows.svm", "rows.hingedata"], "--dtype", "float16"),
    (["convert", "rows.svm", "rows.hingedata"], "--to", "csv"),
    (["import-model", "their.model"], "--C", "0"),
    (["import-model", "their.model"], "--intercept", "none"),
    (["export", "rows.svm.hinge", "m"], "--to", "pickle"),
    *((["path", "rows.svm"], *pair) for pair in TRAIN if pair[0] not in TRAIN_ALONE),
]


@pytest.mark.parametrize(("option", "value"), TRAIN)
def test_train(shell: Shell, trained: Path, option: str, value: str) -> None:
    del trained
    run = shell("train", "rows.svm", "m", option, value)
    _check_refused(run.code, run.err, option, value)
    assert not Path("m").exists()


@pytest.mark.parametrize(("words", "option", "value"), OTHERS)
def test_others(shell: Shell, trained: Path, words: list[str], option: str, value: str) -> None:
    assert shell("export", trained, "their.model").code == 0
    run = shell(*words, option, value)
    _check_refused(run.code, run.err, option, value)


def _check_refused(code: int, message: str, option: str, value: str) -> None:
    assert code == 2
    *_, last = message.splitlines()
    assert last.startswith("hinge: error: ")
    assert option in last
    assert value in last
    assert "inside hinge" not in last


def test_the_number_of_threads(shell: Shell) -> None:
    run = shell("train", "rows.svm", "--threads", "0")
    assert run.err == (
        "hinge: error: invalid value for '--threads': 0 is not a number of threads; 1 is one, -1 "
        "is every core. Try 'hinge train --help'.\n"
    )
