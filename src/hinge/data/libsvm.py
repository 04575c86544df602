"""Reading files in the text format of LIBSVM and SVMlight.

A row is a line ``label [qid:id] index:value index:value ... [# comment]``. The reader is strict:
what could not have been meant is an error that says where it is and what to do. Numbers are
rounded correctly from their decimals, once, to the type that is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge import parameters
from hinge.data.dataset import Dataset
from hinge.data.growing import GrowingArray
from hinge.data.libsvm_options import TextOptions, ZeroBased
from hinge.data.libsvm_pieces import Piece, TextFile, WideIndicesError
from hinge.errors import DataFileError, InvalidParameterError
from hinge.ingest import assemble
from hinge.threads import thread_count

_INT32_MOST = 2**31 - 1


def read_libsvm(
    path: str | os.PathLike[str],
    n_features: int | None = None,
    *,
    zero_based: ZeroBased = "auto",
    multilabel: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> tuple[sp.csr_array, NDArray[Any] | list[tuple[float, ...]]]:
    r"""Read a file in LIBSVM's text format, compressed or not.

    Parameters
    ----------
    path : str or path
        The file; gzip, bzip2, xz and zstd are recognised by their first bytes.
    n_features : int or None, default=None
        Number of columns, at least 1; an index above it is an error. None takes the largest index.
    zero_based : bool or "auto", default="auto"
        Whether indices are counted from zero. ``"auto"``: from zero exactly if one of them is 0.
    multilabel : bool, default=False
        Whether a row may have several labels, separated by commas, or none.
    dtype : float32 or float64, default=float64
        Type of the values.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn; the result does not depend on it.

    Returns
    -------
    X : csr_array of shape (n_samples, n_features)
        The rows, with sorted indices.
    y : ndarray of shape (n_samples,) or list of tuple of float
        The labels; with ``multilabel``, a sorted tuple for every row.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hinge.data import read_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.svm")
    ...     _ = path.write_text("+1 1:0.5 3:2\n-1 2:1e-3 # a comment\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray()
    array([[0.5  , 0.   , 2.   ],
           [0.   , 0.001, 0.   ]])
    >>> y
    array([ 1., -1.])
    """
    dataset = read_libsvm_dataset(
        path,
        n_features,
        zero_based=zero_based,
        multilabel=multilabel,
        dtype=dtype,
        n_jobs=n_jobs,
    )
    assert dataset.y is not None
    return dataset.X, dataset.y


def read_libsvm_dataset(
    path: str | os.PathLike[str],
    n_features: int | None = None,
    *,
    zero_based: ZeroBased = "auto",
    multilabel: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Dataset:
    """Read a file in LIBSVM's text format with its query ids and notes on what was decided.

    Parameters
    ----------
    path : str or path
        The file; gzip, bzip2, xz and zstd are recognised by their first bytes.
    n_features : int or None, default=None
        Number of columns, at least 1; an index above it is an error. None takes the largest index.
    zero_based : bool or "auto", default="auto"
        Whether indices are counted from zero. ``"auto"``: from zero exactly if one of them is 0.
    multilabel : bool, default=False
        Whether a row may have several labels, separated by commas, or none.
    dtype : float32 or float64, default=float64
        Type of the values.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn; the result does not depend on it.

    Returns
    -------
    Dataset
        Its ``notes`` say from which number indices were counted.
    """
    options = TextOptions.checked(n_features, zero_based, multilabel, dtype)
    threads = thread_count(n_jobs)
    try:
        return _read_whole(TextFile(path, options, threads))
    except WideIndicesError:
        return _read_whole(TextFile(path, options.replace(wide=True), threads))


def iter_libsvm(
    path: str | os.PathLike[str],
    *,
    n_features: int | None = None,
    chunk_bytes: int = 1 << 24,
    zero_based: ZeroBased = "auto",
    multilabel: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
) -> Iterator[Dataset]:
    """Read a file in LIBSVM's text format part by part, in bounded memory.

    If the number of features or the base of the indices is left open, the file is read twice: once
    to find them out, and once for the rows.

    Parameters
    ----------
    path : str or path
        The file; gzip, bzip2, xz and zstd are recognised by their first bytes.
    n_features : int or None, default=None
        Number of columns, at least 1; an index above it is an error. None takes the largest index.
    chunk_bytes : int, default=16777216
        How much text makes a part; a longer line is a part of its own.
    zero_based : bool or "auto", default="auto"
        Whether indices are counted from zero. ``"auto"``: from zero exactly if one of them is 0.
    multilabel : bool, default=False
        Whether a row may have several labels, separated by commas, or none.
    dtype : float32 or float64, default=float64
        Type of the values.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn; the result does not depend on it.

    Yields
    ------
    Dataset
        Consecutive rows; all parts have the same number of columns.
    """
    options = TextOptions.checked(n_features, zero_based, multilabel, dtype)
    if parameters.count(chunk_bytes, "chunk_bytes") < 1:
        message = f"chunk_bytes must be at least 1; got {chunk_bytes}."
        raise InvalidParameterError(message)
    return _iterate(path, options, chunk_bytes, thread_count(n_jobs))


def _iterate(
    path: str | os.PathLike[str], options: TextOptions, chunk_bytes: int, threads: int
) -> Iterator[Dataset]:
    notes: tuple[str, ...] | None = None
    if options.n_features is None or options.zero_based == "auto":
        scan = TextFile(path, options.replace(wide=True), threads)
        _require_second_reading(scan.path)
        totals = _Totals()
        for piece in scan.pieces():
            totals.add(piece)
        width = totals.width(scan)
        notes = _notes(scan, totals)
        found = TextOptions.checked(width, totals.is_zero_based(options), False, options.dtype)
        options = found.replace(multilabel=options.multilabel)
    file = TextFile(path, options, threads, chunk_bytes)
    for piece in file.pieces():
        totals = _Totals()
        totals.add(piece)
        columns = _Columns(file, totals, None)
        columns.append(piece)
        if piece.outcome.rows:
            yield columns.dataset(notes or _notes(file, totals))


def _require_second_reading(path: str) -> None:
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - path is str
        reason = (
            "this is no regular file and cannot be read twice; pass n_features and zero_based "
            "to read it once."
        )
        raise DataFileError(reason, path)


@dataclass
class _Totals:
    """What the pieces seen so far have in common."""

    largest_index: int = -1
    has_index_zero: bool = False
    has_queries: bool = False

    def add(self, piece: Piece) -> None:
        self.largest_index = max(self.largest_index, piece.outcome.largest_index)
        self.has_index_zero |= piece.outcome.has_index_zero
        self.has_queries |= piece.outcome.has_queries is True

    def is_zero_based(self, options: TextOptions) -> bool:
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


class _Columns:
    """The arrays of a data set, growing piece by piece."""

    def __init__(self, file: TextFile, totals: _Totals, expected_pieces: float | None) -> None:
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


def _read_whole(file: TextFile) -> Dataset:
    totals = _Totals()
    columns: _Columns | None = None
    for piece in file.pieces():
        if columns is None:
            columns = _Columns(file, totals, _pieces_expected(file, piece))
        totals.add(piece)
        columns.append(piece)
    assert columns is not None  # a file without rows has been refused
    options = file.options
    is_beyond = options.n_features is not None and totals.largest_index >= options.n_features
    if options.zero_based == "auto" and totals.has_index_zero and is_beyond:
        # Only now is it known that the largest index is one too large; find its place.
        for _ in TextFile(file.path, options.replace(zero_based=True), 1).pieces():
            pass
    return columns.dataset(_notes(file, totals))


def _pieces_expected(file: TextFile, first: Piece) -> float | None:
    """Return how many pieces like the first one the file has, a little more than it should."""
    if file.facts.bytes is None:
        return None
    return 1.02 * file.facts.bytes / max(first.slot.length, 1) + 1.0


def _notes(file: TextFile, totals: _Totals) -> tuple[str, ...]:
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
