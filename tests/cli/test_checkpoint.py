"""``--checkpoint`` and ``--resume``: a fit in two parts ends where the whole one does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Run, Shell, classes_apart, hard_rows

import hinge.models.checkpoint
from hinge.models import load

WORDS = ["--C", "10", "--loss", "hinge", "--tol", "1e-6"]


def _train(shell: Shell, model: str, *words: object) -> Run:
    return shell("train", "hard.npz", model, *WORDS, *words)


@pytest.fixture
def rows(folder: Path) -> Path:
    """Leave rows that take more than a few passes."""
    del folder
    return hard_rows(Path("hard.npz"), 300, 30)


def test_a_fit_in_two_parts_has_the_same_bits(shell: Shell, rows: Path) -> None:
    del rows
    assert _train(shell, "whole").code == 0
    first = _train(shell, "part", "--max-iter", "3", "--checkpoint", "state")
    assert first.code == 3
    assert Path("state").exists()
    assert "to go on, run the command again with --checkpoint state --resume." in first.err
    second = _train(shell, "part", "--checkpoint", "state", "--resume")
    assert second.code == 0
    assert "training went on from the checkpoint state." in second.err
    assert not Path("state").exists()
    np.testing.assert_array_equal(load(Path("part")).coef_, load(Path("whole")).coef_)


def test_several_classes(shell: Shell) -> None:
    path = classes_apart(Path("rows.svm"), n_rows=200, n_classes=4)
    words = ["--tol", "1e-6", "--loss", "hinge"]
    assert shell("train", path, "whole", *words).code == 0
    words += ["--checkpoint", "state", "--resume"]
    first = shell("train", path, "part", *words, "--max-iter", "2")
    assert first.code == 3
    assert "there is no checkpoint state yet; training begins anew." in first.err
    assert shell("train", path, "part", *words).code == 0
    np.testing.assert_array_equal(load(Path("part")).coef_, load(Path("whole")).coef_)


def test_checkpoints_come_as_often_as_asked(
    shell: Shell, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del rows
    written = []
    write = hinge.models.checkpoint.write_checkpoint

    def counted(*arguments: object) -> None:
        written.append(arguments)
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(hinge.models.checkpoint, "write_checkpoint", counted)
    assert _train(shell, "m", "--checkpoint", "state", "--checkpoint-every", "0").code == 0
    assert len(written) > 2


def test_other_options_are_another_problem(shell: Shell, rows: Path) -> None:
    del rows
    _train(shell, "m", "--max-iter", "3", "--checkpoint", "state")
    before = Path("state").read_bytes()
    run = _train(shell, "m", "--checkpoint", "state", "--resume", "--class-weight", "1=2")
    assert run.code == 1
    assert "state: the checkpoint belongs to another problem" in run.err
    assert Path("state").read_bytes() == before


def test_a_checkpoint_is_not_lost_by_accident(shell: Shell, rows: Path) -> None:
    del rows
    _train(shell, "m", "--max-iter", "3", "--checkpoint", "state")
    run = _train(shell, "m", "--checkpoint", "state")
    assert run.code == 1
    assert run.err == (
        "hinge: error: the checkpoint state exists already; pass --resume to go on from it, or "
        "--force to start anew.\n"
    )
    assert _train(shell, "m", "--checkpoint", "state", "--force").code == 0


@pytest.mark.parametrize("name", ["hard.npz", "m"])
def test_a_checkpoint_is_a_file_of_its_own(shell: Shell, rows: Path, name: str) -> None:
    before = rows.read_bytes()
    run = _train(shell, "m", "--checkpoint", name, "--resume")
    assert run.code == 1
    assert run.err == (
        f"hinge: error: the checkpoint cannot be {name}, which this command reads or writes "
        "already; name another file.\n"
    )
    assert rows.read_bytes() == before


@pytest.mark.parametrize("spelling", ["absolute", "dotted", "symlink", "hard link", "folder link"])
def test_a_model_is_not_removed_as_its_own_checkpoint(
    shell: Shell, rows: Path, spelling: str
) -> None:
    del rows
    assert _train(shell, "m", "--quiet").code == 0
    before = Path("m").read_bytes()
    checkpoint = Path("other")
    if spelling == "absolute":
        checkpoint = Path("m").absolute()
    elif spelling == "dotted":
        checkpoint = Path("..", Path.cwd().name, "m")
    elif spelling == "symlink":
        checkpoint.symlink_to("m")
    elif spelling == "hard link":
        checkpoint.hardlink_to("m")
    else:
        Path("folder").symlink_to(".")
        checkpoint = Path("folder", "m")
    run = _train(shell, "m", "--checkpoint", checkpoint, "--force")
    assert run.code == 1
    assert "which this command reads or writes already; name another file." in run.err
    assert Path("m").read_bytes() == before


def test_a_new_model_is_not_removed_as_its_own_checkpoint(shell: Shell, rows: Path) -> None:
    del rows
    run = _train(shell, "m", "--checkpoint", Path("m").absolute())
    assert run.code == 1
    assert not Path("m").exists()


def test_what_has_stalled_is_not_gone_on_with(shell: Shell, rows: Path) -> None:
    del rows
    run = _train(shell, "m", "--tol", "0", "--max-iter", "1000000", "--checkpoint", "state")
    assert run.code == 3
    assert "status       stalled" in run.out
    assert "to go on" not in run.err
    assert not Path("state").exists()


def test_resume_needs_a_checkpoint(shell: Shell, rows: Path) -> None:
    del rows
    run = _train(shell, "m", "--resume")
    assert run.code == 2
    assert run.err == (
        "hinge: error: --resume goes on from a checkpoint; name it with --checkpoint FILE.\n"
    )


def test_damaged_bytes_are_no_checkpoint(shell: Shell, rows: Path) -> None:
    del rows
    Path("state").write_bytes(b"\x10\0\0\0\0\0\0\0not a checkpoint")
    run = _train(shell, "m", "--checkpoint", "state", "--resume")
    assert run.code == 1
    assert "state: " in run.err
    assert not Path("m").exists()


def test_a_full_disk_does_not_end_training(
    shell: Shell, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del rows

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "state")

    monkeypatch.setattr(hinge.models.checkpoint, "write_checkpoint", full)
    run = _train(shell, "m", "--checkpoint", "state")
    assert run.code == 0
    assert (
        "hinge: warning: the checkpoint could not be written: state: No space left on device."
    ) in run.err
    assert Path("m").exists()
