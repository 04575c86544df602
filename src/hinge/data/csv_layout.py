"""How a CSV file is laid out: delimiter, header, and where a row stands in the text.

The delimiter is a comma if the first line has one, else a tab or a semicolon if it has one of
those. The first line is a header if none of its cells is a number, or if one is a usual name of the
label. A first line that counts its columns (0, 1, 2, ...) could be either and is refused until
``header=`` says which.
"""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hinge.data.columns import LABEL_NAMES
from hinge.data.options import ReadOptions
from hinge.data.source import (
    BYTE_ORDER_MARK,
    HEAD_BYTES,
    UTF16_MARKS,
    Source,
    open_bytes,
    peek,
)
from hinge.errors import DataFileError

_DELIMITERS = {",": "commas", "\t": "tabs", ";": "semicolons"}
_LONGEST_FIRST_LINE = 64 << 20
_COUNTING_COLUMNS = 3  # with fewer, 0 and 1 are as likely to be data


@dataclass(frozen=True)
class CsvLayout:
    """The layout of a CSV file.

    Parameters
    ----------
    delimiter : str
        One character.
    names : tuple of str
        The columns; their numbers from one where there is no header.
    has_header : bool
        Whether the first line that is not blank has the names.
    skipped_lines : int
        Lines before the first row of data.
    first_line_bytes : int
        The length of the first line.
    notes : tuple of str
        What was decided.
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    skipped_lines: int
    first_line_bytes: int
    notes: tuple[str, ...]


def find_layout(source: Source, options: ReadOptions) -> CsvLayout:
    """Look at the first line of the file.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.

    Returns
    -------
    CsvLayout
        The layout.
    """
    line, blank = _first_line(source)
    delimiter = next((mark for mark in _DELIMITERS if mark in line), ",")
    try:
        cells = next(csv.reader([line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        reason = f"the first line cannot be split into cells ({error})."
        raise DataFileError(reason, source.path, blank + 1) from error
    cells = [cell.strip() for cell in cells]
    has_header = _is_header(cells, source.path, blank + 1, options)
    spoken = "is a header with names" if has_header else "is data: it has no names of columns"
    notes = (f"The cells are separated by {_DELIMITERS[delimiter]}; line {blank + 1} {spoken}.",)
    numbers = tuple(str(number) for number in range(1, len(cells) + 1))
    names = tuple(cells) if has_header else numbers
    skipped = blank + has_header
    return CsvLayout(delimiter, names, has_header, skipped, len(line.encode()), notes)


def cells_by_line(source: Source, layout: CsvLayout) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of every row of data, as Python's own reader splits it.

    Slow; for messages only.
    """
    unlimited = 1 << 62  # what is read again for a message has been read within limits before
    with open_bytes(source, unlimited) as contents:
        text = io.TextIOWrapper(contents, encoding="utf-8-sig", errors="replace", newline="")
        for _ in range(layout.skipped_lines):
            text.readline()
        reader = csv.reader(text, delimiter=layout.delimiter)
        with contextlib.suppress(csv.Error):
            while True:
                line = layout.skipped_lines + reader.line_num + 1
                cells = next(reader, None)
                if cells is None:
                    return
                if cells:
                    yield line, cells


def line_of_row(source: Source, layout: CsvLayout, row: int) -> int:
    """Return the line on which a row of data begins; both the row from zero, the line from one."""
    found = next(itertools.islice(cells_by_line(source, layout), row, None), None)
    return found[0] if found is not None else layout.skipped_lines + row + 1


def first_long_line(source: Source, layout: CsvLayout, most: int) -> int:
    """Return the line on which the first row begins that is longer than so many bytes.

    Parameters
    ----------
    source : Source
        The file.
    layout : CsvLayout
        Its layout.
    most : int
        How many bytes a row may have.
    """
    behind = layout.skipped_lines + 1
    for line, cells in cells_by_line(source, layout):
        if sum(len(cell.encode()) + 1 for cell in cells) > most:
            return line
        behind = line + 1 + sum(cell.count("\n") for cell in cells)
    return behind  # of a cell that Python's reader gives up at


def is_number(text: str) -> bool:
    """Return whether the text of a cell is a number as CSV has them.

    Parameters
    ----------
    text : str
        The cell.
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _first_line(source: Source) -> tuple[str, int]:
    """Return the first line that is not blank, and how many blank ones come before it."""
    head = peek(source)
    if head.startswith(UTF16_MARKS):
        reason = "the text is encoded as UTF-16; save it as UTF-8."
        raise DataFileError(reason, source.path)
    if b"\0" in head:
        line = head.count(b"\n", 0, head.index(b"\0")) + 1
        reason = "there is a NUL byte, so this is no CSV text; is the format right?"
        raise DataFileError(reason, source.path, line)
    lines = head.removeprefix(BYTE_ORDER_MARK).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    texts = lines.split(b"\n")
    for blank, text in enumerate(texts):
        if not text.strip(b" "):
            continue
        # The last line of the head may go on behind it; then it must be read to its end.
        is_whole = blank + 1 < len(texts) or len(head) < HEAD_BYTES
        whole = text if is_whole else _whole_line(source)
        try:
            return whole.decode("utf-8"), blank
        except UnicodeDecodeError as error:
            reason = f"the text is not UTF-8 ({error.reason}); save it as UTF-8."
            raise DataFileError(reason, source.path, blank + 1) from error
    reason = "there is nothing but blank lines."
    raise DataFileError(reason, source.path)


def _whole_line(source: Source) -> bytes:
    """Return the first line that is not blank, which is longer than the head of the file."""
    line = b""
    with open_bytes(source) as contents:
        while not line:
            text = contents.readline(_LONGEST_FIRST_LINE).removeprefix(BYTE_ORDER_MARK)
            if not text:
                reason = "the file was changed while it was being read; read it again."
                raise DataFileError(reason, source.path)
            pieces = (piece.strip(b" ") for piece in text.replace(b"\r", b"\n").split(b"\n"))
            line = next((piece for piece in pieces if piece), b"")
    return line


def _is_header(cells: list[str], path: str, line: int, options: ReadOptions) -> bool:
    if options.header is not None:
        return options.header
    if any(cell.lower() in LABEL_NAMES for cell in cells):
        return True
    if isinstance(options.label, str) and options.label in cells:
        return True
    counting = [str(number) for number in range(len(cells))]
    if cells == counting and len(cells) >= _COUNTING_COLUMNS:
        reason = (
            "the first line counts 0, 1, 2, ...: it may be a header or data. Pass header=True or "
            "header=False."
        )
        raise DataFileError(reason, path, line)
    return not any(is_number(cell) for cell in cells)
