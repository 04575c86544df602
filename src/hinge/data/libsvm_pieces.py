"""The pieces of a LIBSVM text file, read by several threads and handed out in their order.

One thread, the caller's, reads the file and takes the results; the others turn text into rows. The
file is read and not mapped: a mapped file that somebody shortens ends the process.
"""

from __future__ import annotations

import os
import stat
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from hinge.data.compressed import decompressed, failures_named
from hinge.data.libsvm_faults import fault_error
from hinge.data.libsvm_text import LineBlocks, LongLineError, Slot
from hinge.data.source import Bounded, file_name
from hinge.errors import DataFileError

if TYPE_CHECKING:
    from hinge._native import core
    from hinge.data.libsvm_options import TextOptions

BLOCK_BYTES = 1 << 20  # of text: a few milliseconds of work, whose results stay in the cache


class WideIndicesError(Exception):
    """An index does not fit into 32 bits; the file must be read again with 64."""


@dataclass(frozen=True)
class Piece:
    """The rows of one piece of text. The slot is reused: copy what is to be kept."""

    slot: Slot
    outcome: core.LibsvmTextOutcome


@dataclass
class SourceFacts:
    """What is known of a file once it is being read."""

    bytes: int | None = None  # of text; None if that is not known beforehand
    file_bytes: int | None = None  # None if this is no regular file
    compression: str | None = None
    has_byte_order_mark: bool = False


class TextFile:
    """A LIBSVM text file and how it is to be read.

    Parameters
    ----------
    path : str or path
        The file.
    options : TextOptions
        How its rows are to be read.
    threads : int
        How many threads turn text into rows.
    block_bytes : int, default=BLOCK_BYTES
        How much text makes a piece.
    longest_line : int or None, default=None
        How long a line may be; None for any length.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        options: TextOptions,
        threads: int,
        block_bytes: int = BLOCK_BYTES,
        longest_line: int | None = None,
    ) -> None:
        self.path = file_name(path)
        self.options = options
        self.facts = SourceFacts()
        self._threads = threads
        self._block_bytes = block_bytes
        self._longest_line = longest_line

    def pieces(self) -> Generator[Piece, None, None]:
        """Yield the pieces of the file; raise DataFileError at the first fault in it."""
        with ExitStack() as stack:
            with failures_named(self.path):
                file = stack.enter_context(Path(self.path).open("rb"))
                before = os.fstat(file.fileno())
                stream, kind = decompressed(file)
            is_regular = stat.S_ISREG(before.st_mode)
            size = before.st_size if is_regular else None
            self.facts = SourceFacts(size if kind is None else None, size, kind)
            if kind is not None:
                limit = self.options.memory_limit
                stream = cast("IO[bytes]", Bounded(stream, self.path, size or 0, limit))
            blocks = LineBlocks(stream, self._block_bytes, self.path, self._longest_line)
            run = self._run_alone if self._threads == 1 else self._run_together
            # Closed by hand: an error that somebody keeps would keep the threads alive as well.
            yield from self._checked(stack.enter_context(closing(run(blocks))))
            after = os.fstat(file.fileno())
            is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
            if is_regular and not is_same:
                reason = "the file was changed while it was being read; read it again."
                raise DataFileError(reason, self.path)

    def _checked(self, pieces: Iterator[Piece]) -> Iterator[Piece]:
        """Pass the pieces on, up to the first fault."""
        lines = rows = 0
        while (piece := self._next(pieces, lines)) is not None:
            outcome = piece.outcome
            if outcome.needs_wide_indices:
                raise WideIndicesError
            if outcome.fault != "none":
                raise fault_error(piece.slot, outcome, self.options, self.path, lines)
            yield piece
            lines += outcome.lines
            rows += outcome.rows
        if not rows:
            reason = "the file has no rows" + (", only comments or blank lines." if lines else ".")
            raise DataFileError(reason, self.path)

    def _next(self, pieces: Iterator[Piece], lines: int) -> Piece | None:
        """Return the next piece, None at the end; so many lines come before it."""
        try:
            return next(pieces, None)
        except LongLineError as error:
            raise DataFileError(error.reason, self.path, lines + 1) from error

    def _fill(self, blocks: LineBlocks, slot: Slot) -> bool:
        try:
            with failures_named(self.path):
                return blocks.fill(slot)
        finally:
            self.facts.has_byte_order_mark = blocks.has_byte_order_mark

    def _new_slot(self) -> Slot:
        return Slot(self.options.dtype, self.options.index_dtype)

    def _run_alone(self, blocks: LineBlocks) -> Generator[Piece, None, None]:
        slot = self._new_slot()
        settings = self.options.settings(None)
        while self._fill(blocks, slot):
            outcome = slot.read(settings)
            yield Piece(slot, outcome)
            settings = self.options.settings(outcome.has_queries)

    def _run_together(self, blocks: LineBlocks) -> Generator[Piece, None, None]:
        # Whether rows have queries is decided by the first row; until then pieces wait for it.
        first = self._new_slot()
        has_queries: bool | None = None
        while has_queries is None and self._fill(blocks, first):
            outcome = first.read(self.options.settings(None))
            has_queries = outcome.has_queries
            yield Piece(first, outcome)
        settings = self.options.settings(has_queries)
        idle = [first, *(self._new_slot() for _ in range(self._threads + 1))]
        pool = ThreadPoolExecutor(self._threads, thread_name_prefix="hinge-reader")
        try:
            yield from self._share_out(blocks, idle, pool, lambda slot: slot.read(settings))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _share_out(
        self,
        blocks: LineBlocks,
        idle: list[Slot],
        pool: ThreadPoolExecutor,
        read: Callable[[Slot], core.LibsvmTextOutcome],
    ) -> Iterator[Piece]:
        """Keep every slot busy, and yield the oldest piece whenever no slot is idle."""
        busy: deque[tuple[Slot, Future[core.LibsvmTextOutcome]]] = deque()
        is_over = False
        failure: DataFileError | None = None
        while busy or not is_over:
            while idle and not is_over:
                slot = idle.pop()
                try:
                    is_over = not self._fill(blocks, slot)
                except DataFileError as error:
                    # Not now: a piece before this one may have a fault, which comes first.
                    failure, is_over = error, True
                if not is_over:
                    busy.append((slot, pool.submit(read, slot)))
            if busy:
                slot, future = busy.popleft()
                yield Piece(slot, future.result())
                idle.append(slot)
        if failure is not None:
            raise failure
