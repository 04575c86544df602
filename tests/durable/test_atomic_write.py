"""Old or new, never a part: what atomic_write leaves behind, whatever happens on the way."""

import contextlib
import errno
import os
import signal
import stat
from pathlib import Path

import pytest
from tests.durable.faults import Failing, error_of

from hinge import durable
from hinge.durable import PARTIAL_SUFFIX, atomic_write

posix_only = pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def partial_files(folder: Path) -> list[str]:
    return [name for name in names(folder) if name.endswith(PARTIAL_SUFFIX)]


def write(path: Path, content: bytes) -> None:
    with atomic_write(path) as file:
        file.write(content)


def test_a_new_file_appears_only_at_the_end(tmp_path):
    path = tmp_path / "file"
    with atomic_write(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
        file.write(b" and half")
    assert path.read_bytes() == b"half and half"
    assert names(tmp_path) == ["file"]


def test_an_old_file_stays_when_the_body_raises(tmp_path):
    path = tmp_path / "file"
    write(path, b"old")
    with pytest.raises(TypeError), atomic_write(path) as file:
        file.write("text")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_ctrl_c_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyboardInterrupt), atomic_write(tmp_path / "file"):
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_an_error_of_another_file_keeps_the_path_of_that_one(tmp_path):
    missing = tmp_path / "input"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "output") as file:
        file.write(missing.read_bytes())
    assert caught.value.filename == str(missing)
    assert names(tmp_path) == []


def test_an_error_of_the_body_without_a_path_is_not_given_one(tmp_path):
    def lines():
        yield b"first"
        raise OSError(errno.EIO, "the input cannot be read on")

    with (
        pytest.raises(OSError, match="the input cannot be read on") as caught,
        atomic_write(tmp_path / "output") as file,
    ):
        file.writelines(lines())
    assert caught.value.filename is None
    assert names(tmp_path) == []


def test_the_file_can_be_read_and_sought(tmp_path):
    with atomic_write(tmp_path / "file") as file:
        file.write(b"abcdef")
        file.seek(2)
        assert file.read(2) == b"cd"
        file.seek(0)
        file.write(b"X")
    assert (tmp_path / "file").read_bytes() == b"Xbcdef"


def test_a_long_name_is_no_problem(tmp_path):
    path = tmp_path / ("n" * 255)
    write(path, b"content")
    assert path.read_bytes() == b"content"


@posix_only
def test_permissions_are_kept_and_new_files_follow_the_umask(tmp_path):
    path = tmp_path / "file"
    before = os.umask(0o027)
    try:
        write(path, b"new")
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        write(path, b"newer")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        os.umask(before)


@posix_only
def test_a_link_is_followed_and_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "file"
    target.write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    assert names(tmp_path / "real") == ["file"]


def test_a_missing_folder_is_named(tmp_path):
    path = tmp_path / "nowhere" / "file"
    with pytest.raises(FileNotFoundError) as caught, atomic_write(path):
        pytest.fail("the body must not run")
    assert caught.value.filename == str(path.resolve())


def test_a_folder_cannot_be_replaced(tmp_path):
    with pytest.raises(IsADirectoryError) as caught, atomic_write(tmp_path):
        pytest.fail("the body must not run")
    assert caught.value.filename == str(tmp_path.resolve())


@posix_only
def test_a_pipe_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"), atomic_write(path):
        pytest.fail("the body must not run")
    assert stat.S_ISFIFO(path.stat().st_mode)


@posix_only
def test_files_of_dead_writers_are_removed_and_those_of_living_ones_not(tmp_path):
    abandoned = tmp_path / f".1-00{PARTIAL_SUFFIX}"
    abandoned.write_bytes(b"part")
    with atomic_write(tmp_path / "first") as first:
        assert not abandoned.exists()
        write(tmp_path / "second", b"second")
        assert len(partial_files(tmp_path)) == 1
        first.write(b"first")
    assert names(tmp_path) == ["first", "second"]
    assert (tmp_path / "first").read_bytes() == b"first"


@posix_only
def test_what_only_looks_like_a_partial_file_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_bytes(b"kept")
    link = tmp_path / f"link{PARTIAL_SUFFIX}"
    link.symlink_to(precious)
    write(tmp_path / "file", b"new")
    assert precious.read_bytes() == b"kept"
    assert link.is_symlink()


@posix_only
def test_a_writer_robbed_before_it_held_its_lock_starts_again(tmp_path, monkeypatch):
    robbed = []

    def lock_too_late(_: int) -> None:
        if not robbed:
            robbed.extend(partial_files(tmp_path))
            (tmp_path / robbed[0]).unlink()

    monkeypatch.setattr(durable, "_lock", lock_too_late)
    write(tmp_path / "file", b"content")
    assert robbed
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"content"


@posix_only
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for-ever"])
@pytest.mark.parametrize("call", ["open", "fstat", "fchmod", "write", "fsync", "scandir"])
def test_every_failing_call_is_an_error_that_names_the_file(
    tmp_path, monkeypatch, call, for_ever, code
):
    path = tmp_path / "file"
    write(path, b"old")
    for number in range(8):
        failing = Failing(call, number, code, for_ever)
        failed = error_of(lambda: write(path, b"new"), monkeypatch, call, failing)
        content = path.read_bytes()
        if failed is None:
            assert content == b"new"
            break
        assert failed.errno == code
        assert failed.filename == str(path.resolve())
        replaced = "was replaced" in str(failed)
        assert content == (b"new" if replaced else b"old")
        write(path, b"old")
        assert names(tmp_path) == ["file"]
    else:
        pytest.fail("no number of successful calls was enough")


@posix_only
def test_a_full_disk_while_writing_leaves_the_old_file(tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "file"
    write(path, b"old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
        with pytest.raises(OSError) as caught:
            write(path, bytes(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.errno == errno.EFBIG
    assert caught.value.filename == str(path.resolve())
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


@posix_only
def test_where_a_folder_cannot_be_flushed_the_save_succeeds(tmp_path, monkeypatch):
    genuine = os.fsync

    def fsync(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        genuine(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    write(tmp_path / "file", b"content")
    assert (tmp_path / "file").read_bytes() == b"content"


@posix_only
def test_a_partial_file_that_cannot_be_removed_does_not_hide_the_error(tmp_path, monkeypatch):
    def unlink(*_):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.raises(ZeroDivisionError), atomic_write(tmp_path / "file"):
            1 / 0  # noqa: B018
    assert len(partial_files(tmp_path)) == 1
    with contextlib.suppress(OSError):
        write(tmp_path / "file", b"content")
    assert names(tmp_path) == ["file"]
