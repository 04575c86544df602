"""Ctrl-C and SIGTERM around a fit: what they do, and what the user is told of the model."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hinge.cli._errors import Stopped
from hinge.cli._labels import plain


@contextmanager
def ended_by_termination() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: whoever ends a job wants its best model.

    Shells let jobs in the background ignore SIGINT, and then nobody would hear what SIGTERM is
    turned into; so it is listened to until the fit has ended.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    is_ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    if is_ignored:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if is_ignored:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, before)


@contextmanager
def told_when_stopped(path: Path) -> Iterator[None]:
    """Say, when Ctrl-C ends the block, whether the model had been written by then.

    Parameters
    ----------
    path : Path
        The model file that the block writes.
    """
    before = _identity(path)
    try:
        yield
    except KeyboardInterrupt:
        # The file itself is asked: Ctrl-C may come right after it has taken its place.
        message = "stopped by Ctrl-C; no model was written."
        if _identity(path) != before:
            message = f"stopped by Ctrl-C; the model was saved as {plain(str(path))}."
        raise Stopped(message) from None


def _identity(path: Path) -> tuple[int, ...] | None:
    """Return what tells a file from one that has taken its place; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size
