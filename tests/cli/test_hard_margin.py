"""The command line with C infinite."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.running import Shell, classes_apart, write_rows


@pytest.mark.parametrize("word", ["inf", "Infinity"])
def test_trains_saves_and_verifies(shell: Shell, tmp_path: Path, word: str) -> None:
    data = write_rows(tmp_path / "rows.svm", ["1 1:1 2:2", "2 1:4 2:6", "2 1:5 2:9", "1 1:0 2:1"])
    model = tmp_path / "m.hinge"
    done = shell("train", data, model, "-C", word, "--intercept", "free")
    assert done.code == 0, done.err
    assert shell("verify", model, data).code == 0
    assert "inf" in shell("inspect", model).out
    for shown in (done.out, shell("inspect", model).out):
        (line,) = [line for line in shown.splitlines() if line.startswith("margin")]
        assert "the distance of the nearest row from the hyperplane; no hyperplane has more" in line


def test_says_why_not(shell: Shell, tmp_path: Path) -> None:
    data = write_rows(tmp_path / "rows.svm", ["1 1:1 2:2", "2 1:1 2:2", "1 1:0", "2 1:3"])
    done = shell("train", data, tmp_path / "m.hinge", "--C", "inf")
    assert done.code == 1
    assert "there is none. Proof: not separable" in done.err
    assert not (tmp_path / "m.hinge").exists()


def test_three_classes_and_a_checkpoint(shell: Shell, tmp_path: Path) -> None:
    data = classes_apart(tmp_path / "rows.svm", n_rows=12, n_classes=3)
    words = ("train", data, tmp_path / "m.hinge", "--C", "inf", "--checkpoint", tmp_path / "c")
    done = shell(*words, "--resume", "--checkpoint-every", "0")
    assert done.code == 0, done.err
