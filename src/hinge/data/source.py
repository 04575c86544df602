"""The file behind a path: whether it can be read at all, and what its first bytes say it is."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from hinge.data.compressed import decompressed, failures_named, kind_of, unreadable
from hinge.data.options import check_claim
from hinge.errors import DataFileError, InvalidParameterError

HEAD_BYTES = 1 << 16
_READ_AT_ONCE = 1 << 20

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class Source:
    """A regular file that is not empty and can be opened.

    Parameters
    ----------
    path : str
        The file, as the caller named it.
    size : int
        How many bytes it has.
    head : bytes
        Its first bytes.
    """

    path: str
    size: int
    head: bytes

    @property
    def compression(self) -> str | None:
        """The compression that the first bytes tell of, or None."""
        return kind_of(self.head)

    @property
    def endings(self) -> tuple[str, ...]:
        """The endings of the name in lower case, outermost first: (".gz", ".csv")."""
        return tuple(ending.lower() for ending in reversed(Path(self.path).suffixes))


def open_source(path: str | os.PathLike[str]) -> Source:
    """Look at the file, or say in one sentence why it cannot be read.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    Source
        What is known of it.
    """
    name = file_name(path)
    if name == "-":
        reason = (
            "standard input cannot be read, since files are read more than once; save it to a "
            "file first (for a file of that name, pass './-')."
        )
        raise DataFileError(reason)
    try:
        status = Path(name).stat()
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise unreadable(name, IsADirectoryError())
    if not stat.S_ISREG(status.st_mode):
        reason = "this is not a regular file (a pipe or a device); save its contents to a file."
        raise DataFileError(reason, name)
    if status.st_size == 0:
        reason = "the file is empty; check that whatever wrote it had finished."
        raise DataFileError(reason, name)
    try:
        with Path(name).open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise unreadable(name, error) from error
    return Source(name, status.st_size, head)


def file_name(path: str | bytes | os.PathLike[str]) -> str:
    """Return a path as text, or refuse what is no path.

    Parameters
    ----------
    path : str, bytes or path-like
        What the caller gave.
    """
    try:
        name = os.fsdecode(path)
    except TypeError as error:
        message = f"path must be the name of a file; got {path!r} of type {type(path).__name__}."
        raise InvalidParameterError(message) from error
    if "\0" in name:
        raise unreadable(name, ValueError("a NUL character in its name"))
    return name


@contextmanager
def open_bytes(source: Source, memory_limit: int | None = None) -> Iterator[BinaryIO]:
    """Open the file for reading, decompressed, with a bound on what comes out of it.

    Parameters
    ----------
    source : Source
        The file.
    memory_limit : int or None, default=None
        How many bytes may come out of a compressed file; None bounds them by its size.

    Yields
    ------
    binary file object
        The contents; it cannot be rewound.
    """
    with failures_named(source.path), Path(source.path).open("rb") as raw:
        stream, compression = decompressed(raw)
        if compression is None:
            yield raw
            return
        bounded = Bounded(stream, source.path, source.size, memory_limit)
        with io.BufferedReader(bounded, 1 << 20) as contents:
            yield contents


def peek(source: Source) -> bytes:
    """Return the first bytes of the contents, decompressed.

    Parameters
    ----------
    source : Source
        The file.
    """
    if source.compression is None:
        return source.head
    with open_bytes(source) as contents:
        return contents.read(HEAD_BYTES)


class Bounded(io.RawIOBase):
    """A decompressed stream that ends with an error where it exceeds what is allowed.

    Parameters
    ----------
    stream : binary file
        What comes out of the compressed file.
    path : str
        That file.
    file_bytes : int
        Its size.
    memory_limit : int or None
        How many bytes may come out of it; None bounds them by its size.
    """

    def __init__(self, stream: Any, path: str, file_bytes: int, memory_limit: int | None) -> None:
        self._stream = stream
        self._path = path
        self._file_bytes = file_bytes
        self._limit = memory_limit
        self._count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a part of the buffer; return how many bytes."""
        view = memoryview(buffer)[:_READ_AT_ONCE]
        piece = self._stream.read(len(view))
        self._count += len(piece)
        check_claim(
            self._count, "Its contents", self._path, self._file_bytes, self._limit, is_total=False
        )
        view[: len(piece)] = piece
        return len(piece)
