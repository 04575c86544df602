"""Disks that fail while a model is saved: a typed error, the old file intact, nothing left over."""

import contextlib
import errno
import os
import signal
import sys
import time

import pytest
from tests.durable.faults import Failing, error_of
from tests.models.fitted import data, fit

from hinge.models import load, save

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the faults of POSIX")
CALLS = ("open", "scandir", "fstat", "fchmod", "write", "fsync", "replace")


@pytest.fixture(scope="module")
def models():
    X, y = data()
    return fit(X, y, C=1.0), fit(X, y, C=2.0)


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
    for number in range(10):
        save(models[0], path)
        failing = Failing(call, number, code, for_ever)
        failed = error_of(lambda: save(models[1], path), monkeypatch, call, failing)
        done = check_old_or_new(path, failed, code)
        save(models[0], path)
        assert [entry.name for entry in tmp_path.iterdir()] == ["model"]
        if done:
            return
    pytest.fail("no number of successful calls was enough")


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
