"""``hinge demo``: the main commands, run before the user's eyes on data that come along."""

from __future__ import annotations

import contextlib
import shlex
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from hinge.cli._console import write_text
from hinge.cli._errors import CommandError, Exit
from hinge.cli._labels import plain
from hinge.data import write_libsvm

TRAINING, TEST, MODEL = "digits.svm", "digits-test.svm", "digits.svm.hinge"
DAMAGED = "damaged.hinge"


@dataclass(frozen=True, kw_only=True)
class DemoSettings:
    """What ``hinge demo`` is asked to do."""

    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER",
            help="Where the files go and stay; a passing folder, if not given.",
            show_default=False,
        ),
    ] = None


def demo(settings: DemoSettings) -> int:
    """Train, predict, evaluate and verify on handwritten digits, in a few seconds."""
    with _folder(settings.folder) as folder, contextlib.chdir(folder):
        _write_digits()
        _say("Images of handwritten digits, as LIBSVM text. Train on three quarters of them:")
        _run(Exit.SOLVED, "train", TRAINING, MODEL, "--loss", "hinge")
        _say("Label the rest, and see how good the labels are:")
        _run(Exit.SOLVED, "predict", MODEL, TEST, "--output", "labels.txt")
        _run(Exit.SOLVED, "evaluate", MODEL, TEST)
        _say("Does the model file tell the truth? Compute its certificate again from the data:")
        _run(Exit.SOLVED, "verify", MODEL, TRAINING)
        _say("One bit of the file is changed now. It is not loaded any more:")
        _damage()
        _run(Exit.FAILED, "predict", DAMAGED, TEST)
        if settings.folder is not None:
            _say(f"The files are in {plain(str(settings.folder))}.")
    return Exit.SOLVED


@contextlib.contextmanager
def _folder(wanted: Path | None) -> Iterator[Path]:
    if wanted is None:
        with tempfile.TemporaryDirectory(prefix="hinge-demo-") as name:
            yield Path(name)
        return
    wanted.mkdir(parents=True, exist_ok=True)
    if any(wanted.iterdir()):
        message = f"{plain(str(wanted))} is not empty; name a new folder for the demo."
        raise CommandError(message)
    yield wanted


def _write_digits() -> None:
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X / 16.0, y, random_state=0)
    write_libsvm(TRAINING, X_train, y_train)
    write_libsvm(TEST, X_test, y_test)


def _damage() -> None:
    content = bytearray(Path(MODEL).read_bytes())
    content[-100] ^= 1
    Path(DAMAGED).write_bytes(bytes(content))


def _say(text: str) -> None:
    write_text(f"\n{text}\n")


def _run(expected: Exit, *words: str) -> None:
    """Show a command and run it."""
    from hinge.cli._run import run  # noqa: PLC0415 - it imports the app, which has this command

    write_text(f"\n$ hinge {shlex.join(words)}\n")
    sys.stdout.flush()
    code = run(list(words))
    sys.stderr.flush()
    if code == Exit.INTERRUPTED:
        raise SystemExit(code)  # the command has said what became of it
    if code != expected:
        message = f"the demo's command hinge {words[0]} ended with exit code {code}."
        raise CommandError(message)
