"""Fixtures of the command-line tests: a folder to work in, a shell, data and a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell, classes_apart


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the working one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def shell(folder: Path, capsys: pytest.CaptureFixture[str]) -> Shell:
    """Return what runs commands in the folder."""
    del folder
    return Shell(capsys)


@pytest.fixture
def trained(shell: Shell) -> Path:
    """Leave ``rows.svm`` and ``rows.svm.hinge`` in the folder, and return the model."""
    classes_apart(Path("rows.svm"))
    assert shell("train", "rows.svm").code == 0
    return Path("rows.svm.hinge")
