"""Fixtures and settings that every test shares."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from hinge import block_map
from hinge.solvers import auto, costs
from hinge.solvers.linear import interior_point, newton

# No deadline: how long an example takes is not a property of the code on a shared machine.
settings.register_profile("default", deadline=None)
settings.register_profile(
    "ci", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "sanitized",
    deadline=None,
    derandomize=True,
    max_examples=5,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

_DEFAULT_SEEDS = "0"


def _seeds(text: str) -> list[int]:
    """Read ``HINGE_TEST_SEEDS``: one seed, or an inclusive range such as ``0-9``."""
    first, _, last = text.partition("-")
    try:
        return list(range(int(first), int(last or first) + 1))
    except ValueError:
        message = f"HINGE_TEST_SEEDS must be a seed or a range such as 0-9; got {text!r}"
        raise pytest.UsageError(message) from None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for ``seed`` once for each seed of ``HINGE_TEST_SEEDS``."""
    if "seed" in metafunc.fixturenames:
        text = os.environ.get("HINGE_TEST_SEEDS", _DEFAULT_SEEDS)
        metafunc.parametrize("seed", _seeds(text))


@pytest.fixture(scope="session", autouse=True)
def _answers_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, also where a shell in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def little_work_is_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share out passes that are too short for it to pay."""
    for module in (block_map, interior_point, newton):
        monkeypatch.setattr(module, "_WORTH_SHARING", 0)
    for method in (interior_point, newton):
        monkeypatch.setattr(method, "_WORTH_HANDING_OVER", 0)


@pytest.fixture(scope="session")
def hinge_data() -> Path:
    """Return the folder of the real data sets; a test that needs it is skipped without one."""
    folder = os.environ.get("HINGE_DATA")
    if not folder:
        pytest.skip("HINGE_DATA does not name the folder of the data sets")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"HINGE_DATA={folder!r} is not a folder")
    return path


@pytest.fixture
def small_data_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one method follow another on small data, which primal-newton would take at once."""
    for models in (costs.COSTS, costs.COSTS_APART):
        monkeypatch.delitem(models, auto.SHORT)
