"""A fit takes no more than its cache, a tenth of it, and the data once more."""

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.measured_memory import needs_true_memory

from hinge import Problem, Stop, solve
from hinge.machines.pages import LEAST_BYTES, empty_pages
from hinge.solvers import SMO, Decomposition
from hinge.solvers.kernel.dual_solver import DualSolver
from hinge.solvers.kernel.set_memory import SetMemory, beyond_slack, left_for_rows

# Fits in a process of its own, so that what others have freed does not hide what it takes.
MEASURE = textwrap.dedent(
    """
    import pathlib, sys
    import numpy as np
    import hinge

    def status(field):
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

    n, cache, solver = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).astype(np.float32)
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0.0

    def fit(count):
        model = hinge.SVC(C=10.0, gamma=0.2, cache_size=cache, solver=solver, n_jobs=1)
        return model.fit(X[:count], y[:count])

    fit(200)  # what is only needed once is there
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    model = fit(n)
    print(status("VmHWM") - before, X.nbytes, int(model.n_support_.sum()))
    """
)


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs the peak memory")
@needs_true_memory
@pytest.mark.parametrize(("solver", "cache_mb"), [("decomposition", 20), ("decomposition", 50)])
def test_many_support_vectors_take_no_more_than_a_small_cache(solver: str, cache_mb: int) -> None:
    command = [sys.executable, "-c", MEASURE, "10000", str(cache_mb), solver]
    taken, data, n_support = map(int, subprocess.check_output(command, text=True).split())
    assert n_support > 2000
    assert taken <= 1.1 * cache_mb * 2**20 + data
    assert taken >= 0.5 * cache_mb * 2**20  # so the measure does measure


def _problem(n: int = 900) -> Problem:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] > 0.3 * rng.normal(size=n)
    return Problem(X, y, C=30.0, kernel="rbf")


@pytest.mark.parametrize("solver", [Decomposition(2.0), SMO(cache_mb=2.0)])
def test_what_makes_way_for_a_certificate_comes_back_with_the_same_bits(solver: DualSolver) -> None:
    problem, stop = _problem(), Stop(kkt=1e-3, gap=None)

    class Forgetful(type(solver)):  # type: ignore[misc]
        """Lets go of all that it may after every step."""

        def step(self, state, work):
            done = super().step(state, work)
            state.__dict__.pop("systems", None)
            state.set_memory.release()
            state.cache.release()
            return done

    forgetful = Forgetful(cache_mb=2.0)
    one, other = solve(problem, solver, stop), solve(problem, forgetful, stop)
    assert one.steps == other.steps
    assert np.array_equal(one.point.dual_coef, other.point.dual_coef)


def test_newtons_factor_is_made_anew_with_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2500, 8))
    y = rng.normal(size=2500) + X[:, 0] > 0.0
    problem, stop = Problem(X, y, C=1000.0, kernel="rbf"), Stop(kkt=1e-3, gap=None)
    dropped = []

    class Forgetful(Decomposition):
        def step(self, state, work):
            done = super().step(state, work)
            dropped.append(state.__dict__.pop("systems", None))
            return done

    one, other = solve(problem, Decomposition(), stop), solve(problem, Forgetful(), stop)
    assert any(systems is not None for systems in dropped)
    assert np.array_equal(one.point.dual_coef, other.point.dual_coef)


def test_state_lets_go_of_what_finds_no_room_beside_kept_rows() -> None:
    state = Decomposition(2.0).start(_problem(), None, 0)
    matrix = state.set_memory.matrix(256, np.float32)
    matrix[:] = 0.0
    del matrix
    state.keep_within(0)
    assert state.set_memory.nbytes == 4 * 256**2
    state.keep_within(0, 2 * 2**20)
    assert state.set_memory.nbytes == 0


def test_memory_of_sets_grows_and_is_written_again() -> None:
    memory = SetMemory(100)
    first = memory.matrix(4, np.float32)
    assert first.shape == (4, 4)
    assert np.shares_memory(first, memory.matrix(3, np.float64))
    assert memory.nbytes == 72
    assert memory.matrix(20, np.float64).shape == (20, 20)
    assert memory.nbytes == 3200
    memory.release()
    assert memory.nbytes == 0


def test_other_arrays_come_out_of_the_slack_first() -> None:
    assert beyond_slack(15 * 2**20, 200.0) == 0.0
    assert beyond_slack(30 * 2**20, 200.0) == pytest.approx(13.5)
    assert beyond_slack(30 * 2**20, 5.0) == 0.0
    assert left_for_rows(100.0, 13.5) == 86.5
    assert left_for_rows(10.0, 13.5) == 5.0  # never all of it
    assert left_for_rows(-1.0, 13.5) == -1.0


@pytest.mark.parametrize("size", [LEAST_BYTES // 8 - 1, LEAST_BYTES // 8, LEAST_BYTES])
def test_pages_are_arrays_like_others(size: int) -> None:
    array = empty_pages((size, 1), np.float64)
    array[:] = 1.0
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert float(array.sum()) == size


@pytest.mark.parametrize("error", [OSError(12, "Cannot allocate memory"), OverflowError()])
def test_memory_that_is_not_there_is_said_so(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("hinge.machines.pages.mmap.mmap", fail)
    with pytest.raises(MemoryError, match=r"no memory for 1 MB, an array of shape \(1048576,\)"):
        empty_pages((LEAST_BYTES,), np.uint8)
    assert empty_pages((10,), np.uint8).shape == (10,)  # small ones need no pages
