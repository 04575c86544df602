"""Arrow IPC: files (Feather version 2 is the same) and streams, validated after decoding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from hinge.data.columns import choose_columns
from hinge.data.dataset import Dataset
from hinge.data.options import ReadOptions, check_claim
from hinge.data.source import Source
from hinge.data.tables import Place, datasets, import_pyarrow, settle_types
from hinge.errors import DataFileError

FILE_MAGIC = b"ARROW1"


def arrow_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    """Yield the rows of an Arrow IPC file or stream in blocks.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.
    block_bytes : int
        About how much memory a block may take; a stored batch is cut, never joined.

    Yields
    ------
    Dataset
        Consecutive rows.
    """
    pa = import_pyarrow("Arrow files")
    try:
        yield from _blocks(pa, source, options, block_bytes)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DataFileError):
            raise
        said = str(error).split("\n", 1)[0][:200]
        reason = f"this is not a sound Arrow file ({said}); write or download it again."
        raise DataFileError(reason, source.path) from error


def _blocks(pa: Any, source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    with ExitStack() as stack:
        contents = stack.enter_context(pa.memory_map(source.path, "r"))
        is_file = source.head.startswith(FILE_MAGIC)
        reader = stack.enter_context(
            pa.ipc.open_file(contents) if is_file else pa.ipc.open_stream(contents)
        )
        schema = reader.schema
        columns = choose_columns(schema.names, True, options, source.path)
        columns = settle_types(columns, list(schema.types), options, source.path)
        places = [*columns.features, *([] if columns.label is None else [columns.label])]
        row_bytes = columns.dtype.itemsize * len(columns.features)
        most_rows = max(1, block_bytes // row_bytes)
        stored = (
            (reader.get_batch(number) for number in range(reader.num_record_batches))
            if is_file
            else iter(reader)
        )
        found = 0
        place = Place(source.path, 0, lambda row: row + 1)
        for block in datasets(_cut(stored, places, most_rows), columns, place):
            found += block.X.shape[0]
            check_claim(
                found * row_bytes,
                "Its rows",
                source.path,
                source.size,
                options.memory_limit,
            )
            yield block
        if found == 0:
            reason = "there are columns and no rows."
            raise DataFileError(reason, source.path)


def _cut(stored: Iterator[Any], places: list[int], most_rows: int) -> Iterator[Any]:
    """Yield the columns at these places in batches that are not too long, validated."""
    for batch in stored:
        batch.validate(full=True)
        wanted = batch.select(places)
        for start in range(0, wanted.num_rows, most_rows):
            yield wanted.slice(start, most_rows)
