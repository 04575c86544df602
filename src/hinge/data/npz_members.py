"""The members of an npz archive: sizes reconciled before a byte is allocated, no pickle."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from types import TracebackType
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hinge.data.source import Source
from hinge.errors import DataFileError

_SMALL_MEMBER = 4096
_PIECE = 16 << 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DEFLATE_RATIO = 1040  # deflate never shrinks further than 1032 times
# What the standard library's zip and npy readers raise at bytes that are no archive.
BAD_BYTES = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    OSError,
    MemoryError,
    SyntaxError,
    TypeError,
    KeyError,
)


class Archive:
    """An npz archive, open for reading.

    Parameters
    ----------
    source : Source
        The file.
    """

    def __init__(self, source: Source) -> None:
        self.path = source.path
        try:
            self._file = zipfile.ZipFile(source.path)
        except BAD_BYTES as error:
            raise damaged(source.path, error) from error
        entries = self._file.infolist()
        self._entries = {
            entry.filename.removesuffix(".npy"): entry
            for entry in entries
            if entry.filename.endswith(".npy")
        }
        if len({entry.filename for entry in entries}) != len(entries):
            self._file.close()
            reason = "two members of the archive have the same name."
            raise DataFileError(reason, source.path)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def names(self) -> list[str]:
        """The names of the arrays."""
        return list(self._entries)

    def member(self, name: str, kinds: str) -> Member:
        """Return an array that is about to be read.

        Parameters
        ----------
        name : str
            Which.
        kinds : str
            The kinds of dtype that it may have.
        """
        entry = self._entries[name]
        if entry.compress_type not in _METHODS:
            reason = f"the array {name!r} is compressed by a method that NumPy does not write."
            raise DataFileError(reason, self.path)
        if entry.file_size > _DEFLATE_RATIO * max(1, entry.compress_size):
            reason = (
                f"the array {name!r} claims {entry.file_size:,} bytes in {entry.compress_size:,}."
            )
            raise DataFileError(reason, self.path)
        try:
            return Member(self._file, entry, name, self.path, kinds)
        except BAD_BYTES as error:
            if isinstance(error, DataFileError):
                raise
            raise damaged(self.path, error) from error


class Member:
    """An array of an archive, read from its first element to its last.

    Parameters
    ----------
    file : ZipFile
        The archive.
    entry : ZipInfo
        The member.
    name : str
        The name of the array.
    path : str
        The file, for messages.
    kinds : str
        The kinds of dtype that the array may have.
    """

    def __init__(
        self, file: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, path: str, kinds: str
    ) -> None:
        self.name = name
        self.path = path
        self._stream = file.open(entry)
        shape, transposed, dtype, header_bytes = _read_header(self._stream)
        if dtype.hasobject or dtype.kind not in kinds or dtype.itemsize == 0:
            reason = (
                f"the array {name!r} has dtype {dtype}; only plain numbers and text are read, "
                "never pickled objects."
            )
            raise DataFileError(reason, path)
        self.shape = shape
        self.dtype = dtype
        self.is_transposed = transposed and len(shape) == 2
        self.nbytes = math.prod(shape) * dtype.itemsize
        if entry.file_size != header_bytes + self.nbytes:
            reason = (
                f"the array {name!r} of shape {shape} needs {self.nbytes:,} bytes and has "
                f"{entry.file_size - header_bytes:,}."
            )
            raise DataFileError(reason, path)

    def small(self) -> NDArray[Any]:
        """Return the whole of an array that has to be small."""
        if self.nbytes > _SMALL_MEMBER:
            reason = f"the array {self.name!r} has {self.nbytes:,} bytes, more than it can mean."
            raise DataFileError(reason, self.path)
        return self._elements(math.prod(self.shape)).reshape(self.shape)

    def take(self, count: int) -> NDArray[Any]:
        """Return the next slices along the first axis, or of a transposed array along the second.

        Parameters
        ----------
        count : int
            How many.
        """
        inner = self.shape[:1] if self.is_transposed else self.shape[1:]
        return self._elements(count * math.prod(inner)).reshape(count, *inner)

    def _elements(self, count: int) -> NDArray[Any]:
        array = np.empty(count, dtype=self.dtype)
        room = array.view(np.uint8).data
        filled = 0
        try:
            while filled < len(room):
                piece = self._stream.read(min(_PIECE, len(room) - filled))
                if not piece:
                    message = f"the array {self.name!r} ends early"
                    raise EOFError(message)
                room[filled : filled + len(piece)] = piece
                filled += len(piece)
        except BAD_BYTES as error:
            raise damaged(self.path, error) from error
        if self.dtype.kind == "U" and count:
            self._check_characters(array)
        return array

    def _check_characters(self, array: NDArray[Any]) -> None:
        codes = array.view(np.dtype(np.uint32).newbyteorder(self.dtype.byteorder))
        if (codes > 0x10FFFF).any() or ((codes >= 0xD800) & (codes < 0xE000)).any():
            reason = f"the array {self.name!r} holds characters that do not exist."
            raise DataFileError(reason, self.path)


def damaged(path: str, error: Exception) -> DataFileError:
    """Return the error for bytes that are no npz archive.

    Parameters
    ----------
    path : str
        The file.
    error : Exception
        What the reader said.
    """
    said = str(error).split("\n", 1)[0][:200]
    reason = f"this is not a sound npz archive ({said}); write or download it again."
    return DataFileError(reason, path)


def _read_header(stream: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Return shape, whether columns come first, dtype, and the length of the header."""
    version = npy.read_magic(stream)
    if version == (1, 0):
        shape, transposed, dtype = npy.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, transposed, dtype = npy.read_array_header_2_0(stream)
    else:
        reason = f"npy format version {version} is not read"
        raise ValueError(reason)
    if any(extent < 0 for extent in shape):
        reason = f"an array has shape {shape}"
        raise ValueError(reason)
    return shape, transposed, dtype, stream.tell()
