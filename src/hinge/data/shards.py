"""Shards opened: rows that stay in the file, mapped into memory, read-only.

Opening reads the description and, for sparse rows, checks every index, because whoever multiplies
with the matrix does not look. Values are read when they are used. With ``verify=True`` the
checksums of all arrays are compared as well, which reads the whole file once.
"""

from __future__ import annotations

import hashlib
import mmap
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.data.checks import check_values
from hinge.data.compressed import unreadable
from hinge.data.cuts import row_cuts
from hinge.data.dataset import Dataset
from hinge.data.options import ReadOptions
from hinge.data.shard_layout import (
    CSR,
    INDICES,
    INDPTR,
    LABELS,
    QUERY_IDS,
    VALUES,
    Description,
    decode,
)
from hinge.data.source import Source, open_source
from hinge.errors import DataFileError, InvalidDataError, InvalidParameterError
from hinge.ingest import assemble, check_compressed, strictly_increasing

_PIECE = 16 << 20
_NOTE = (
    "The rows stay in the file; their checksums were not compared, as open_shards(verify=True) "
    "does."
)


def open_shards(path: str | os.PathLike[str], *, verify: bool = False) -> Dataset:
    """Open a shard file without loading it.

    The rows are a read-only view of the file: training on them reads what it needs, and the system
    keeps in memory what fits. The file must not be changed while it is open; replacing it by
    :func:`write_shards` is safe, since that makes a new file under the old name.

    Parameters
    ----------
    path : str or path-like
        A file that :func:`write_shards` wrote.
    verify : bool, default=False
        Whether to read the whole file once, compare the checksum of every array, and check that
        every value is finite. Without it shapes, sizes and indices are checked, and a flipped bit
        in a value goes unnoticed.

    Returns
    -------
    Dataset
        The rows and labels; ``X`` and numeric ``y`` are views of the file.

    Raises
    ------
    DataFileError
        If the file is not a sound shard file.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from hinge.data import Dataset, open_shards, write_shards
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "rows.hingedata")
    ...     write_shards(path, [Dataset(np.eye(3), np.array([0, 1, 1]))])
    ...     data = open_shards(path, verify=True)
    ...     print(data.X[1], data.y, data.X.flags.writeable)
    [0. 1. 0.] [0 1 1] False
    """
    source = open_source(path)
    shards = _Shards(source)
    if verify:
        shards.verify()
    note = "The rows stay in the file; their checksums were compared." if verify else _NOTE
    return shards.dataset(shards.X, 0, shards.count, note)


class _Shards:
    """A shard file, mapped into memory; sizes, shapes, indices and labels have been checked."""

    def __init__(self, source: Source) -> None:
        contents = _mapped(source)
        self.path = source.path
        self.description = decode(contents, len(contents), source.path)
        self.arrays = _arrays(contents, self.description)
        self.X = _rows(self.description, self.arrays, source.path)
        self.count = self.description.n_samples
        _check_labels(self.description, self.arrays, source.path)

    def dataset(self, X: Any, start: int, stop: int, note: str, labelled: bool = True) -> Dataset:
        """Return some of the rows, which the caller has cut out, with what belongs to them."""
        queries = self.arrays.get(QUERY_IDS)
        names = self.description.feature_names
        return Dataset(
            X,
            self._labels(start, stop) if labelled else None,
            feature_names=names if X.shape[1] == self.X.shape[1] else None,
            query_ids=None if queries is None else queries[start:stop],
            source=self.path,
            notes=(note,),
            n_rows_of_file=self.count,
        )

    def _labels(self, start: int, stop: int) -> NDArray[Any] | None:
        kind = self.description.label_kind
        if kind is None:
            return None
        labels = self.arrays[LABELS][start:stop]
        if kind == "text":
            return np.asarray(np.array(self.description.classes, dtype=np.str_)[labels])
        return labels.astype(bool) if kind == "boolean" else labels

    def verify(self) -> None:
        """Compare the checksum of every array, and check every value."""
        for stored in self.description.arrays:
            digest = hashlib.sha256()
            raw = self.arrays[stored.name].data.cast("B") if stored.length else b""
            for start in range(0, len(raw), _PIECE):
                digest.update(raw[start : start + _PIECE])
            if digest.hexdigest() != stored.sha256:
                reason = (
                    f"the checksum of the array {stored.name!r} does not match: the file has been "
                    "damaged since it was written. Convert the data again."
                )
                raise DataFileError(reason, self.path)
        check_finite(self.X, self.path)


