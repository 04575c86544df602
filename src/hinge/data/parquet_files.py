"""Parquet, read by pyarrow batch by batch; what its decoder returns is validated in full.

A file's footer says how many rows and columns it has before anything is decoded: a claim that the
size of the file makes implausible is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from hinge.data.columns import choose_columns
from hinge.data.dataset import Dataset
from hinge.data.labels import is_text
from hinge.data.options import ReadOptions, check_claim
from hinge.data.source import Source
from hinge.data.tables import Place, datasets, import_pyarrow, settle_types
from hinge.errors import DataFileError
from hinge.threads import thread_count

_FILE_BUFFER = 1 << 16
_THRIFT_STRINGS = 16 << 20
_THRIFT_CONTAINERS = 1 << 20


def parquet_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    """Yield the rows of a Parquet file in blocks.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.
    block_bytes : int
        About how much memory a block may take.

    Yields
    ------
    Dataset
        Consecutive rows.
    """
    pa = import_pyarrow("Parquet files")
    try:
        yield from _blocks(source, options, block_bytes)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(error, DataFileError):
            raise
        raise _damaged(source, error) from error


def _blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    with _opened(source) as file:
        schema = file.schema_arrow
        columns = choose_columns(schema.names, True, options, source.path)
    # Labels of text stay numbers of a dictionary, of which a page may repeat a long one for ever.
    coded = [] if columns.label is None else [columns.label]
    with _opened(source, [place for place in coded if is_text(schema.types[place])]) as file:
        schema = file.schema_arrow
        columns = settle_types(columns, list(schema.types), options, source.path)
        rows = _claimed_rows(file.metadata, source)
        row_bytes = columns.dtype.itemsize * len(columns.features)
        check_claim(
            rows * row_bytes, f"Its {rows:,} rows", source.path, source.size, options.memory_limit
        )
        places = [*columns.features, *([] if columns.label is None else [columns.label])]
        _refuse_repeated_names(schema, source)
        batches = file.iter_batches(
            batch_size=max(1, min(rows, block_bytes // max(1, row_bytes))),
            columns=[schema.names[place] for place in places],
            use_threads=thread_count(options.n_jobs) > 1,
        )
        ordered = _validated(batches, [schema.names[place] for place in places])
        place = Place(source.path, 0, lambda row: row + 1)
        found = 0
        for block in datasets(ordered, columns, place, block_bytes):
            found += block.X.shape[0]
            if found > rows:
                break
            yield block
        if found != rows:
            reason = f"the footer promises {rows:,} rows and there are {found:,}."
            raise DataFileError(reason, source.path)


def _opened(source: Source, coded: Sequence[int] = ()) -> Any:
    """Open the file; text in the columns at these places is read as a dictionary."""
    from pyarrow import parquet  # noqa: PLC0415 - an optional package

    return parquet.ParquetFile(
        source.path,
        read_dictionary=list(coded),
        memory_map=False,
        pre_buffer=False,  # which would hold a whole row group
        buffer_size=_FILE_BUFFER,
        thrift_string_size_limit=_THRIFT_STRINGS,
        thrift_container_size_limit=_THRIFT_CONTAINERS,
        page_checksum_verification=True,
    )


def _claimed_rows(metadata: Any, source: Source) -> int:
    rows = int(metadata.num_rows)
    groups = [int(metadata.row_group(number).num_rows) for number in range(metadata.num_row_groups)]
    if rows < 0 or any(count < 0 for count in groups) or sum(groups) != rows:
        reason = f"the footer gives {rows:,} rows and its row groups {sum(groups):,}."
        raise DataFileError(reason, source.path)
    if rows == 0:
        reason = "there are columns and no rows."
        raise DataFileError(reason, source.path)
    return rows


def _refuse_repeated_names(schema: Any, source: Source) -> None:
    name, count = Counter(schema.names).most_common(1)[0]
    if count > 1:
        reason = f"{count} columns are named {name!r}; rename all but one."
        raise DataFileError(reason, source.path)


def _validated(batches: Iterator[Any], names: list[str]) -> Iterator[Any]:
    """Yield batches that have been validated, their columns in this order."""
    for batch in batches:
        batch.validate(full=True)
        yield batch.select(names)


def _damaged(source: Source, error: Exception) -> DataFileError:
    said = str(error).split("\n", 1)[0][:200]
    reason = f"this is not a sound Parquet file ({said}); write or download it again."
    return DataFileError(reason, source.path)
