"""Where labels go: stdout, a device, or a file that appears whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hinge.cli._console import write_text
from hinge.cli._models import check_output
from hinge.durable import atomic_write

STDOUT = Path("-")


def check_text_output(path: Path, inputs: list[Path]) -> None:
    """Refuse, before any work is done, to write where it would fail or destroy an input.

    Parameters
    ----------
    path : Path
        Where the text is to go; what is there may be replaced.
    inputs : list of Path
        Files that the command reads.
    """
    if path != STDOUT and not _is_device(path):
        check_output(path, True, inputs)


@contextmanager
def text_output(path: Path) -> Iterator[Callable[[str], object]]:
    """Give a function that writes text.

    Parameters
    ----------
    path : Path
        A file, a device such as the null device, or ``-`` for stdout.

    Yields
    ------
    callable
        Takes a piece of text.
    """
    if path == STDOUT:
        yield write_text
    elif _is_device(path):
        with path.open("w") as stream:
            yield stream.write
    else:
        with atomic_write(path) as file:
            yield lambda text: file.write(text.encode())


def _is_device(path: Path) -> bool:
    """Return whether there is something at the path that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()
