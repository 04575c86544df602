"""CSV: text tables with a label column, read by pyarrow's parser.

Every feature is parsed as float64 (correctly rounded), the label as text whose kind the whole file
decides; so a file read in blocks and one read at once give the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hinge.data.columns import Columns, choose_columns
from hinge.data.csv_layout import (
    CsvLayout,
    cells_by_line,
    find_layout,
    first_long_line,
    is_number,
    line_of_row,
)
from hinge.data.dataset import Dataset
from hinge.data.labels import KindOfTexts
from hinge.data.options import UNLIMITED, ReadOptions
from hinge.data.source import Source, open_bytes
from hinge.data.tables import Place, datasets, import_pyarrow
from hinge.errors import DataFileError
from hinge.threads import thread_count

# Bytes of text that are parsed at once, and so the longest row; larger ones are slower.
_TEXT_BLOCK = 1 << 20
_SMALLEST_TEXT_BLOCK = 1 << 12
_ROWS_IN_A_BLOCK = 8  # at the least, if they are as long as the first line


def csv_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    """Yield the rows of a CSV file in blocks.

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
    import_pyarrow("CSV files")
    layout = find_layout(source, options)
    columns = choose_columns(layout.names, layout.has_header, options, source.path)
    columns = replace(columns, notes=layout.notes + columns.notes)
    is_whole = options.memory_limit != UNLIMITED
    text_block = max(
        _SMALLEST_TEXT_BLOCK,
        _ROWS_IN_A_BLOCK * layout.first_line_bytes,
        _TEXT_BLOCK if is_whole else min(_TEXT_BLOCK, block_bytes // 2),
    )
    table = _CsvTable(source, layout, columns, options, text_block)
    place = Place(source.path, 0, lambda row: line_of_row(source, layout, row))
    kind = table.label_kind()
    rows = 0
    batches = table.batches(columns.features)
    for block in datasets(batches, columns, place, block_bytes, kind):
        rows += block.X.shape[0]
        yield block
    if rows == 0:
        reason = "there are names of columns and no rows."
        raise DataFileError(reason, source.path)


class _CsvTable:
    """A CSV file whose layout is known."""

    def __init__(
        self,
        source: Source,
        layout: CsvLayout,
        columns: Columns,
        options: ReadOptions,
        text_block: int,
    ) -> None:
        self.source = source
        self.layout = layout
        self.columns = columns
        self.threaded = thread_count(options.n_jobs) > 1
        self.memory_limit = options.memory_limit
        self.text_block = text_block

    def label_kind(self) -> str | None:
        """Read only the labels, and return what they are."""
        if self.columns.label is None:
            return None
        found = KindOfTexts()
        for batch in self.batches(()):
            found.add(batch.column(0))
        return found.kind

    def batches(self, features: tuple[int, ...]) -> Iterator[Any]:
        """Yield record batches of these features, then the label."""
        import pyarrow as pa  # noqa: PLC0415 - an optional package

        try:
            with open_bytes(self.source, self.memory_limit) as contents:
                for batch in self._open(contents, features):
                    batch.validate(full=True)
                    yield batch
        except pa.ArrowException as error:
            raise self._explained(error, features) from error

    def _open(self, contents: Any, features: tuple[int, ...]) -> Any:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
        from pyarrow import csv  # noqa: PLC0415

        # Positions instead of names, which may repeat.
        places = [str(place) for place in range(len(self.layout.names))]
        wanted = [str(place) for place in features]
        types = dict.fromkeys(wanted, pa.float64())
        if self.columns.label is not None:
            wanted.append(str(self.columns.label))
            types[wanted[-1]] = pa.string()
        return csv.open_csv(
            pa.PythonFile(contents, mode="r"),
            read_options=csv.ReadOptions(
                use_threads=self.threaded,
                block_size=self.text_block,
                skip_rows=self.layout.skipped_lines,
                column_names=places,
            ),
            parse_options=csv.ParseOptions(
                delimiter=self.layout.delimiter, newlines_in_values=True
            ),
            convert_options=csv.ConvertOptions(
                column_types=types, include_columns=wanted, strings_can_be_null=False
            ),
        )

    def _explained(self, error: Exception, features: tuple[int, ...]) -> DataFileError:
        """Return the error with line and column, found by reading the text again."""
        width = len(self.layout.names)
        path = self.source.path
        for line, cells in cells_by_line(self.source, self.layout):
            if len(cells) != width:
                reason = (
                    f"there are {len(cells)} cells, where the first line has {width}; quote "
                    "cells that contain the delimiter, and check for a line cut short."
                )
                return DataFileError(reason, path, line)
            for place in features:
                if cells[place].strip() and not is_number(cells[place]):
                    return self._not_a_number(cells[place], line, place)
        if "straddling" in str(error):
            remedy = "store data this wide as npz or shards"
            if self.text_block < _TEXT_BLOCK:
                remedy = f"pass block_bytes={2 * _TEXT_BLOCK}"
            reason = (
                f"this line is longer than the {self.text_block:,} bytes of text that are parsed "
                f"at once; close a quote that was left open, or {remedy}."
            )
            line = first_long_line(self.source, self.layout, self.text_block)
            return DataFileError(reason, path, line)
        said = str(error).split("\n", 1)[0][:200]
        return DataFileError(f"the text cannot be read as a table: {said}", path)

    def _not_a_number(self, cell: str, line: int, place: int) -> DataFileError:
        shown = cell if len(cell) <= 40 else cell[:40] + "..."
        reason = (
            f"{shown!r} in feature column {self.columns.shown(place)} is not a number; encode "
            "text as numbers, write decimals with a point, leave the column out, or name it as "
            "the label."
        )
        return DataFileError(reason, self.source.path, line, place + 1)
