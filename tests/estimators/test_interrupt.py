"""Ctrl-C ends a fit soon, keeps the best model found, and leaves the process as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest
from tests.estimators.data import three_classes, two_classes

from hinge import Interrupted, LinearSVC, Status


@pytest.fixture(autouse=True)
def default_handler() -> Any:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class PressOnce:
    """A callback that presses Ctrl-C the first time; a second press would mean: at once."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, _: Any) -> None:
        if not self.pressed:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_model_is_kept(data: Any, n_jobs: int) -> None:
    X, y = data()
    model = LinearSVC(tol=0, n_jobs=n_jobs, callback=PressOnce())
    with pytest.raises(Interrupted, match="the model found so far is kept") as caught:
        model.fit(X, y)
    begun = [s for s in model.solutions_ if "before this class began" not in str(s.certificate)]
    assert caught.value.solutions == tuple(begun)
    assert caught.value.solution is begun[-1]
    if n_jobs == 1:
        assert len(begun) == 1
        assert begun[0].steps > 0
    assert len(model.solutions_) == (1 if data is two_classes else 3)
    assert {solution.status for solution in model.solutions_} == {Status.INTERRUPTED}
    assert max(solution.steps for solution in model.solutions_) > 0
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict(X).shape == y.shape
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_a_keyboard_interrupt_and_the_next_fit_works() -> None:
    X, y = two_classes()
    with pytest.raises(KeyboardInterrupt):
        LinearSVC(tol=0, callback=PressOnce()).fit(X, y)
    assert LinearSVC().fit(X, y).solution_.status is Status.SOLVED


def test_a_second_one_ends_it_at_once() -> None:
    X, y = three_classes()

    def press_twice(_: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    for n_jobs in (1, 2):
        with pytest.raises(KeyboardInterrupt) as caught:
            LinearSVC(tol=0, callback=press_twice, n_jobs=n_jobs).fit(X, y)
        assert not isinstance(caught.value, Interrupted)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_arrives_while_native_code_runs(n_jobs: int) -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20_000, 60)), random.integers(0, 3, size=20_000)
    model = LinearSVC(C=1e3, loss="hinge", tol=0, max_iter=10**9, n_jobs=n_jobs)
    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(Interrupted):
        model.fit(X, y)
    timer.join()
    assert model.coef_.shape == (3, 60)


@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(np.random.default_rng(0).normal(size=(20_000, 4))),
        np.random.default_rng(0).integers(0, 9, size=(20_000, 4)),
        np.random.default_rng(0).normal(size=(40_000, 4))[::2],
    ],
    ids=["order", "type", "strides"],
)
def test_it_does_not_wait_for_the_copy_of_an_array(
    X: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = []
    copyto = np.copyto

    def press_after_the_first_part(*arguments: Any, **options: Any) -> None:
        copyto(*arguments, **options)
        copied.append(arguments[0].size)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(np, "copyto", press_after_the_first_part)
    with pytest.raises(KeyboardInterrupt):
        LinearSVC().fit(X, np.arange(len(X)) % 2)
    assert len(copied) == 1
    assert copied[0] < X.size / 2


def test_fits_in_other_threads_leave_signals_alone() -> None:
    X, y = two_classes()
    models: list[LinearSVC] = []
    worker = threading.Thread(target=lambda: models.append(LinearSVC().fit(X, y)))
    worker.start()
    worker.join()
    assert models[0].solution_.status is Status.SOLVED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_script_can_catch_it() -> None:
    script = (
        "import os, signal\n"
        "import numpy as np, hinge\n"
        "X = np.random.default_rng(0).normal(size=(2000, 20)); y = np.arange(2000) % 2\n"
        "def interrupt(event): os.kill(os.getpid(), signal.SIGINT)\n"
        "model = hinge.LinearSVC(tol=0, callback=interrupt)\n"
        "try:\n"
        "    model.fit(X, y)\n"
        "except KeyboardInterrupt as stopped:\n"
        "    print(type(stopped).__name__, model.predict(X).shape)\n"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.stdout == "Interrupted (2000,)\n", run.stderr
