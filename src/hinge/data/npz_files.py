"""npz archives of NumPy arrays, without pickle and without trusting a single size.

Three layouts are read: dense ``X``; the pieces of a CSR matrix, ``X_data``, ``X_indices``,
``X_indptr`` and ``X_shape``; and what ``scipy.sparse.save_npz`` writes. ``y`` holds the labels and
``feature_names`` the names, both where present. Every member is read from start to end in pieces,
so that an archive may be larger than memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.data.checks import check_values
from hinge.data.dataset import Dataset
from hinge.data.npz_members import Archive, Member
from hinge.data.options import ReadOptions, check_claim
from hinge.data.source import Source
from hinge.errors import DataFileError, InvalidDataError, InvalidParameterError
from hinge.ingest import assemble, canonical

_PIECES = ("data", "indices", "indptr", "shape")
_OUR_PREFIX = "X_"
_LABEL_KINDS = "biufU"
_MOST = 2**63 - 1  # rows or columns that can be counted


def npz_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    """Yield the rows of an npz archive in blocks.

    Parameters
    ----------
    source : Source
        The file.
    options : ReadOptions
        What the caller asked for.
    block_bytes : int
        About how much memory a block may take.

    Yields
    ------
    Dataset
        Consecutive rows.
    """
    with ExitStack() as stack:
        archive = stack.enter_context(Archive(source))
        rows = _find_rows(archive, options)
        labels = _find_labels(archive, options, rows.count)
        claimed = rows.total_bytes + (0 if labels is None else labels.nbytes)
        check_claim(claimed, "Its rows", source.path, source.size, options.memory_limit)
        names = _feature_names(archive, rows.width)
        notes = (f"The rows are {rows.described}; the labels are {_described_labels(labels)}.",)
        for start, stored in rows.blocks(block_bytes):
            X = _checked(stored, start, source, options)
            y = None if labels is None else _usable(labels.take(X.shape[0]), start, source)
            yield Dataset(
                X,
                y,
                feature_names=names,
                source=source.path,
                notes=notes,
                n_rows_of_file=rows.count,
            )


def _described_labels(labels: Member | None) -> str:
    """Return where the labels come from, for a note."""
    return "absent" if labels is None else f"the array {labels.name!r}"


class _DenseRows:
    """Rows in an array ``X`` of two dimensions."""

    def __init__(self, member: Member, path: str) -> None:
        if len(member.shape) != 2:
            reason = f"the array 'X' has shape {member.shape}; it must have two dimensions."
            raise DataFileError(reason, path)
        self.member = member
        self.path = path
        self.count, self.width = member.shape
        self.total_bytes = member.nbytes
        self.described = "the dense array 'X'"

    def blocks(self, block_bytes: int) -> Iterator[tuple[int, NDArray[Any]]]:
        if self.member.is_transposed:
            # The columns lie one after another: no row is whole before the last has been read.
            columns = self.member.take(self.width)
            yield 0, np.ascontiguousarray(columns.T)
            return
        row_bytes = max(1, self.width * self.member.dtype.itemsize)
        step = max(1, block_bytes // row_bytes)
        for start in range(0, self.count, step):
            yield start, self.member.take(min(step, self.count - start))


class _SparseRows:
    """Rows as the pieces of a CSR matrix."""

    def __init__(self, pieces: dict[str, Member], shape: tuple[int, int], path: str) -> None:
        self.pieces = pieces
        self.path = path
        self.count, self.width = shape
        self.described = "the CSR matrix in the archive"
        lengths = {name: pieces[name].shape for name in ("data", "indices", "indptr")}
        if any(len(extent) != 1 for extent in lengths.values()):
            reason = f"the pieces of the CSR matrix have the shapes {lengths}; each must have one."
            raise DataFileError(reason, path)
        stored = lengths["data"][0]
        if lengths["indices"][0] != stored or lengths["indptr"][0] != self.count + 1:
            reason = (
                f"the CSR matrix of shape {shape} has {stored} values, {lengths['indices'][0]} "
                f"indices and {lengths['indptr'][0]} row pointers; these must be equal, and one "
                "more than rows."
            )
            raise DataFileError(reason, path)
        self.total_bytes = sum(pieces[name].nbytes for name in lengths)

    def blocks(self, block_bytes: int) -> Iterator[tuple[int, Any]]:
        """Yield CSR arrays of consecutive rows, none with many more bytes than asked."""
        pointers, indices, values = (self.pieces[name] for name in ("indptr", "indices", "data"))
        entry = values.dtype.itemsize + indices.dtype.itemsize
        most_rows, most_entries = max(1, block_bytes // 8), max(1, block_bytes // entry)
        first = int(pointers.take(1)[0])
        if first != 0:
            raise self._bad_pointers(0, first)
        start, pending = 0, np.empty(0, dtype=np.int64)
        left = values.shape[0]
        while start < self.count:
            wanted = min(most_rows, self.count - start) - len(pending)
            if wanted > 0 and len(pending) == 0:
                pending = pointers.take(wanted).astype(np.int64)
            ends = pending
            before = np.concatenate([[first], ends[:-1]])
            if (ends < before).any() or ends[-1] - first > left:
                bad = int(np.argmax((ends < before) | (ends - first > left)))
                raise self._bad_pointers(start + bad + 1, int(ends[bad]))
            rows = max(1, int(np.searchsorted(ends, first + most_entries, side="right")))
            stored = int(ends[rows - 1]) - first
            indptr = np.concatenate([[0], ends[:rows] - first])
            pieces = (values.take(stored), indices.take(stored), indptr)
            yield start, _assembled(pieces, (rows, self.width), self.path)
            left -= stored
            first, pending = int(ends[rows - 1]), ends[rows:]
            start += rows
        if left:
            reason = f"{left} values of the CSR matrix belong to no row."
            raise DataFileError(reason, self.path)

    def _bad_pointers(self, place: int, value: int) -> DataFileError:
        reason = (
            f"row pointer {place} of the CSR matrix is {value}; pointers start at 0, never "
            f"decrease, and end at the number of values, {self.pieces['data'].shape[0]}."
        )
        return DataFileError(reason, self.path)


def _assembled(pieces: tuple[Any, Any, Any], shape: tuple[int, int], path: str) -> Any:
    values, indices, indptr = pieces
    if indices.dtype.kind not in "iu":
        reason = f"the indices of the CSR matrix have dtype {indices.dtype}; they are integers."
        raise DataFileError(reason, path)
    narrow = shape[1] < 2**31 and int(indptr[-1]) < 2**31
    if narrow and indices.dtype.itemsize <= 4:
        indptr = indptr.astype(np.int32)
    return assemble((values, indices, indptr), shape)


def _find_rows(archive: Archive, options: ReadOptions) -> _DenseRows | _SparseRows:
    path = archive.path
    if "X" in archive.names:
        return _DenseRows(archive.member("X", "biuf"), path)
    prefix = _OUR_PREFIX if _OUR_PREFIX + "data" in archive.names else ""
    missing = [prefix + name for name in _PIECES if prefix + name not in archive.names]
    if missing:
        reason = (
            f"the archive has the arrays {', '.join(map(repr, archive.names[:8]))}; it needs 'X', "
            "or X_data, X_indices, X_indptr and X_shape, or what scipy.sparse.save_npz writes."
        )
        raise DataFileError(reason, path)
    if not prefix:
        _check_format(archive)
    shape = archive.member(prefix + "shape", "iu").small()
    if shape.shape != (2,) or shape.min() < 0 or shape.max() >= _MOST:
        reason = f"the shape of the CSR matrix is {shape.tolist()}; it must be rows and columns."
        raise DataFileError(reason, path)
    pieces = {
        name: archive.member(prefix + name, "biuf" if name == "data" else "iu")
        for name in ("data", "indices", "indptr")
    }
    count, width = (int(extent) for extent in shape)
    if options.n_features is not None:
        width = max(width, options.n_features)
    return _SparseRows(pieces, (count, width), path)


def _check_format(archive: Archive) -> None:
    """Refuse archives of scipy that hold another sparse format than CSR."""
    found = archive.member("format", "SU").small() if "format" in archive.names else None
    text = None if found is None or found.shape != () else found.item()
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else text
    if text != "csr":
        reason = f"the sparse matrix has format {text!r}; save it as CSR (matrix.tocsr())."
        raise DataFileError(reason, archive.path)


def _find_labels(archive: Archive, options: ReadOptions, count: int) -> Member | None:
    label = options.label
    if isinstance(label, int) and label is not False:
        message = f"label={label} is a number; the arrays of {archive.path} have names."
        raise InvalidParameterError(message)
    name = "y" if label is None else label
    if label is False or (label is None and name not in archive.names):
        return None
    if name not in archive.names:
        shown = ", ".join(map(repr, archive.names[:8]))
        message = f"label={name!r} names no array of {archive.path}; it has {shown}."
        raise InvalidParameterError(message)
    labels = archive.member(str(name), _LABEL_KINDS)
    if labels.shape != (count,):
        reason = f"the array {name!r} has shape {labels.shape}; there are {count} rows."
        raise DataFileError(reason, archive.path)
    return labels


def _feature_names(archive: Archive, width: int) -> tuple[str, ...] | None:
    if "feature_names" not in archive.names:
        return None
    names = archive.member("feature_names", "U")
    if names.shape != (width,):
        reason = f"the array 'feature_names' has shape {names.shape}; there are {width} features."
        raise DataFileError(reason, archive.path)
    return tuple(str(name) for name in names.take(width))


def _checked(X: Any, start: int, source: Source, options: ReadOptions) -> Any:
    """Return the rows in the form that training takes, or say what is wrong with which."""
    if options.n_features is not None and X.shape[1] != options.n_features:
        reason = f"there are {X.shape[1]} features and n_features={options.n_features} were asked."
        raise DataFileError(reason, source.path)
    try:
        X = canonical(X)
    except InvalidDataError as error:
        raise DataFileError(str(error), source.path) from error
    return check_values(X, start, source.path, options.value_type)


def _usable(labels: NDArray[Any], start: int, source: Source) -> NDArray[Any]:
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        row = start + int(np.argmin(np.isfinite(labels)))
        reason = "the label is missing or not finite; drop the row, or pass label=False."
        raise DataFileError(reason, source.path, row + 1)
    if labels.dtype.kind == "U" and (labels == "").any():
        row = start + int(np.argmax(labels == ""))
        reason = "the label is missing; drop the row, or pass label=False."
        raise DataFileError(reason, source.path, row + 1)
    return labels
