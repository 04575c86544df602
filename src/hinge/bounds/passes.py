"""Passes over all rows or a few, in C++: calls of bounded work, joined in a fixed order.

A piece is what has sums of its own; where rows have many features it holds many values, since its
sums are dense. Whatever its size, a native call takes a bounded part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.bounds.pieces import Pieces
from hinge.rows import Rows

Floats = NDArray[np.float64]
RowList = NDArray[np.uint32]

CHUNK_VALUES = 1 << 21  # a few milliseconds of work
_DENSE_SUMS = 16  # a chunk holds this many times n_features values: its sums are dense vectors
_VALUE, _DESCENT, _WEIGHT, _LABELS = range(4)
_NOTHING: Floats = np.empty(0)


@dataclass
class Sums:
    """What a pass adds up.

    Parameters
    ----------
    linear, curved : ndarray of shape (n_features,)
        Sum of weighted ``y x`` over the linear piece; over the quadratic one, or over all listed
        rows, times minus the derivative, or its change.
    numbers : ndarray of shape (4,)
        Value, minus the derivative by b (without the linear piece), weights of the linear piece,
        and its weights times labels.
    """

    linear: Floats
    curved: Floats
    numbers: Floats

    @classmethod
    def empty(cls, width: int, *, in_one: bool = False) -> Sums:
        """Return sums of nothing; if asked to, one vector takes the rows of both pieces."""
        linear = np.zeros(width)
        return cls(linear, linear if in_one else np.zeros(width), np.zeros(4))

    def clear(self) -> None:
        """Make these sums of nothing."""
        self.linear.fill(0.0)
        if self.curved is not self.linear:
            self.curved.fill(0.0)
        self.numbers.fill(0.0)

    def add(self, other: Sums) -> None:
        """Add other sums to these."""
        self.linear += other.linear
        self.curved += other.curved
        self.numbers += other.numbers

    @property
    def value(self) -> float:
        """The value."""
        return float(self.numbers[_VALUE])

    @property
    def descent(self) -> float:
        """Minus the derivative by b, without the linear piece."""
        return float(self.numbers[_DESCENT])

    @property
    def linear_weight(self) -> float:
        """The weights of the linear piece."""
        return float(self.numbers[_WEIGHT])

    @property
    def linear_labels(self) -> float:
        """The weights times labels of the linear piece."""
        return float(self.numbers[_LABELS])


class Passes:
    """Rows with labels and weights, ready for passes.

    Parameters
    ----------
    rows : Rows
        The data.
    signs : ndarray of int8 of shape (n_rows,)
        The labels.
    weights : ndarray
        One weight, or one for every row.
    threads : int
        How many threads share out the pieces; the bits do not depend on it.

    Attributes
    ----------
    check : callable or None
        Called before every native call, on whichever thread makes it; may raise to give up.
    """

    def __init__(
        self, rows: Rows, signs: NDArray[np.int8], weights: Floats, threads: int = 1
    ) -> None:
        rows.check_structure()
        self.rows, self.threads = rows, threads
        columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
        view = core.AnyRows(rows.values, columns, offsets, rows.n_rows, rows.n_features)
        self._native = core.LabelledRows(view, signs, weights)
        self.check: Callable[[], None] | None = None
        self._loss: tuple[Pieces, core.LossPieces] | None = None
        self.call = max(1, CHUNK_VALUES * rows.n_rows // max(1, rows.n_stored))
        values = max(CHUNK_VALUES, _DENSE_SUMS * rows.n_features)
        self.chunk = max(1, values * rows.n_rows // max(1, rows.n_stored))

    def all_rows(
        self, w: Floats, b: float, pieces: Pieces, margins: Floats, into: Sums | None = None
    ) -> Sums:
        """Add up the loss over all rows and write their margins.

        ``into`` is overwritten and returned: where there are more features than rows, new sums for
        every pass are a good part of it.
        """
        loss = self._native_loss(pieces)
        first = Sums.empty(self.rows.n_features) if into is None else into
        if into is not None:
            into.clear()

        def piece(span: tuple[int, int]) -> Sums:
            sums = first if span[0] == 0 else Sums.empty(self.rows.n_features)
            for part in self._calls(*span):
                self._native.pass_over_range(
                    w, b, loss, part, margins, sums.linear, sums.curved, sums.numbers
                )
            return sums

        return self._joined(piece, self.rows.n_rows)

    def listed(
        self,
        point: tuple[Floats, float],
        pieces: Pieces,
        numbers: RowList,
        stored: Floats,
        start: Floats,
        factor: float = 1.0,
    ) -> Sums:
        """Add up what listed rows change against their being as the stored margins say.

        ``start`` is what the vector of the first piece begins with; it is overwritten. Rows come to
        it times the factor.
        """
        loss = self._native_loss(pieces)
        w, b = point

        # By far the most calls are for a few rows.
        if len(numbers) <= min(self.call, self.chunk):
            if self.check is not None:
                self.check()
            found, part = np.zeros(4), (0, len(numbers))
            self._native.pass_over_list(w, b, loss, numbers, part, stored, start, factor, found)
            return Sums(_NOTHING, start, found)

        def piece(span: tuple[int, int]) -> Sums:
            vector = start if span[0] == 0 else np.zeros(self.rows.n_features)
            sums = Sums(_NOTHING, vector, np.zeros(4))
            for part in self._calls(*span):
                self._native.pass_over_list(
                    w, b, loss, numbers, part, stored, sums.curved, factor, sums.numbers
                )
            return sums

        return self._joined(piece, len(numbers))

    def margins_of(self, w: Floats, b: float, numbers: RowList) -> Floats:
        """Return the margins of listed rows."""
        margins = np.empty(len(numbers))
        for begin, end in self._calls(0, len(numbers)):
            self._native.margins_of_list(w, b, numbers[begin:end], margins[begin:end])
        return margins

    def sum_of(self, numbers: RowList) -> Floats:
        """Return the sum of listed rows, each times its weight and label."""
        total = np.zeros(self.rows.n_features)
        for begin, end in self._calls(0, len(numbers)):
            self._native.sum_of_list(numbers[begin:end], total)
        return total

    def add_moments(self, numbers: RowList, scale: float, moments: Floats, sums: Floats) -> None:
        """Add scale times the second moments of listed rows, and of their sum with labels.

        ``moments`` is the lower half of a matrix, row after row, with a constant feature last.
        """
        chunk = max(1, 8 * self.call // (self.rows.n_features + 1))
        for begin, end in self._calls(0, len(numbers), chunk):
            self._native.moments_of_list(numbers[begin:end], scale, moments, sums)

    def _native_loss(self, pieces: Pieces) -> core.LossPieces:
        """Return the pieces as the core has them; the last ones are kept."""
        if self._loss is None or self._loss[0] is not pieces:
            self._loss = pieces, native_pieces(pieces)
        return self._loss[1]

    def _calls(self, begin: int, end: int, rows: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the parts of a span that a native call takes each, asking before every one."""
        for first, last in _spans(end - begin, rows or self.call):
            if self.check is not None:
                self.check()
            yield begin + first, begin + last

    def _joined(self, piece: Callable[[tuple[int, int]], Sums], length: int) -> Sums:
        """Run the pieces and add them up from first to last."""
        spans = _spans(length, self.chunk) or [(0, 0)]
        if self.threads == 1 or len(spans) == 1:
            total = piece(spans[0])
            for span in spans[1:]:
                total.add(piece(span))
            return total
        with ThreadPoolExecutor(max_workers=self.threads) as pool:
            results = _windowed(pool, piece, spans, 2 * self.threads)
            total = next(results)
            for sums in results:
                total.add(sums)
        return total


def _windowed(
    pool: ThreadPoolExecutor, piece: Callable[[Any], Sums], spans: list[Any], window: int
) -> Iterator[Sums]:
    """Yield the results of the pieces in order, with a bounded number under way."""
    pending = [pool.submit(piece, span) for span in spans[:window]]
    for number in range(len(spans)):
        result = pending.pop(0).result()
        if number + window < len(spans):
            pending.append(pool.submit(piece, spans[number + window]))
        yield result


def _spans(length: int, chunk: int) -> list[tuple[int, int]]:
    """Cut a length into pieces; the last one may be shorter."""
    return [(begin, min(begin + chunk, length)) for begin in range(0, length, chunk)]


def native_pieces(pieces: Pieces) -> core.LossPieces:
    """Return the pieces of a loss as the compiled core has them."""
    return core.LossPieces(
        pieces.low,
        pieces.high,
        pieces.level,
        pieces.slope,
        pieces.curvature,
        pieces.tie_errs,
        pieces.bend,
    )
