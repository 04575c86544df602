"""The columns of a LIBSVM text file, gathered from its pieces into one data set."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hinge.data.dataset import Dataset
from hinge.data.growing import GrowingArray
from hinge.data.options import check_claim
from hinge.errors import DataFileError
from hinge.ingest import assemble

if TYPE_CHECKING:
    import scipy.sparse as sp

    from hinge.data.libsvm_options import TextOptions
    from hinge.data.libsvm_pieces import Piece, TextFile

_INT32_MOST = 2**31 - 1
# What Python takes for a number in a tuple and in the list of all, and for a tuple in a list.
_NUMBER_BYTES, _TUPLE_BYTES = 40, 64


@dataclass
class Totals:
    """What the pieces seen so far have in common."""

    largest_index: int = -1
    has_index_zero: bool = False
    has_queries: bool = False

    def add(self, piece: Piece) -> None:
        """Take another piece into account."""
        self.largest_index = max(self.largest_index, piece.outcome.largest_index)
        self.has_index_zero |= piece.outcome.has_index_zero
        self.has_queries |= piece.outcome.has_queries is True

    def is_zero_based(self, options: TextOptions) -> bool:
        """Return whether indices are counted from zero: as given, or as the file shows."""
        if options.zero_based == "auto":
            return self.has_index_zero
        return options.zero_based

    def width(self, file: TextFile) -> int:
        """Return the number of features: as given, or from the largest index."""
        options = file.options
        if options.n_features is not None:
            return options.n_features
        if self.largest_index < 0:
            reason = "no row has a feature; pass n_features to say how many there should be."
            raise DataFileError(reason, file.path)
        return self.largest_index + (1 if self.is_zero_based(options) else 0)


class Columns:
    """The arrays of a data set, growing piece by piece."""

    def __init__(self, file: TextFile, totals: Totals, expected_pieces: float | None) -> None:
        options = file.options
        self._file = file
        self._totals = totals
        self._factor = expected_pieces or 1.0
        self._values = GrowingArray(options.dtype)
        self._indices = GrowingArray(options.index_dtype)
        self._row_ends = GrowingArray(np.int64)
        self._labels = GrowingArray(np.float64)
        self._label_ends = GrowingArray(np.int64)
        self._queries = GrowingArray(np.int64)

    def append(self, piece: Piece) -> None:
        """Copy the rows of a piece."""
        slot, outcome = piece.slot, piece.outcome
        factor = self._factor
        self._row_ends.append(slot.row_ends[: outcome.rows], factor, len(self._values))
        self._values.append(slot.values[: outcome.stored], factor)
        self._indices.append(slot.indices[: outcome.stored], factor)
        if self._file.options.multilabel:
            self._label_ends.append(slot.label_ends[: outcome.rows], factor, len(self._labels))
        self._labels.append(slot.labels[: outcome.labels], factor)
        if outcome.has_queries:
            self._queries.append(slot.queries[: outcome.rows], factor)

    @property
    def nbytes(self) -> int:
        """How many bytes the data set will take."""
        parts = (self._values, self._indices, self._row_ends, self._labels, self._queries)
        objects = 0
        if self._file.options.multilabel:
            objects = _NUMBER_BYTES * len(self._labels) + _TUPLE_BYTES * len(self._label_ends)
        return objects + sum(part.nbytes for part in parts)

    def check_claim(self) -> None:
        """Refuse to go on where the data set takes more memory than its file may claim."""
        file_bytes, limit = self._file.facts.file_bytes, self._file.options.memory_limit
        if file_bytes is None and limit is None:  # a pipe, of which nobody knows how long it is
            return
        what, path = "Its rows and labels", self._file.path
        check_claim(self.nbytes, what, path, file_bytes or 0, limit, is_total=False)

    def dataset(self, notes: tuple[str, ...]) -> Dataset:
        """Return what was gathered; nothing can be appended afterwards."""
        options = self._file.options
        indices = self._indices.finish()
        if options.zero_based == "auto" and self._totals.has_index_zero:
            indices += 1  # what is stored was counted from one
        X = _csr(
            self._values.finish(),
            indices,
            self._row_ends.finish(),
            self._totals.width(self._file),
        )
        return Dataset(
            X=X,
            y=self._y(),
            query_ids=self._queries.finish() if self._totals.has_queries else None,
            source=self._file.path,
            notes=notes,
            index_base=0 if self._totals.is_zero_based(options) else 1,
        )

    def _y(self) -> NDArray[Any] | list[tuple[float, ...]]:
        labels = self._labels.finish()
        if not self._file.options.multilabel:
            return labels
        flat = labels.tolist()
        ends = [0, *self._label_ends.finish().tolist()]
        return [tuple(flat[begin:end]) for begin, end in pairwise(ends)]


def _csr(
    values: NDArray[Any], indices: NDArray[Any], row_ends: NDArray[Any], width: int
) -> sp.csr_array:
    is_narrow = len(values) <= _INT32_MOST and indices.dtype == np.int32
    offsets = np.zeros(len(row_ends) + 1, np.int32 if is_narrow else np.int64)
    offsets[1:] = row_ends
    X: sp.csr_array = assemble((values, indices, offsets), (len(row_ends), width))
    X.has_sorted_indices = True
    X.has_canonical_format = True
    return X


def pieces_expected(file: TextFile, first: Piece) -> float | None:
    """Return how many pieces like the first one the file has, a little more than it should."""
    if file.facts.bytes is None:
        return None
    return 1.02 * file.facts.bytes / max(first.slot.length, 1) + 1.0


def notes_on(file: TextFile, totals: Totals) -> tuple[str, ...]:
    """Return what the reader decided, as sentences."""
    notes = []
    if file.facts.compression is not None:
        notes.append(f"The file is compressed with {file.facts.compression}.")
    if file.facts.has_byte_order_mark:
        notes.append("The file begins with a byte order mark, which was left out.")
    if file.options.zero_based == "auto":
        if totals.has_index_zero:
            notes.append("Indices are counted from zero: the file has an index 0.")
        else:
            notes.append("Indices are counted from one: the file has no index 0.")
    return tuple(notes)
