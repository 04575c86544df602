"""Files that are either the old one or the new one, never a part of one.

A file is written beside its destination under a passing name, flushed to the disk, renamed over
the destination, and then the folder is flushed too. Whoever dies on the way leaves the old file
and perhaps a partial one; the next save in that folder removes partial files whose writer is
dead. A living writer holds a lock on its own, so it is never robbed.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows: no locks, but an open file cannot be removed there either
    fcntl = None  # type: ignore[assignment]

PARTIAL_SUFFIX = ".hinge-partial"
_NOT_FOR_FOLDERS = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # where folders cannot be flushed


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a binary file to write; what was written appears under the path at once and whole.

    If the body raises, or anything fails before the last step, the path is as it was before.

    Parameters
    ----------
    path : str or path-like
        Where the file shall be. A link is followed. What is there must be a regular file, whose
        permissions the new one takes over.

    Yields
    ------
    file : binary file
        Open for reading, writing and seeking.

    Raises
    ------
    OSError
        If the file cannot be written; names the path. What the body raises is passed on as it
        is, so that an error of another file keeps the path of that one. Only if the message says
        that the file was replaced is it the new one, complete, but perhaps not yet safe from a
        power cut.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "numbers")
    ...     with atomic_write(path) as file:
    ...         size = file.write(b"1 2 3")
    ...     path.read_bytes()
    b'1 2 3'
    """
    target = Path(os.path.realpath(path))
    with _naming(target):
        mode = _mode_of_existing(target)
        _remove_abandoned(target.parent)
        partial, descriptor = _create_partial(target.parent)
    try:
        with _opened(descriptor, target) as file:
            if mode is not None:
                with _naming(target):
                    os.fchmod(file.fileno(), mode)
            yield file  # what the body raises is its own affair, and keeps its own path
            with _naming(target):
                file.flush()
                os.fsync(file.fileno())
                _rename(partial, target, file)
    except BaseException:
        # A partial file that cannot even be removed is left to the next save.
        with contextlib.suppress(OSError):
            partial.unlink()
        raise


class _NamedFile(io.FileIO):
    """A file whose failing writes name the path that the caller knows."""

    def __init__(self, descriptor: int, target: Path) -> None:
        super().__init__(descriptor, "r+b")
        self._target = target

    def write(self, content: Any) -> int:
        with _naming(self._target):
            return os.write(self.fileno(), content)


@contextlib.contextmanager
def _opened(descriptor: int, target: Path) -> Iterator[BinaryIO]:
    """Give the file of a descriptor; closing it can fail no more than what came before."""
    try:
        file = io.BufferedRandom(_NamedFile(descriptor, target))
    except BaseException:
        os.close(descriptor)
        raise
    try:
        yield file
    finally:
        # By now everything is on the disk, or there is an error already that says why not.
        with contextlib.suppress(OSError):
            file.close()


def _rename(partial: Path, target: Path, file: BinaryIO) -> None:
    """Put the finished file in its place and flush the folder."""
    if os.name == "nt":
        file.close()  # an open file cannot be renamed there, and a folder cannot be flushed
        partial.replace(target)
        return
    folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # Still open, so still locked: nobody takes it for an abandoned one.
        partial.replace(target)
        try:
            os.fsync(folder)
        except OSError as error:
            if error.errno not in _NOT_FOR_FOLDERS:
                reason = f"{error.strerror}; the file was replaced, but may not survive a power cut"
                raise OSError(error.errno, reason) from error
    finally:
        os.close(folder)


def _mode_of_existing(target: Path) -> int | None:
    """Return the permissions of what is at the path, None if nothing is; refuse odd files."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        reason = "not a regular file, so it cannot be replaced by one"
        raise OSError(errno.EINVAL, reason)
    return stat.S_IMODE(found.st_mode)


def _create_partial(folder: Path) -> tuple[Path, int]:
    """Return a new, locked file in the folder: its path and its descriptor."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    while True:
        # The name of the destination is left out: with it the name could become too long.
        partial = folder / f".{os.getpid()}-{secrets.token_hex(8)}{PARTIAL_SUFFIX}"
        descriptor = os.open(partial, flags, 0o666)
        try:
            _lock(descriptor)
            if os.fstat(descriptor).st_nlink > 0:
                return partial, descriptor
        except BaseException:
            os.close(descriptor)
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
        os.close(descriptor)  # somebody took it for an abandoned one before it was locked


def _remove_abandoned(folder: Path) -> None:
    """Remove partial files whose writer is dead; whatever cannot be removed stays."""
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.endswith(PARTIAL_SUFFIX)]
    for entry in found:
        with contextlib.suppress(OSError):
            if entry.is_file(follow_symlinks=False):
                _remove_unless_locked(Path(entry.path))


def _remove_unless_locked(partial: Path) -> None:
    if fcntl is None:
        partial.unlink()
        return
    descriptor = os.open(partial, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        partial.unlink()
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    """Lock a partial file as long as it is open; a file system without locks goes without."""
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def _naming(target: Path) -> Iterator[None]:
    """Give every error of the operating system the path that the caller knows."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename == str(target):
            raise
        raise OSError(error.errno, error.strerror, str(target)) from error
