"""Options that several commands share."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hinge.cli._console import Output

READING = "Reading the data"
WRITING = "What is shown"


def above_zero(value: float | None) -> float | None:
    """Return the value of an option, which must be a finite number above 0 if it is given.

    Parameters
    ----------
    value : float or None
        What the user wrote.
    """
    if value is not None and not 0.0 < value < math.inf:
        message = f"{value:g} is not a finite number above 0."
        raise typer.BadParameter(message)
    return value


def above_zero_or_infinite(value: float) -> float:
    """Return the value of an option, which must be a number above 0 or infinity.

    Parameters
    ----------
    value : float
        What the user wrote.
    """
    if not value > 0.0:
        message = f"{value:g} is not a number above 0, nor inf."
        raise typer.BadParameter(message)
    return value


def not_negative(value: float) -> float:
    """Return the value of an option, which must be a finite number that is at least 0.

    Parameters
    ----------
    value : float
        What the user wrote.
    """
    if not 0.0 <= value < math.inf:
        message = f"{value:g} is not a finite number of at least 0."
        raise typer.BadParameter(message)
    return value


def not_negative_if_given(value: float | None) -> float | None:
    """Return the value of an option that may be left out, and is else as above.

    Parameters
    ----------
    value : float or None
        What the user wrote.
    """
    return None if value is None else not_negative(value)


def some_threads(value: int) -> int:
    """Return a number of threads, as scikit-learn counts them: any but 0.

    Parameters
    ----------
    value : int
        What the user wrote.
    """
    if value == 0:
        message = "0 is not a number of threads; 1 is one, -1 is every core."
        raise typer.BadParameter(message)
    return value


class IndexBase(enum.StrEnum):
    """What the first feature of a LIBSVM text file is called."""

    AUTO = "auto"
    ZERO = "0"
    ONE = "1"


class DataFormat(enum.StrEnum):
    """Formats of data files, where the name of the file does not tell."""

    LIBSVM = "libsvm"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    NPZ = "npz"
    SHARDS = "shards"


DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="File of rows: LIBSVM text (also .gz .bz2 .xz .zst), CSV, Parquet, Arrow, npz, "
        "or shards.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="Model file.", show_default=False),
]
Force = Annotated[
    bool,
    typer.Option("--force", "-f", help="Replace an existing output file of any kind."),
]
Threads = Annotated[
    int,
    typer.Option(
        help="Threads; -1 is every core. The result has the same bits for any number.",
        callback=some_threads,
    ),
]


@dataclass(frozen=True, kw_only=True)
class ShownOptions:
    """How a command speaks."""

    json: Annotated[
        bool,
        typer.Option("--json", help="Write one JSON object to stdout.", rich_help_panel=WRITING),
    ] = False
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet", "-q", help="No notes and no progress on stderr.", rich_help_panel=WRITING
        ),
    ] = False

    def output(self) -> Output:
        """Return the streams that these options ask for."""
        return Output(as_json=self.json, quiet=self.quiet)


@dataclass(frozen=True, kw_only=True)
class ReadingOptions(ShownOptions):
    """How a data file is to be read."""

    format: Annotated[
        DataFormat | None,
        typer.Option(
            help="Format of the data file, where neither its name nor its first bytes tell.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None
    label: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of the labels in a table: its name, or its number counted from 0.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None
    index_base: Annotated[
        IndexBase,
        typer.Option(
            help="Number of the first feature in LIBSVM text; auto takes 0 if a 0 occurs.",
            rich_help_panel=READING,
        ),
    ] = IndexBase.AUTO
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of CSV text names the columns; looked at, if not given.",
            show_default=False,
            rich_help_panel=READING,
        ),
    ] = None
    memory_limit: Annotated[
        int | None,
        typer.Option(
            metavar="BYTES",
            help="How much memory the rows may take; if not given, what the file's size allows.",
            show_default=False,
            callback=above_zero,
            rich_help_panel=READING,
        ),
    ] = None
