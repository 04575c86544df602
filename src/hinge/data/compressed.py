"""Files as streams of bytes, decompressed on the way where they are compressed.

What a file is compressed with is read from its first bytes, not from its name. A stream hands out
what is asked for and no more, so that a few bytes that stand for gigabytes cost no memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol, cast

from hinge.errors import DataFileError, MissingDependencyError

#: The first bytes of compressed files.
MAGIC = {
    "gzip": b"\x1f\x8b",
    "bzip2": b"BZh",
    "xz": b"\xfd7zXZ\x00",
    "zstd": b"\x28\xb5\x2f\xfd",
}
#: The ending that the name of a compressed file should have.
COMPRESSED_ENDINGS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_LONGEST_MAGIC = 6
_INPUT_BYTES = 1 << 16
_XZ_MEMORY = 1 << 29  # a file may ask for a dictionary of gigabytes
# Four bytes of zstd can stand for 128 kB and its decompressor knows no limit, so it gets its input
# in small portions: at most 8 MB come of one.
_ZSTD_INPUT_BYTES = 256


class _Decompressor(Protocol):
    """The part of the standard library's decompressors that is used here."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _ZstdError(Exception):
    """What the optional package says is wrong with a frame."""


class _Zstd:
    """One zstd frame, behind the methods of the standard library's decompressors."""

    def __init__(self) -> None:
        package = _zstandard()
        self._failure: type[Exception] = package.ZstdError
        self._frame = package.ZstdDecompressor().decompressobj()
        self._input = b""
        self._begin = 0  # of what is left of the input
        self._output = b""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if data:
            self._input, self._begin = self._input[self._begin :] + data, 0
        if not self._output and self._begin < len(self._input):
            end = self._begin + _ZSTD_INPUT_BYTES
            portion, self._begin = self._input[self._begin : end], end
            try:
                self._output = self._frame.decompress(portion)
            except self._failure as error:
                raise _ZstdError(str(error)) from error
        given, self._output = self._output[:max_length], self._output[max_length:]
        return given

    @property
    def eof(self) -> bool:
        return bool(self._frame.eof) and not self._output

    @property
    def needs_input(self) -> bool:
        return self._begin >= len(self._input) and not self._output and not self._frame.eof

    @property
    def unused_data(self) -> bytes:
        return bytes(self._frame.unused_data) + self._input[self._begin :]


def _zstandard() -> Any:
    try:
        import zstandard  # noqa: PLC0415 - an optional package
    except ImportError as error:
        message = "Files compressed with zstd need the package zstandard: pip install 'hinge[io]'."
        raise MissingDependencyError(message) from error
    return zstandard


class _Frames(io.RawIOBase):
    """Compressed frames, one after the other, as one stream."""

    def __init__(self, file: IO[bytes], make: Callable[[], _Decompressor], pause: bytes) -> None:
        self._file = file
        self._make = make
        self._pause = pause
        self._frame = make()
        self._next = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = len(buffer)
        while wanted:
            if self._frame.eof and not self._begin_frame():
                break
            data = b""
            if self._frame.needs_input:
                data = self._next or self._file.read(_INPUT_BYTES)
                self._next = b""
                if not data:
                    message = "Compressed file ended before the end-of-stream marker was reached"
                    raise EOFError(message)
            text = self._frame.decompress(data, wanted)
            if text:
                buffer[: len(text)] = text
                return len(text)
        return 0

    def _begin_frame(self) -> bool:
        """Go on to the next frame; return whether there is one."""
        rest = self._frame.unused_data.lstrip(self._pause)
        while not rest:
            rest = self._file.read(_INPUT_BYTES)
            if not rest:
                return False
            rest = rest.lstrip(self._pause)
        self._frame = self._make()
        self._next = rest
        return True


def _xz() -> _Decompressor:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)


def kind_of(first_bytes: bytes) -> str | None:
    """Return what a file with these first bytes is compressed with, or None."""
    for kind, magic in MAGIC.items():
        if first_bytes.startswith(magic):
            return kind
    return None


def decompressed(file: Any) -> tuple[IO[bytes], str | None]:
    """Return the stream of what a file holds, and what it was compressed with.

    Parameters
    ----------
    file : binary file
        A buffered reader at its beginning.

    Returns
    -------
    stream : binary file
        Delivers the decompressed bytes; the file itself if it is not compressed.
    kind : str or None
        ``"gzip"``, ``"bzip2"``, ``"xz"``, ``"zstd"`` or None.
    """
    kind = kind_of(file.peek(_LONGEST_MAGIC)[:_LONGEST_MAGIC])
    stream: Any = file
    if kind == "gzip":
        stream = gzip.GzipFile(fileobj=file, mode="rb")
    elif kind == "bzip2":
        stream = _Frames(file, bz2.BZ2Decompressor, b"")
    elif kind == "xz":
        stream = _Frames(file, _xz, b"\0")
    elif kind == "zstd":
        stream = _Frames(file, _Zstd, b"")
    return stream, kind


def compressed(file: IO[bytes], path: str | os.PathLike[str]) -> IO[bytes]:
    """Return a stream that compresses into a file as the ending of its path says.

    Parameters
    ----------
    file : binary file
        Where the compressed bytes go; it stays open when the stream is closed.
    path : str or path
        The name whose ending decides: ``.gz``, ``.bz2``, ``.xz``, ``.zst``, or none of these.

    Returns
    -------
    binary file
        The stream to write to and to close; the file itself if the name asks for no compression.
    """
    kind = COMPRESSED_ENDINGS.get(Path(path).suffix.lower())
    if kind == "gzip":
        return cast("IO[bytes]", gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0))
    if kind == "bzip2":
        return bz2.BZ2File(file, "wb")
    if kind == "xz":
        return lzma.LZMAFile(file, "wb")
    if kind == "zstd":
        stream = _zstandard().ZstdCompressor().stream_writer(file, closefd=False)
        return cast("IO[bytes]", stream)
    return file


def unreadable(path: str, error: Exception) -> DataFileError:
    """Return the error for a file that cannot be opened, read or decompressed.

    Parameters
    ----------
    path : str
        The file.
    error : Exception
        What the system or the decompressor said.
    """
    said = str(error)
    if isinstance(error, FileNotFoundError):
        reason = "there is no such file; check the name and the folder."
    elif isinstance(error, IsADirectoryError):
        reason = "this is a folder; name one file in it."
    elif isinstance(error, EOFError):
        reason = "the compressed data end too early: the file is cut off; fetch it again."
    elif isinstance(error, ValueError) or getattr(error, "strerror", None):
        said = getattr(error, "strerror", said)
        reason = f"the file cannot be read ({said}); check its name and your permissions."
    else:
        reason = f"the compressed data are damaged ({said}); fetch the file again."
    return DataFileError(reason, path)


def unwritable(path: str, error: OSError) -> DataFileError:
    """Return the error for a file that the system does not let us write.

    Parameters
    ----------
    path : str
        The file.
    error : OSError
        What the system said.
    """
    reason = (
        f"the file cannot be written ({error.strerror or error}); check the folder, the "
        "permissions and the space on the disk."
    )
    return DataFileError(reason, path)


@contextmanager
def failures_named(path: str) -> Iterator[None]:
    """Turn the failures of opening, reading and decompressing a file into a DataFileError."""
    try:
        yield
    except (OSError, EOFError, zlib.error, lzma.LZMAError, _ZstdError) as error:
        raise unreadable(path, error) from error
