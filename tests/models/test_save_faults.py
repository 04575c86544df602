"""Disks that fail while a model is saved: a typed error, the old file intact, nothing left over."""

import contextlib
import errno
import io
import os
import signal
import sys
import time

import pytest
from tests.models.fitted import data, fit

from hinge.models import load, save

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the faults of POSIX")
CALLS = ("open", "fdopen", "scandir", "fstat", "fchmod", "fsync", "replace")


@pytest.fixture(scope="module")
def models():
    X, y = data()
    return fit(X, y, C=1.0), fit(X, y, C=2.0)


class FaultyFile(io.BufferedRandom):
    """A file on a disk that fails from the n-th write or flush on, or only then."""

    def __init__(self, raw, number: int, code: int, for_ever: bool) -> None:
        super().__init__(raw)
        self.left, self.code, self.for_ever = number, code, for_ever

    def _fail_if_due(self) -> None:
        self.left -= 1
        if self.left == -1 or (self.left < 0 and self.for_ever):
            raise OSError(self.code, os.strerror(self.code))

    def write(self, content) -> int:
        self._fail_if_due()
        return super().write(content)

    def flush(self) -> None:
        self._fail_if_due()
        super().flush()


def check_old_or_new(path, failed: OSError | None, code: int) -> bool:
    """Return whether the save went through; the file must be what the error says."""
    C = load(path).C
    if failed is None:
        assert C == 2.0
        return True
    assert failed.errno == code
    assert failed.filename == str(path.resolve())
    assert (2.0 if "was replaced" in str(failed) else 1.0) == C
    return False


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for-ever"])
@pytest.mark.parametrize("call", CALLS)
def test_a_call_that_fails(tmp_path, monkeypatch, models, call, for_ever, code):
    path = tmp_path / "model"
    genuine = getattr(os, call)
    for number in range(10):
        save(models[0], path)
        calls = iter(range(1000))

        def failing(*arguments, _calls=calls, _number=number, **options):
            count = next(_calls)
            if count == _number or (for_ever and count > _number):
                raise OSError(code, os.strerror(code))
            return genuine(*arguments, **options)

        failed = None
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            try:
                save(models[1], path)
            except OSError as error:
                failed = error
        done = check_old_or_new(path, failed, code)
        save(models[0], path)
        assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
        if done:
            return
    pytest.fail("no number of successful calls was enough")


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("for_ever", [False, True], ids=["once", "for-ever"])
@pytest.mark.parametrize("number", range(4))
def test_a_write_that_fails(tmp_path, monkeypatch, models, number, for_ever, code):
    path = tmp_path / "model"
    save(models[0], path)
    failed = None
    with monkeypatch.context() as patch:
        faulty = lambda fd, _: FaultyFile(io.FileIO(fd, "r+"), number, code, for_ever)  # noqa: E731
        patch.setattr(os, "fdopen", faulty)
        try:
            save(models[1], path)
        except OSError as error:
            failed = error
    assert failed is not None or number > 1
    check_old_or_new(path, failed, code)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks a process with threads")
@pytest.mark.parametrize("delay", [0.0, 0.001, 0.003, 0.005, 0.008, 0.012, 0.02])
def test_a_killed_save_leaves_the_old_or_the_new(tmp_path, models, delay):
    path = tmp_path / "model"
    contents = []
    for model in models:
        save(model, path)
        contents.append(path.read_bytes())
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            while True:
                save(models[0], path)
                save(models[1], path)
        os._exit(1)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert path.read_bytes() in contents
    save(models[0], path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
