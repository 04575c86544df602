"""``hinge demo``: the main commands, one after the other."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell

import hinge.cli.train


def test_everything_is_shown(shell: Shell) -> None:
    run = shell("demo")
    assert run.code == 0
    for command in ("train", "predict", "evaluate", "verify"):
        assert f"$ hinge {command} " in run.out
    assert "status       solved after" in run.out
    assert "Confirmed: " in run.out
    assert "hinge: error: damaged.hinge: " in run.err
    assert list(Path().iterdir()) == []


def test_ctrl_c_ends_it_with_the_code_of_ctrl_c(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(hinge.cli.train, "fit", stopped)
    run = shell("demo")
    assert run.code == 130
    assert run.err.splitlines()[-1] == "hinge: error: stopped by Ctrl-C; no model was written."
    assert "$ hinge predict" not in run.out


def test_the_files_can_be_kept(shell: Shell) -> None:
    assert shell("demo", "here").code == 0
    names = {path.name for path in Path("here").iterdir()}
    assert names == {
        "digits.svm",
        "digits-test.svm",
        "digits.svm.hinge",
        "labels.txt",
        "damaged.hinge",
    }
    run = shell("demo", "here")
    assert run.code == 1
    assert run.err == "hinge: error: here is not empty; name a new folder for the demo.\n"
