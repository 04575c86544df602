"""Arrow IPC: files (Feather version 2 is the same) and streams, validated after decoding."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from hinge.data.arrow_claims import claimed_by_batches
from hinge.data.columns import choose_columns
from hinge.data.dataset import Dataset
from hinge.data.options import EXPANSION, SMALL_CLAIM, UNLIMITED, ReadOptions, check_claim
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
        # Not mapped: a mapped file that somebody shortens ends the process.
        contents = stack.enter_context(pa.OSFile(source.path, "rb"))
        is_file = source.head.startswith(FILE_MAGIC)
        reader = stack.enter_context(
            pa.ipc.open_file(contents) if is_file else pa.ipc.open_stream(contents)
        )
        schema = reader.schema
        columns = choose_columns(schema.names, True, options, source.path)
        columns = settle_types(columns, list(schema.types), options, source.path)
        places = [*columns.features, *([] if columns.label is None else [columns.label])]
        _check_batches(source, options, block_bytes, is_file)
        stored = (
            (reader.get_batch(number) for number in range(reader.num_record_batches))
            if is_file
            else iter(reader)
        )
        found = 0
        place = Place(source.path, 0, lambda row: row + 1)
        for block in datasets(_wanted(stored, places), columns, place, block_bytes):
            found += block.X.shape[0]
            yield block
        if found == 0:
            reason = "there are columns and no rows."
            raise DataFileError(reason, source.path)


def _check_batches(source: Source, options: ReadOptions, block_bytes: int, is_file: bool) -> None:
    """Refuse a batch that takes too much once it is decompressed, before anything is.

    A batch is decompressed whole, however small the blocks are that it is cut into.
    """
    in_blocks = options.memory_limit == UNLIMITED
    most = max(SMALL_CLAIM, EXPANSION * source.size, block_bytes)
    with Path(source.path).open("rb") as contents:
        for claimed in claimed_by_batches(contents, source.size, is_file):
            if in_blocks and claimed > most:
                reason = (
                    f"a batch of its rows takes {claimed:,} bytes once it is decompressed, more "
                    f"than the {most:,} that a file of {source.size:,} bytes may claim; if that "
                    f"is right, pass block_bytes={claimed}."
                )
                raise DataFileError(reason, source.path)
            what = "A batch of its rows, decompressed,"
            check_claim(claimed, what, source.path, source.size, options.memory_limit)


def _wanted(stored: Iterator[Any], places: list[int]) -> Iterator[Any]:
    """Yield the columns at these places, validated."""
    for batch in stored:
        batch.validate(full=True)
        yield batch.select(places)
