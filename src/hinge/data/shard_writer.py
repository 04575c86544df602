"""Shards written in one pass from a stream of blocks, atomically.

The values, the largest array, go straight to their place in the new file. Row pointers, indices,
labels and query ids grow at the same time, so they collect in unnamed temporary files of the same
folder and are appended at the end: one file then holds contiguous arrays that can be mapped, at the
price of writing the small ones twice. Whatever ends the process, nothing of them remains.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.data.checks import check_values
from hinge.data.compressed import unwritable
from hinge.data.dataset import Dataset
from hinge.data.labels import LONGEST_LABEL
from hinge.data.options import value_type
from hinge.data.shard_layout import (
    CSR,
    DENSE,
    INDICES,
    INDPTR,
    LABEL_TYPES,
    LABELS,
    LONGEST_DESCRIPTION,
    PREFIX,
    QUERY_IDS,
    VALUES,
    Description,
    StoredArray,
    aligned,
    encode,
)
from hinge.data.source import file_name
from hinge.durable import atomic_write
from hinge.errors import DataFileError, InvalidDataError
from hinge.ingest import canonical

_PIECE = 16 << 20
_NARROW = 2**31 - 1
_LABEL_KINDS = {"i": "integer", "u": "integer", "f": "number", "b": "boolean", "U": "text"}


def write_shards(
    path: str | os.PathLike[str],
    blocks: Iterable[Dataset],
    *,
    dtype: npt.DTypeLike | None = None,
) -> None:
    """Write rows as a shard file, which can be trained on without loading it.

    The file appears under its name at once and whole; if anything fails or ends the process on the
    way, what was there before is still there.

    Parameters
    ----------
    path : str or path-like
        The file to write; ``.hingedata`` is the usual ending.
    blocks : iterable of Dataset
        The rows, as :func:`iter_blocks` yields them; ``[dataset]`` for a whole one. All are dense
        or all are sparse, and all have labels or none has.
    dtype : dtype or None, default=None
        float32 or float64; None keeps the type of the first block.

    Raises
    ------
    DataFileError
        If the blocks do not fit together, a value is not finite, or the file cannot be written.

    See Also
    --------
    open_shards : Open what this wrote.
    """
    target = file_name(path)
    try:
        with atomic_write(target) as file, ExitStack() as stack:
            writer = _Writer(file, target, value_type(dtype), stack)
            for block in blocks:
                writer.add(block)
            writer.finish()
    except OSError as error:
        raise unwritable(target, error) from error


class _Part:
    """An array that grows in a file: the new one itself, or a temporary one."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.digest = hashlib.sha256()
        self.length = 0

    def append(self, array: NDArray[Any], dtype: Any) -> None:
        stored = np.ascontiguousarray(array, dtype=dtype)
        if stored.size:
            raw = stored.data.cast("B")
            self.file.write(raw)
            self.digest.update(raw)
        self.length += stored.size

    def stored(self, name: str, dtype: str) -> StoredArray:
        return StoredArray(name, dtype, self.length, self.digest.hexdigest())


