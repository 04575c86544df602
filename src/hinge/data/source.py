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

from hinge.data.compressed import decompressed, failures_named, kind_of
from hinge.data.options import check_claim
from hinge.errors import DataFileError

HEAD_BYTES = 1 << 16

# The ending that the name of a compressed file should have.
COMPRESSED_ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


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
    name = os.fspath(path)
    if isinstance(name, bytes):
        name = os.fsdecode(name)
    if name == "-":
        reason = (
            "standard input cannot be read, since files are read more than once; save it to a "
            "file first (for a file of that name, pass './-')."
        )
        raise DataFileError(reason)
    try:
        status = Path(name).stat()
    except FileNotFoundError:
        reason = "there is no such file; check the name and the folder."
        raise DataFileError(reason, name) from None
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error
    if stat.S_ISDIR(status.st_mode):
        reason = "this is a folder; name one file in it."
        raise DataFileError(reason, name)
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


def unreadable(path: str, error: Exception) -> DataFileError:
    """Return the error for a file that the system does not let us read.

    Parameters
    ----------
    path : str
        The file.
    error : Exception
        What the system said.
    """
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    reason = f"the file cannot be read ({said}); check its name and your permissions."
    return DataFileError(reason, path)


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
        with io.BufferedReader(_Bounded(stream, source, memory_limit), 1 << 20) as contents:
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


class _Bounded(io.RawIOBase):
    """A decompressed stream that ends with an error where it exceeds what is allowed."""

    def __init__(self, stream: Any, source: Source, memory_limit: int | None) -> None:
        self._stream = stream
        self._source = source
        self._limit = memory_limit
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        piece = self._stream.read(len(view))
        self._count += len(piece)
        source = self._source
        check_claim(self._count, "Its contents", source.path, source.size, self._limit)
        view[: len(piece)] = piece
        return len(piece)
