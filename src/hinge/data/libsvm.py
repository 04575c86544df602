"""Reading files in the text format of LIBSVM and SVMlight.

A row is a line ``label [qid:id] index:value index:value ... [# comment]``. The reader is strict:
what could not have been meant is an error that says where it is and what to do. Numbers are
rounded correctly from their decimals, once, to the type that is asked for.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge import parameters
from hinge.data.dataset import Dataset
from hinge.data.libsvm_columns import Columns, Totals, notes_on, pieces_expected
from hinge.data.libsvm_options import TextOptions, ZeroBased
from hinge.data.libsvm_pieces import TextFile, WideIndicesError
from hinge.data.options import LONGEST_LINE, UNLIMITED
from hinge.errors import DataFileError, InvalidParameterError
from hinge.threads import thread_count


def read_libsvm(
    path: str | os.PathLike[str],
    n_features: int | None = None,
    *,
    zero_based: ZeroBased = "auto",
    multilabel: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
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
    memory_limit : int or None, default=None
        How many bytes the rows and labels may take, and the text of a compressed file; None
        allows 64 MB or a thousand times the size of the file, whichever is more.

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
    ...     _ = path.write_text("+1 1:0.5 3:2\n-1 2:0.25 # a comment\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray()
    array([[0.5 , 0.  , 2.  ],
           [0.  , 0.25, 0.  ]])
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
        memory_limit=memory_limit,
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
    memory_limit: int | None = None,
) -> Dataset:
    """Read a file in LIBSVM's text format with its query ids and notes on what was decided.

    Parameters
    ----------
    path : str or path
        The file.
    n_features, zero_based, multilabel, dtype, n_jobs, memory_limit : optional
        As for :func:`read_libsvm`.

    Returns
    -------
    Dataset
        Its ``notes`` say from which number indices were counted.
    """
    options = TextOptions.checked(n_features, zero_based, multilabel, dtype)
    if memory_limit is not None:
        options = options.replace(memory_limit=parameters.count(memory_limit, "memory_limit"))
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
        The file.
    chunk_bytes : int, default=16777216
        How much text makes a part. A longer line is a part of its own, up to 128 MB or this number.
    n_features, zero_based, multilabel, dtype, n_jobs : optional
        As for :func:`read_libsvm`.

    Yields
    ------
    Dataset
        Consecutive rows; all parts have the same number of columns.
    """
    options = TextOptions.checked(n_features, zero_based, multilabel, dtype)
    options = options.replace(memory_limit=UNLIMITED)  # only a part is in memory at a time
    if parameters.count(chunk_bytes, "chunk_bytes") < 1:
        message = f"chunk_bytes must be at least 1; got {chunk_bytes}."
        raise InvalidParameterError(message)
    return _iterate(path, options, chunk_bytes, thread_count(n_jobs))


def _iterate(
    path: str | os.PathLike[str], options: TextOptions, chunk_bytes: int, threads: int
) -> Iterator[Dataset]:
    notes: tuple[str, ...] | None = None
    longest_line = max(LONGEST_LINE, chunk_bytes)
    if options.n_features is None or options.zero_based == "auto":
        scan = TextFile(path, options.replace(wide=True), threads, longest_line=longest_line)
        _require_second_reading(scan.path)
        totals = Totals()
        with closing(scan.pieces()) as pieces:
            for piece in pieces:
                totals.add(piece)
        width = totals.width(scan)
        notes = notes_on(scan, totals)
        base = totals.is_zero_based(options)
        found = TextOptions.checked(width, base, options.multilabel, options.dtype)
        options = found.replace(memory_limit=UNLIMITED)
    file = TextFile(path, options, threads, chunk_bytes, longest_line)
    with closing(file.pieces()) as pieces:
        for piece in pieces:
            totals = Totals()
            totals.add(piece)
            columns = Columns(file, totals, None)
            columns.append(piece)
            if piece.outcome.rows:
                yield columns.dataset(notes or notes_on(file, totals))


def _require_second_reading(path: str) -> None:
    if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113 - path is str
        reason = (
            "this is no regular file and cannot be read twice; pass n_features and zero_based "
            "to read it once."
        )
        raise DataFileError(reason, path)


def _read_whole(file: TextFile) -> Dataset:
    totals = Totals()
    columns: Columns | None = None
    with closing(file.pieces()) as pieces:
        for piece in pieces:
            if columns is None:
                columns = Columns(file, totals, pieces_expected(file, piece))
            totals.add(piece)
            columns.append(piece)
            columns.check_claim()
    assert columns is not None  # a file without rows has been refused
    options = file.options
    is_beyond = options.n_features is not None and totals.largest_index >= options.n_features
    if options.zero_based == "auto" and totals.has_index_zero and is_beyond:
        _refuse_beyond(file)
    return columns.dataset(notes_on(file, totals))


def _refuse_beyond(file: TextFile) -> NoReturn:
    """Find the place of an index that turned out to be one too large in a zero-based file."""
    again = TextFile(file.path, file.options.replace(zero_based=True), 1)
    for _ in again.pieces():
        pass
    reason = "the file was changed while it was being read; read it again."
    raise DataFileError(reason, file.path)