class _Writer:
    """What is known of a shard file that is being written."""

    def __init__(
        self, file: BinaryIO, path: str, dtype: np.dtype[Any] | None, stack: ExitStack
    ) -> None:
        self.file = file
        self.path = path
        self.is_type_asked = dtype is not None
        self.held_type: np.dtype[Any] = np.dtype(np.float64) if dtype is None else dtype
        self.stack = stack
        self.form: str | None = None
        self.rows = self.width = self.stored = 0
        self.label_kind: str | None = None
        self.classes: dict[str, int] = {}
        self.class_bytes = 0
        self.feature_names: tuple[str, ...] | None = None
        self.index_type = "<i4"
        self.parts: dict[str, _Part] = {}
        file.write(bytes(PREFIX.size))
        self.values = _Part(file)

    def add(self, block: Dataset) -> None:
        """Append the rows of a block."""
        try:
            X = canonical(block.X)
        except InvalidDataError as error:
            reason = f"rows {self.rows} and after: {error}"
            raise DataFileError(reason, self.path) from error
        if self.form is None:
            self._begin(block, X)
        self._check_fit(block, X)
        X = check_values(X, self.rows, self.path, self.held_type)
        if sp.issparse(X):
            self.values.append(X.data, self.held_type.newbyteorder("<"))
            self.parts[INDICES].append(X.indices, self.index_type)
            self.parts[INDPTR].append(X.indptr[1:].astype(np.int64) + self.stored, "<i8")
            self.stored += len(X.data)
        else:
            self.values.append(X, self.held_type.newbyteorder("<"))
        if block.y is not None:
            self._add_labels(self._as_array(block.y))
        if block.query_ids is not None:
            self.parts[QUERY_IDS].append(block.query_ids, "<i8")
        self.rows += X.shape[0]
        self.width = max(self.width, X.shape[1])

    def finish(self) -> None:
        """Append the parts and the description."""
        if self.form is None:
            self._refuse("there are no rows to write")
        arrays = [self.values.stored(VALUES, self.held_type.newbyteorder("<").str)]
        wide = self.stored > _NARROW or self.index_type == "<i8"
        types = {INDICES: self.index_type, INDPTR: "<i8" if wide else "<i4", QUERY_IDS: "<i8"}
        if self.label_kind is not None:
            types[LABELS] = LABEL_TYPES[self.label_kind]
        arrays += [
            self._append_part(name, types[name])
            for name in (INDICES, INDPTR, LABELS, QUERY_IDS)
            if name in self.parts
        ]
        self._pad()
        description = Description(
            self.form,
            self.rows,
            self.width,
            tuple(arrays),
            self.label_kind,
            tuple(self.classes) if self.label_kind == "text" else None,
            self.feature_names,
        )
        prefix, text = encode(description)
        if len(text) > LONGEST_DESCRIPTION:
            self._refuse(
                f"the names of features and classes take {len(text):,} bytes and at most "
                f"{LONGEST_DESCRIPTION:,} can be stored; leave feature_names out"
            )
        self.file.write(text)
        self.file.seek(0)
        self.file.write(prefix)

    def _begin(self, block: Dataset, X: Any) -> None:
        """Settle by the first block what holds for all."""
        self.form = CSR if sp.issparse(X) else DENSE
        if not self.is_type_asked:
            self.held_type = X.dtype
        self.width = X.shape[1]
        names = block.feature_names
        self.feature_names = None if names is None else tuple(map(str, names))
        wanted = [INDICES, INDPTR] if self.form == CSR else []
        wanted += [LABELS] if block.y is not None else []
        wanted += [QUERY_IDS] if block.query_ids is not None else []
        folder = Path(os.path.realpath(self.path)).parent
        for name in wanted:
            # Without a name from the beginning, where the system can: nothing is left behind.
            part = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the stack closes it
            self.parts[name] = _Part(self.stack.enter_context(part))
        if self.form == CSR:
            self.parts[INDPTR].append(np.zeros(1), "<i8")
            self.index_type = "<i4" if self.width <= _NARROW + 1 else "<i8"

    def _check_fit(self, block: Dataset, X: Any) -> None:
        """Refuse a block that does not go with those before it."""
        form = CSR if sp.issparse(X) else DENSE
        if form != self.form:
            self._refuse(f"a block is {form} and the first is {self.form}")
        if form == DENSE and X.shape[1] != self.width:
            self._refuse(f"a block has {X.shape[1]} features and the first {self.width}")
        if form == CSR and self.index_type == "<i4" and X.shape[1] > _NARROW + 1:
            self._refuse(f"a block has {X.shape[1]} features and the first {self.width}")
        for name, given in ((LABELS, block.y), (QUERY_IDS, block.query_ids)):
            if (given is not None) != (name in self.parts):
                self._refuse(f"some blocks have {name} and some have none")
            if given is not None and len(given) != X.shape[0]:
                self._refuse(f"a block has {X.shape[0]} rows and {len(given)} {name}")
        if not self.is_type_asked and X.dtype.itemsize > self.held_type.itemsize:
            self._refuse(
                f"a block is {X.dtype} and the first is {self.held_type}; choose with dtype="
            )

    def _as_array(self, labels: Any) -> NDArray[Any]:
        if isinstance(labels, list):
            self._refuse("a shard file holds one label for each row; these have several")
        array = np.asarray(labels)
        if array.dtype == object and all(isinstance(label, str) for label in array):
            return array.astype(np.str_)
        return array

    def _add_labels(self, labels: NDArray[Any]) -> None:
        kind = _LABEL_KINDS.get(labels.dtype.kind) if labels.ndim == 1 else None
        if kind is None or (labels.dtype.kind == "u" and labels.max() > np.iinfo(np.int64).max):
            self._refuse(
                "a shard file holds one label for each row, a number, a truth value or a text; "
                f"got labels of dtype {labels.dtype} and shape {labels.shape}"
            )
        if self.label_kind not in (None, kind):
            self._refuse(f"labels of one block are {self.label_kind}, of another {kind}")
        self.label_kind = kind
        if kind == "number" and not np.isfinite(labels).all():
            row = self.rows + int(np.argmin(np.isfinite(labels)))
            self._refuse(f"the label of row {row} is not finite")
        if kind == "text":
            labels = self._class_numbers(labels)
        self.parts[LABELS].append(labels, LABEL_TYPES[kind])

    def _class_numbers(self, labels: NDArray[Any]) -> NDArray[Any]:
        texts, places = np.unique(labels, return_inverse=True)
        numbers = []
        for text in map(str, texts):
            if text not in self.classes:
                if not 0 < len(text) <= LONGEST_LABEL or "\0" in text:
                    self._refuse(f"{text[:40]!r} cannot be a label: empty, or too long")
                self.class_bytes += len(text.encode())
                if self.class_bytes > LONGEST_DESCRIPTION:
                    self._refuse("there are too many different labels; is this the label?")
                self.classes[text] = len(self.classes)
            numbers.append(self.classes[text])
        return np.array(numbers)[places]

    def _append_part(self, name: str, dtype: str) -> StoredArray:
        """Copy a temporary file to its place, in the type it ends up with."""
        self._pad()
        part, held = self.parts[name], "<i8" if name == INDPTR else dtype
        final = _Part(self.file)
        part.file.seek(0)
        left = part.length
        while left:
            piece = np.fromfile(part.file, dtype=held, count=min(left, _PIECE // 8))
            if not len(piece):
                self._refuse("a temporary file was cut short")
            final.append(piece, dtype)
            left -= len(piece)
        return final.stored(name, dtype)

    def _pad(self) -> None:
        position = self.file.tell()
        self.file.write(bytes(aligned(position) - position))

    def _refuse(self, why: str) -> NoReturn:
        reason = f"the rows cannot be written as shards: {why}."
        raise DataFileError(reason, self.path)
