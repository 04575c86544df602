"""``hinge convert``: a data file in, shards or LIBSVM text out."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hinge.cli._data import Reader
from hinge.cli._errors import CommandError, Exit, UsageError
from hinge.cli._fit import aligned
from hinge.cli._labels import plain
from hinge.cli._models import check_output
from hinge.cli._options import DataFile, Force, ReadingOptions
from hinge.cli._progress import waiting
from hinge.data import Dataset, write_libsvm, write_shards


class TargetFormat(enum.StrEnum):
    """Formats that data files are converted to."""

    SHARDS = "shards"
    LIBSVM = "libsvm"


class ValueType(enum.StrEnum):
    """Types of stored values."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


_ENDINGS = {
    ".hingedata": TargetFormat.SHARDS,
    ".libsvm": TargetFormat.LIBSVM,
    ".svm": TargetFormat.LIBSVM,
    ".svmlight": TargetFormat.LIBSVM,
}


@dataclass(frozen=True, kw_only=True)
class ConvertSettings(ReadingOptions):
    """What ``hinge convert`` is asked to do."""

    data: DataFile
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="File to write: .hingedata for shards, .libsvm or .svm for LIBSVM text.",
        ),
    ]
    to: Annotated[
        TargetFormat | None,
        typer.Option(help="Format of TARGET, where its name does not tell.", show_default=False),
    ] = None
    dtype: Annotated[
        ValueType | None,
        typer.Option(
            help="Type of the values; that of the file, if not given.", show_default=False
        ),
    ] = None
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="The table has no column of labels.")
    ] = False
    force: Force = False


def convert(settings: ConvertSettings) -> int:
    """Turn DATA into shards, which are trained from without being loaded, or into LIBSVM text.

    Shards are written in one pass and bounded memory.
    """
    output = settings.output()
    form = settings.to or _ENDINGS.get(settings.target.suffix.lower())
    if form is None:
        message = (
            f"the name {plain(str(settings.target))} does not tell the format; "
            "pass --to shards or --to libsvm."
        )
        raise UsageError(message)
    check_output(settings.target, settings.force, [settings.data])
    reader = Reader(settings, output, -1)
    with waiting(output, f"converting {plain(str(settings.data))}"):
        if form is TargetFormat.SHARDS:
            seen = _Counted(reader.blocks(settings.data, not settings.unlabelled))
            write_shards(settings.target, seen, dtype=_dtype(settings))
        else:
            seen = _Counted([reader.read(settings.data, not settings.unlabelled, required=False)])
            for data in seen:
                _write_text(settings, data)
    size = settings.target.stat().st_size
    lines = [
        ("rows", str(seen.rows)),
        ("features", str(seen.features)),
        (str(form), f"{settings.target} ({size:,} bytes)"),
    ]
    found = {"target": str(settings.target), "format": str(form), "bytes": size}
    output.result(aligned(lines), {**found, "rows": seen.rows, "features": seen.features})
    return Exit.SOLVED


class _Counted:
    """Blocks that are counted as they pass.

    Parameters
    ----------
    blocks : iterable of Dataset
        The blocks.
    """

    def __init__(self, blocks: Iterable[Dataset]) -> None:
        self._blocks = blocks
        self.rows = 0
        self.features = 0

    def __iter__(self) -> Iterator[Dataset]:
        for block in self._blocks:
            self.rows += block.X.shape[0]
            self.features = max(self.features, block.X.shape[1])
            yield block


def _dtype(settings: ConvertSettings) -> Any:
    return None if settings.dtype is None else np.dtype(str(settings.dtype))


def _write_text(settings: ConvertSettings, data: Dataset) -> None:
    if data.y is None or np.asarray(data.y[:0]).dtype.kind not in "fiub":
        message = (
            f"{plain(str(settings.data))}: LIBSVM text needs labels that are numbers; "
            "shards take any."
        )
        raise CommandError(message)
    X = data.X if settings.dtype is None else data.X.astype(_dtype(settings))
    write_libsvm(settings.target, X, data.y, query_ids=data.query_ids)