def check_finite(X: Any, path: str) -> None:
    """Refuse rows with a value that is not finite, looking at a piece of them at a time.

    Parameters
    ----------
    X : ndarray or csr_array
        The rows.
    path : str
        Their file.
    """
    for start, stop in row_cuts(X, _PIECE // 8):
        check_values(_slice(X, start, stop), start, path, None)


def shard_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    """Yield the rows of a shard file in blocks that are views of it.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.
    block_bytes : int
        About how much of the file a block may cover.

    Yields
    ------
    Dataset
        Consecutive rows.
    """
    _check_label(options)
    shards = _Shards(source)
    X = _as_wide_as_asked(shards.X, options, source.path)
    entry = X.dtype.itemsize + (0 if isinstance(X, np.ndarray) else X.indices.itemsize)
    for start, stop in row_cuts(X, max(1, block_bytes // entry)):
        rows = check_values(_slice(X, start, stop), start, source.path, options.value_type)
        yield shards.dataset(rows, start, stop, _NOTE, options.label is not False)


def shards_as_asked(source: Source, options: ReadOptions) -> Dataset:
    """Return a shard file as the options of a reader ask for it.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.

    Returns
    -------
    Dataset
        The rows, still in the file where nothing had to be converted; every value is finite.
    """
    _check_label(options)
    shards = _Shards(source)
    X = _as_wide_as_asked(shards.X, options, source.path)
    asked = options.value_type
    if asked is None or asked == X.dtype:
        check_finite(X, source.path)
    else:
        X = check_values(X, 0, source.path, asked)
    return shards.dataset(X, 0, shards.count, _NOTE, options.label is not False)


def _check_label(options: ReadOptions) -> None:
    if options.label is not None and options.label is not False:
        message = (
            f"label={options.label!r} cannot be chosen: the labels of a shard file were chosen "
            "when it was written."
        )
        raise InvalidParameterError(message)


def _as_wide_as_asked(X: Any, options: ReadOptions, path: str) -> Any:
    asked = options.n_features
    if asked is None or asked == X.shape[1]:
        return X
    if asked < X.shape[1] or isinstance(X, np.ndarray):
        reason = f"there are {X.shape[1]} features; n_features={asked} were asked."
        raise DataFileError(reason, path)
    return assemble((X.data, X.indices, X.indptr), (X.shape[0], asked))


def _mapped(source: Source) -> mmap.mmap:
    try:
        with Path(source.path).open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise unreadable(source.path, error) from error


def _arrays(contents: mmap.mmap, description: Description) -> dict[str, NDArray[Any]]:
    """Return read-only views of all arrays; their sizes have been checked."""
    places, _ = description.offsets()
    arrays = {}
    for stored in description.arrays:
        if stored.length == 0:  # for which NumPy would look beyond the end
            arrays[stored.name] = np.empty(0, dtype=stored.dtype)
            continue
        arrays[stored.name] = np.frombuffer(
            contents, dtype=stored.dtype, count=stored.length, offset=places[stored.name]
        )
    return arrays


def _rows(description: Description, arrays: dict[str, NDArray[Any]], path: str) -> Any:
    shape = (description.n_samples, description.n_features)
    if description.form != CSR:
        return arrays[VALUES].reshape(shape)
    pieces = (arrays[VALUES], arrays[INDICES], arrays[INDPTR])
    try:
        check_compressed(pieces, shape, ("row", "column"))
    except InvalidDataError as error:
        reason = f"this is not a sound shard file: {error} Convert the data again."
        raise DataFileError(reason, path) from error
    if int(pieces[2][-1]) != len(pieces[0]):
        reason = (
            f"this is not a sound shard file: its rows end at value {int(pieces[2][-1])} of "
            f"{len(pieces[0])}. Convert the data again."
        )
        raise DataFileError(reason, path)
    if not strictly_increasing(pieces[1], pieces[2]):
        reason = (
            "this is not a sound shard file: the indices of a row are not in increasing order. "
            "Convert the data again."
        )
        raise DataFileError(reason, path)
    return assemble(pieces, shape)


def _check_labels(description: Description, arrays: dict[str, NDArray[Any]], path: str) -> None:
    kind = description.label_kind
    if kind is None:
        return
    labels = arrays[LABELS]
    usable = True
    if kind == "number":
        usable = bool(np.isfinite(labels).all())
    elif kind == "boolean":
        usable = bool(labels.max() <= 1)
    elif kind == "text":
        usable = bool(labels.min() >= 0 and labels.max() < len(description.classes or ()))
    if not usable:
        reason = "this is not a sound shard file: a label is impossible. Convert the data again."
        raise DataFileError(reason, path)


def _slice(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, np.ndarray):
        return X[start:stop]
    first, last = int(X.indptr[start]), int(X.indptr[stop])
    indptr = X.indptr[start : stop + 1] - X.indptr[start]
    return assemble((X.data[first:last], X.indices[first:last], indptr), (stop - start, X.shape[1]))
