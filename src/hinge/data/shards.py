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
from hinge.data.source import Source, open_source, unreadable
from hinge.errors import DataFileError, InvalidDataError, InvalidParameterError
from hinge.ingest import assemble, check_compressed, strictly_increasing

_PIECE = 16 << 20


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
    contents = _mapped(source)
    size = len(contents)
    description = decode(contents, size, source.path)
    arrays = _arrays(contents, description)
    X = _rows(description, arrays, source.path)
    if verify:
        _verify(description, arrays, X, source.path)
    checked = "were compared" if verify else "were not compared (verify=False)"
    return Dataset(
        X,
        _labels(description, arrays, source.path),
        feature_names=description.feature_names,
        query_ids=arrays.get(QUERY_IDS),
        source=source.path,
        notes=(f"The rows stay in the file; their checksums {checked}.",),
    )


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
    whole = shards_as_asked(source, options, convert=False)
    count = whole.X.shape[0]
    stored = whole.X.data.nbytes
    step = max(1, block_bytes * count // max(1, stored))
    for start in range(0, count, step):
        stop = min(start + step, count)
        yield Dataset(
            check_values(_slice(whole.X, start, stop), start, source.path, options.value_type),
            None if whole.y is None else whole.y[start:stop],
            whole.feature_names,
            None if whole.query_ids is None else whole.query_ids[start:stop],
            whole.source,
            whole.notes,
        )


def shards_as_asked(source: Source, options: ReadOptions, *, convert: bool = True) -> Dataset:
    """Return a shard file as the options of a reader ask for it.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.
    convert : bool, default=True
        Whether to convert values to the type asked for, which loads them.

    Returns
    -------
    Dataset
        The rows, still in the file where nothing had to be converted.
    """
    if options.label not in (None, False) or (options.label == 0 and options.label is not False):
        message = (
            f"label={options.label!r} cannot be chosen: the labels of a shard file were chosen "
            "when it was written."
        )
        raise InvalidParameterError(message)
    data = open_shards(source.path)
    X = data.X
    if options.n_features is not None and options.n_features != X.shape[1]:
        if options.n_features < X.shape[1] or isinstance(X, np.ndarray):
            reason = f"there are {X.shape[1]} features; n_features={options.n_features} were asked."
            raise DataFileError(reason, source.path)
        X = assemble((X.data, X.indices, X.indptr), (X.shape[0], options.n_features))
    asked = options.value_type
    if convert and asked is not None and asked != X.dtype:
        X = check_values(X, 0, source.path, asked)
    y = None if options.label is False else data.y
    names = data.feature_names if data.X.shape == X.shape else None
    return Dataset(X, y, names, data.query_ids, data.source, data.notes)


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


def _labels(
    description: Description, arrays: dict[str, NDArray[Any]], path: str
) -> NDArray[Any] | None:
    if description.label_kind is None:
        return None
    labels = arrays[LABELS]
    if description.label_kind == "number":
        usable = bool(np.isfinite(labels).all())
    elif description.label_kind == "boolean":
        usable = bool(labels.max() <= 1)
    elif description.label_kind == "text":
        classes = np.array(description.classes or ("",), dtype=np.str_)
        usable = bool(labels.min() >= 0 and labels.max() < len(description.classes or ()))
    else:
        usable = True
    if not usable:
        reason = "this is not a sound shard file: a label is impossible. Convert the data again."
        raise DataFileError(reason, path)
    if description.label_kind == "boolean":
        return labels.astype(bool)
    return classes[labels] if description.label_kind == "text" else labels


def _verify(description: Description, arrays: dict[str, NDArray[Any]], X: Any, path: str) -> None:
    for stored in description.arrays:
        digest = hashlib.sha256()
        raw = arrays[stored.name].data.cast("B") if stored.length else b""
        for start in range(0, len(raw), _PIECE):
            digest.update(raw[start : start + _PIECE])
        if digest.hexdigest() != stored.sha256:
            reason = (
                f"the checksum of the array {stored.name!r} does not match: the file has been "
                "damaged since it was written. Convert the data again."
            )
            raise DataFileError(reason, path)
    step = max(1, _PIECE // (8 * max(1, description.n_features)))
    if description.form == CSR:
        check_values(X, 0, path, None)
        return
    for start in range(0, description.n_samples, step):
        check_values(X[start : start + step], start, path, None)


def _slice(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, np.ndarray):
        return X[start:stop]
    first, last = int(X.indptr[start]), int(X.indptr[stop])
    indptr = X.indptr[start : stop + 1] - X.indptr[start]
    return assemble((X.data[first:last], X.indices[first:last], indptr), (stop - start, X.shape[1]))
