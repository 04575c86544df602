"""LIBSVM text cut into pieces of whole lines, and the memory that a piece is read into."""

from __future__ import annotations

from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.data.source import BYTE_ORDER_MARK, UTF16_MARKS
from hinge.errors import DataFileError

_PADDING = 16  # readable bytes behind the text
_NEWLINE = ord("\n")


class Slot:
    """Room for one piece of text and for the rows in it, used for one piece after the other.

    Parameters
    ----------
    dtype : numpy dtype
        Type of the values.
    index_dtype : numpy dtype
        Type of the indices.
    """

    def __init__(self, dtype: Any, index_dtype: Any) -> None:
        self._types = (dtype, index_dtype)
        self.length = 0
        self.text = bytearray()
        self._view = np.frombuffer(self.text, dtype=np.uint8)
        self._allocate(1, 1)

    def reserve(self, bytes_of_text: int) -> None:
        """Make room for a text of this length; what is there stays there."""
        if len(self.text) >= bytes_of_text + _PADDING:
            return
        text = bytearray(bytes_of_text + _PADDING)
        text[: len(self.text)] = self.text
        self.text = text
        self._view = np.frombuffer(text, dtype=np.uint8)

    def read(self, settings: core.LibsvmTextSettings) -> core.LibsvmTextOutcome:
        """Read the rows of the text, up to the first fault."""
        self._reserve_arrays()
        return core.read_libsvm_text(self._view, self.length, settings, self._arrays)

    def _reserve_arrays(self) -> None:
        # The most that text of this length can hold: "1\n" is a row, " 1:1" a value. Memory that
        # is not written to costs nothing.
        rows, stored = self.length // 2 + 1, self.length // 4 + 1
        if len(self.row_ends) < rows:
            self._allocate(rows, stored)

    def _allocate(self, rows: int, stored: int) -> None:
        self.values: NDArray[Any] = np.empty(stored, self._types[0])
        self.indices: NDArray[Any] = np.empty(stored, self._types[1])
        self.row_ends = np.empty(rows, np.int64)
        self.labels = np.empty(rows, np.float64)
        self.label_ends = np.empty(rows, np.int64)
        self.queries = np.empty(rows, np.int64)
        self._arrays = core.LibsvmTextArrays(
            self.values, self.indices, self.row_ends, self.labels, self.label_ends, self.queries
        )


class LongLineError(DataFileError):
    """A line is longer than what may be read at once; the reader adds which one it is."""


class LineBlocks:
    """A stream of text, handed out in pieces of whole lines.

    Parameters
    ----------
    stream : binary file
        Has ``readinto``.
    block_bytes : int
        How long a piece is, unless a single line is longer.
    path : str
        Name of the file in errors.
    longest_line : int or None, default=None
        How many bytes a line may have; None for any number.
    """

    def __init__(
        self, stream: IO[bytes], block_bytes: int, path: str, longest_line: int | None = None
    ) -> None:
        self._stream: Any = stream
        self._path = path
        self._block_bytes = block_bytes
        self._longest_line = longest_line
        self._begun_line = b""
        self._is_first = True
        self._is_over = False
        self.has_byte_order_mark = False

    def fill(self, slot: Slot) -> bool:
        """Put the next piece into the slot; return whether there was one."""
        slot.length = end = 0
        held, wanted = len(self._begun_line), self._block_bytes
        slot.reserve(held)
        slot.text[:held] = self._begun_line
        while not end and not self._is_over:
            wanted = max(wanted, 2 * held)  # doubling keeps the work linear for a long line
            slot.reserve(wanted + 1)
            searched, held = held, self._read(slot.text, held, wanted)
            end = slot.text.rfind(b"\n", searched, held) + 1
            if not end and self._longest_line is not None and held > self._longest_line:
                reason = (
                    f"the line is longer than {self._longest_line:,} bytes; if that is right, pass "
                    "a larger chunk_bytes (block_bytes of hinge.data.iter_blocks)."
                )
                raise LongLineError(reason, self._path)
        if self._is_over:
            if held and slot.text[held - 1] != _NEWLINE:
                slot.text[held] = _NEWLINE
                held += 1
            end = held
        self._begun_line = bytes(memoryview(slot.text)[end:held])
        slot.length = end
        self._mind_first_bytes(slot)
        return end > 0

    def _read(self, text: bytearray, held: int, wanted: int) -> int:
        """Read until the text is as long as wanted, or over; return its length."""
        with memoryview(text) as view:
            while held < wanted:
                count = self._stream.readinto(view[held:wanted])
                if not count:
                    self._is_over = True
                    break
                held += count
        return held

    def _mind_first_bytes(self, slot: Slot) -> None:
        if not self._is_first:
            return
        self._is_first = False
        if slot.text.startswith(UTF16_MARKS):
            reason = "this is UTF-16 text; save it as UTF-8 or ASCII."
            raise DataFileError(reason, self._path, 1, 1)
        if slot.text.startswith(BYTE_ORDER_MARK):
            self.has_byte_order_mark = True
            slot.text[: len(BYTE_ORDER_MARK)] = b" " * len(BYTE_ORDER_MARK)
