"""Where a command writes: results to stdout, everything else to stderr.

Colours and progress only appear on a terminal; rich sees to that, and to NO_COLOR.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hinge.cli._labels import plain


@dataclass(frozen=True)
class Output:
    """The two streams of a command.

    Parameters
    ----------
    as_json : bool, default=False
        Whether the result is one JSON object instead of text.
    quiet : bool, default=False
        Whether notes and progress are left out; warnings and errors are not.
    """

    as_json: bool = False
    quiet: bool = False
    stderr: Console = field(default_factory=lambda: _console(stderr=True))

    @property
    def shows_progress(self) -> bool:
        """Whether a live display may be drawn on stderr."""
        return self.stderr.is_terminal and not self.quiet

    def result(self, text: str, data: dict[str, Any]) -> None:
        """Write what the command was asked for to stdout.

        Parameters
        ----------
        text : str
            For a reader; nothing is written if it is empty.
        data : dict
            For a program, with ``--json``.
        """
        if self.as_json:
            write_json(data)
        elif text:
            _console().print(Text(text))

    def table(self, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> None:
        """Write a table to stdout: its first column is text, the others are numbers.

        Parameters
        ----------
        columns : sequence of str
            The head.
        lines : iterable of sequence of str
            The cells.
        """
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, show_edge=False)
        for number, column in enumerate(columns):
            table.add_column(Text(plain(column)), justify="right" if number else "left")
        for line in lines:
            table.add_row(*(Text(plain(cell)) for cell in line))
        console = _console()
        if not console.is_terminal:
            # A file has no width; whoever reads it later decides where lines end.
            console = _console(width=max(80, console.measure(table).maximum))
        console.print(table)

    def note(self, text: str) -> None:
        """Tell the user, on stderr, what was decided or done.

        Parameters
        ----------
        text : str
            A sentence.
        """
        if not self.quiet:
            self._line("note", "cyan", text)

    def warning(self, text: str) -> None:
        """Tell the user, on stderr, what they must know even with ``--quiet``.

        Parameters
        ----------
        text : str
            A sentence.
        """
        self._line("warning", "yellow", text)

    def error(self, text: str) -> None:
        """Tell the user, on stderr, why the command failed.

        Parameters
        ----------
        text : str
            A sentence.
        """
        self._line("error", "bold red", text)

    def _line(self, kind: str, style: str, text: str) -> None:
        lines = "\n".join(plain(line) for line in text.splitlines())
        self.stderr.print(Text.assemble("hinge: ", (f"{kind}: ", style), lines))


def write_json(data: dict[str, Any]) -> None:
    """Write one JSON object to stdout; numbers that JSON does not have become null.

    Parameters
    ----------
    data : dict
        Plain data.
    """
    text = json.dumps(_finite(data), allow_nan=False, ensure_ascii=False, indent=2)
    write_text(text + "\n")


def write_text(text: str) -> None:
    """Write text to stdout as it is.

    Parameters
    ----------
    text : str
        Whole lines.
    """
    sys.stdout.write(text)


def _finite(data: Any) -> Any:
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, dict):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(value) for value in data]
    return data


def _console(stderr: bool = False, width: int | None = None) -> Console:
    console = Console(stderr=stderr, width=width, highlight=False, emoji=False)
    console.soft_wrap = not console.is_terminal  # a file has lines as long as they are
    return console
