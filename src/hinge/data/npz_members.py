"""The members of an npz archive: sizes reconciled before a byte is allocated, no pickle."""

from __future__ import annotations

import math
import re
import struct
import zipfile
import zlib
from typing import Any

import numpy as np
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
)
_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {b"\x01\x00": 2, b"\x02\x00": 4}  # how long the length is, by version
_LONGEST_HEADER = 1 << 16
_HEADER = re.compile(
    r"\{'descr': (?P<descr>.{1,60000}), 'fortran_order': (?P<transposed>True|False), "
    r"'shape': \((?P<shape>(?:[0-9]{1,18}(?:, ?|(?=\))))*)\), ?\}[ ]*\n?"
)
_TYPE = re.compile(r"'(?P<type>[<>|=](?P<kind>[biufUSc])[0-9]{1,9})'")


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
        self._streams: list[Any] = []
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

    def __exit__(self, *_: object) -> None:
        for stream in self._streams:  # the file stays open as long as one of them does
            stream.close()
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
            self._streams.append(self._file.open(entry))
            return Member(self._streams[-1], entry.file_size, name, self.path, kinds)
        except BAD_BYTES as error:
            if isinstance(error, DataFileError):
                raise
            raise damaged(self.path, error) from error


class Member:
    """An array of an archive, read from its first element to its last.

    Parameters
    ----------
    stream : binary file object
        The decompressed bytes.
    size : int
        How many of them the archive promises.
    name : str
        The name of the array.
    path : str
        The file, for messages.
    kinds : str
        The kinds of dtype that the array may have.
    """

    def __init__(self, stream: Any, size: int, name: str, path: str, kinds: str) -> None:
        self.name = name
        self.path = path
        self._stream = stream
        shape, transposed, text, header_bytes = _read_header(stream)
        dtype = _plain_type(text, kinds)
        if dtype is None:
            reason = (
                f"the array {name!r} has type {text[:60]}, which it cannot have here; plain "
                "numbers and text are read, never pickled objects."
            )
            raise DataFileError(reason, path)
        self.shape = shape
        self.dtype = dtype
        self.is_transposed = transposed and len(shape) == 2
        self.nbytes = math.prod(shape) * dtype.itemsize
        if size != header_bytes + self.nbytes:
            reason = (
                f"the array {name!r} of shape {shape} needs {self.nbytes:,} bytes and has "
                f"{size - header_bytes:,}."
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


def _read_header(stream: Any) -> tuple[tuple[int, ...], bool, str, int]:
    """Return shape, whether columns come first, the type as text, and the header's length.

    What NumPy writes is matched as text: its own reader evaluates the header as Python.
    """
    start = stream.read(len(_MAGIC) + 2)
    width = _LENGTH_BYTES.get(start[len(_MAGIC) :])
    if start[: len(_MAGIC)] != _MAGIC or width is None:
        message = "a member is not an array of npy format 1.0 or 2.0"
        raise ValueError(message)
    length = int.from_bytes(stream.read(width), "little")
    if length > _LONGEST_HEADER:
        message = f"the header of an array claims {length:,} bytes"
        raise ValueError(message)
    text = stream.read(length)
    match = _HEADER.fullmatch(text.decode("latin-1"))
    if len(text) != length or match is None:
        message = "the header of an array is malformed"
        raise ValueError(message)
    shape = tuple(int(extent) for extent in match["shape"].replace(",", " ").split())
    header_bytes = len(start) + width + length
    return shape, match["transposed"] == "True", match["descr"], header_bytes


def _plain_type(text: str, kinds: str) -> np.dtype[Any] | None:
    """Return the type that a header names if it is a plain one of these kinds, else None."""
    match = _TYPE.fullmatch(text)
    if match is None or match["kind"] not in kinds:
        return None
    try:
        dtype = np.dtype(match["type"])
    except TypeError:
        return None
    return dtype if dtype.itemsize else None
