"""Writing rows in the text format of LIBSVM and SVMlight."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge._native import core
from hinge.data.compressed import compressed, unwritable
from hinge.data.cuts import row_cuts
from hinge.data.source import file_name
from hinge.durable import atomic_write
from hinge.errors import InvalidDataError, InvalidLabelsError, InvalidParameterError
from hinge.ingest import canonical

_BLOCK_VALUES = 1 << 16  # stored values that are turned into text at once
_LARGEST_EXACT = 2**53
_MOST_QUERY = 2**63 - 1


def write_libsvm(
    path: str | os.PathLike[str],
    X: Any,
    y: Any,
    *,
    query_ids: Any = None,
    zero_based: bool = False,
    comment: str | None = None,
) -> None:
    r"""Write rows and labels in LIBSVM's text format, so that reading gives the same bits.

    The file appears at once and whole, or not at all.

    Parameters
    ----------
    path : str or path
        The file; endings ``.gz``, ``.bz2``, ``.xz`` and ``.zst`` ask for compression.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The rows, finite. Of a dense array the values other than 0 are written, of a sparse one all
        that are stored. Values of float32 are written as their shortest decimals, which only
        reading as float32 gives back.
    y : array-like of shape (n_samples,) or sequence of sequences of numbers
        The labels: a number for every row, or several.
    query_ids : array-like of int of shape (n_samples,) or None, default=None
        The query of every row, written as ``qid``.
    zero_based : bool, default=False
        Whether to count indices from zero. The format does not say so: pass it when reading too.
    comment : str or None, default=None
        Text for the beginning of the file, each line behind a ``#``.

    Notes
    -----
    The format has no number of columns: give ``n_features`` when reading if the last ones may be
    empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hinge.data import write_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.svm")
    ...     write_libsvm(path, [[0.5, 0.0, 2.0], [0.0, 0.1, 0.0]], [1, -1])
    ...     path.read_text()
    '1 1:0.5 3:2\n-1 2:0.1\n'
    """
    if not isinstance(zero_based, bool):
        message = f"zero_based must be True or False; got {zero_based!r}."
        raise InvalidParameterError(message)
    name = file_name(path)
    rows = canonical(X)
    labels = _Labels.read(y, rows.shape[0])
    queries = _read_queries(query_ids, rows.shape[0])
    try:
        with atomic_write(name) as file:
            stream = compressed(file, name)
            stream.write(_comment_lines(comment))
            _write_rows(stream, rows, labels, queries, 0 if zero_based else 1)
            if stream is not file:
                stream.close()
    except OSError as error:
        raise unwritable(name, error) from error


@dataclass(frozen=True)
class _Labels:
    """The labels of all rows in one array; ``ends`` says where each row's end, if not one each."""

    values: NDArray[np.float64]
    ends: NDArray[np.int64] | None

    @classmethod
    def read(cls, y: Any, n_rows: int) -> _Labels:
        several = _several_per_row(y)
        if several is None:
            values = _label_numbers(y)
            ends = None
        else:
            values = _label_numbers([label for row in several for label in row])
            ends = np.cumsum([len(row) for row in several], dtype=np.int64)
        count = len(values) if ends is None else len(ends)
        if count != n_rows:
            message = f"y has labels for {count} rows; X has {n_rows} rows."
            raise InvalidLabelsError(message)
        return cls(values, ends)

    def require_something(self, begin: int, stored: NDArray[Any]) -> None:
        """Refuse rows that would be blank lines, which are no rows."""
        if self.ends is None:
            return
        ends = self.ends[begin : begin + len(stored)]
        counts = np.diff(ends, prepend=self.ends[begin - 1] if begin else 0)
        blank = np.flatnonzero((counts == 0) & (stored == 0))
        if len(blank):
            message = (
                f"Row {begin + int(blank[0])} has neither a label nor a stored value: it would be "
                "a blank line, which is no row. Leave it out or store a zero in it."
            )
            raise InvalidLabelsError(message)

    def of_rows(self, begin: int, end: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the labels of some rows, and where each row's end."""
        if self.ends is None:
            return self.values[begin:end].copy(), np.empty(0, np.int64)
        first = int(self.ends[begin - 1]) if begin else 0
        ends = self.ends[begin:end] - first
        return self.values[first : first + int(ends[-1])].copy(), ends


def _several_per_row(y: Any) -> list[list[Any]] | None:
    """Return the labels of every row if the rows have sequences of them."""
    if isinstance(y, np.ndarray) or not isinstance(y, Sequence) or isinstance(y, str):
        return None
    if not any(isinstance(row, tuple | list | set | frozenset) for row in y):
        return None
    try:
        rows = [sorted(row) for row in y]
        repeated = [number for number, row in enumerate(rows) if len(set(row)) < len(row)]
    except TypeError as error:
        message = "y has several labels in some rows; then every row needs a sequence of numbers."
        raise InvalidLabelsError(message) from error
    if repeated:
        message = f"y has the same label twice in row {repeated[0]}: {tuple(rows[repeated[0]])}."
        raise InvalidLabelsError(message)
    return rows


def _label_numbers(y: Any) -> NDArray[np.float64]:
    labels = np.asarray(y)
    if labels.ndim != 1 or (labels.dtype.kind not in "biuf" and labels.size):
        message = (
            f"y must be numbers in one dimension; got shape {labels.shape} and dtype "
            f"{labels.dtype}. LIBSVM text has no label names: replace them by numbers."
        )
        raise InvalidLabelsError(message)
    numbers: NDArray[np.float64] = labels.astype(np.float64)
    if not np.isfinite(numbers).all():
        message = f"y holds {numbers[~np.isfinite(numbers)][0]}; labels must be finite."
        raise InvalidLabelsError(message)
    is_integer = labels.dtype.kind in "iu" and labels.size > 0
    if is_integer and max(int(labels.max()), -int(labels.min())) > _LARGEST_EXACT:
        message = "y holds integers above 2^53, which cannot be told apart when read as float64."
        raise InvalidLabelsError(message)
    return numbers


def _read_queries(query_ids: Any, n_rows: int) -> NDArray[np.int64] | None:
    if query_ids is None:
        return None
    queries = np.asarray(query_ids)
    if queries.shape != (n_rows,) or queries.dtype.kind not in "iu":
        message = (
            f"query_ids must be {n_rows} integers, one for every row; got shape {queries.shape} "
            f"and dtype {queries.dtype}."
        )
        raise InvalidDataError(message)
    for query in (queries.max(), queries.min()):
        if abs(int(query)) > _MOST_QUERY:
            message = f"query_ids must be less than 2^63, with or without a sign; got {query}."
            raise InvalidDataError(message)
    return queries.astype(np.int64)


def _comment_lines(comment: str | None) -> bytes:
    if comment is None:
        return b""
    if "\0" in comment:
        message = "comment must not hold a NUL character."
        raise InvalidDataError(message)
    return "".join(f"# {line}\n" for line in comment.splitlines()).encode()


def _write_rows(
    stream: IO[bytes], rows: Any, labels: _Labels, queries: NDArray[np.int64] | None, added: int
) -> None:
    for begin, end, block in _blocks(rows):
        is_bad = ~np.isfinite(block.data)
        if is_bad.any():
            row = begin + _row_of_first(block, is_bad)
            message = f"X holds {block.data[is_bad][0]} in row {row}; values must be finite."
            raise InvalidDataError(message)
        if queries is None:
            labels.require_something(begin, np.diff(block.indptr))
        values, ends = labels.of_rows(begin, end)
        some_queries = np.empty(0, np.int64) if queries is None else queries[begin:end].copy()
        arrays = core.LibsvmTextArrays(
            values=block.data,
            indices=block.indices,
            row_ends=block.indptr[1:].astype(np.int64),
            labels=values,
            label_ends=ends,
            queries=some_queries,
        )
        layout = core.LibsvmTextLayout(
            rows=end - begin,
            added=added,
            many_labels=labels.ends is not None,
            has_queries=queries is not None,
        )
        text = np.empty(_most_bytes(len(block.data), len(values), end - begin), np.uint8)
        length = core.format_libsvm_text(arrays, layout, text)
        stream.write(text[:length].data)


def _most_bytes(n_values: int, n_labels: int, n_rows: int) -> int:
    """Return how long the text of so many numbers can become."""
    return (
        n_values * core.LIBSVM_VALUE_BYTES
        + n_labels * core.LIBSVM_LABEL_BYTES
        + n_rows * core.LIBSVM_ROW_BYTES
    )


def _row_of_first(block: sp.csr_array, wanted: NDArray[np.bool_]) -> int:
    """Return the row of the first stored value that is wanted."""
    first = int(np.flatnonzero(wanted)[0])
    return int(np.searchsorted(block.indptr, first, side="right")) - 1


def _blocks(rows: Any) -> Iterator[tuple[int, int, sp.csr_array]]:
    """Yield consecutive rows as CSR of their own memory, about as many values each."""
    for begin, end in row_cuts(rows, _BLOCK_VALUES):
        if sp.issparse(rows):
            yield begin, end, rows[begin:end].copy()
        else:
            yield begin, end, _dense_to_csr(rows[begin:end])


def _dense_to_csr(block: NDArray[Any]) -> sp.csr_array:
    # Not sp.csr_array(block): that would lose the sign of -0.0.
    is_stored = (block != 0) | np.signbit(block)
    columns = np.ascontiguousarray(np.nonzero(is_stored)[1])
    offsets = np.concatenate([[0], np.cumsum(is_stored.sum(axis=1))])
    return sp.csr_array((block[is_stored], columns, offsets), shape=block.shape)
