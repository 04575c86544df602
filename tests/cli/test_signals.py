"""Signals during a fit: one saves the best model, two stop, whoever sends them."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Shell, hard_rows

import hinge.cli._fit
from hinge.models import load

# By a method that has a point to save from its first step on.
ENDLESS = ["--C", "10", "--loss", "hinge", "--tol", "1e-15", "--max-iter", "1000000000"]
ENDLESS += ["--solver", "dual-coordinate"]


def _sending(monkeypatch: pytest.MonkeyPatch, *signals: signal.Signals) -> None:
    """Let signals come after the tenth step of a fit."""
    steps: list[Any] = []

    def callback(event: Any) -> None:
        steps.append(event)
        if len(steps) == 10:
            for sent in signals:
                signal.raise_signal(sent)

    @contextlib.contextmanager
    def display(*_: Any) -> Iterator[Any]:
        yield callback

    monkeypatch.setattr(hinge.cli._fit, "fit_display", display)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_saves_the_best_model(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals
) -> None:
    hard_rows(Path("hard.npz"), 500, 50)
    _sending(monkeypatch, sent)
    before = signal.getsignal(signal.SIGTERM)
    run = shell("train", "hard.npz", "m", *ENDLESS, "--threads", "1")
    assert run.code == 130
    assert "the best model found until then was saved as m." in run.err
    assert "status     interrupted after" in run.out
    assert load(Path("m")).coef_.any()
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("command", ["train", "svm-train"])
def test_two_signals_stop_at_once(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    hard_rows(Path("hard.npz"), 500, 50)
    assert shell("convert", "hard.npz", "hard.svm").code == 0
    _sending(monkeypatch, signal.SIGINT, signal.SIGINT)
    words = ["-t", "0", "-c", "10", "-e", "1e-15", "hard.svm", "m"]
    run = shell(command, *(words if command == "svm-train" else ["hard.svm", "m", *ENDLESS]))
    assert run.code == 130
    assert run.err.splitlines()[-1] == "hinge: error: stopped by Ctrl-C; no model was written."
    assert not Path("m").exists()


def test_the_json_of_an_interrupted_fit(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    hard_rows(Path("hard.npz"), 500, 50)
    _sending(monkeypatch, signal.SIGINT)
    run = shell("train", "hard.npz", "m", *ENDLESS, "--json")
    assert run.data["status"] == "interrupted"
    assert run.data["exit_code"] == run.code == 130
    assert run.data["open_labels"] is None


@pytest.mark.parametrize("name", ["hinge-svm-train", "hinge-svm-predict", "hinge-liblinear-train"])
def test_programs_of_their_own_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    (program,) = entry_points(group="console_scripts", name=name)
    monkeypatch.setattr(sys, "argv", [name, "-q", "-x"])
    with pytest.raises(SystemExit) as caught:
        program.load()()
    assert caught.value.code == 2
    assert capsys.readouterr().err.startswith("hinge: error: there is no option '-x'; the options")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_full_disk_behind_stdout(
    shell: Shell, trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What could not be written fails once more when the stream is closed.
    with (
        monkeypatch.context() as patch,
        contextlib.suppress(OSError),
        Path("/dev/full").open("w") as full,
    ):
        patch.setattr(sys, "stdout", full)
        run = shell("predict", trained, "rows.svm", "--quiet")
    assert run.code == 1
    assert run.err == "hinge: error: No space left on device.\n"
