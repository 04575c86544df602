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
from hinge.solvers.kernel import set_memory
from hinge.solvers.kernel.carry import CarriedPoint, KernelRelay
from hinge.solvers.kernel.dual_solver import DualSolver
from hinge.solvers.kernel.set_memory import (
    SetMemory,
    beside_results,
    beyond_slack,
    left_for_rows,
)

# Fits in a process of its own, so that what others have freed does not hide what it takes.
MEASURE = textwrap.dedent(
    """
    import pathlib, sys
    import numpy as np
    import hinge

    def status(field):
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))

    n, cache, classes, threads = int(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:5])
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).astype(np.float32)
    z = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
    y = np.digitize(z, [0.0] if classes == 2 else [-0.7, 0.7])
    if classes > 3:
        y = rng.integers(0, classes, n)  # every row is a support vector of every machine

    def fit(count):
        given = {"n_jobs": threads, "multiclass": sys.argv[5], "solver": "decomposition"}
        model = hinge.SVC(C=10.0, gamma=0.2, cache_size=cache, **given)
        return model.fit(X[:count], y[:count])

    fit(200)  # what is only needed once is there
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    model = fit(n)
    print(status("VmHWM") - before, X.nbytes, int(model.n_support_.sum()))
    """
)


def _measured(*arguments: object) -> tuple[int, int, int]:
    """Return the peak beyond the arrays, the bytes of the data, and the support vectors."""
    command = [sys.executable, "-c", MEASURE, *map(str, arguments)]
    taken, data, n_support = map(int, subprocess.check_output(command, text=True).split())
    return taken, data, n_support


needs_peaks = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="needs the peak memory"
)


@needs_peaks
@needs_true_memory
@pytest.mark.parametrize("cache_mb", [20, 50])
def test_many_support_vectors_take_no_more_than_a_small_cache(cache_mb: int) -> None:
    taken, data, n_support = _measured(10_000, cache_mb, 2, 1, "ovo")
    assert n_support > 2000
    assert taken <= 1.1 * cache_mb * 2**20 + data
    assert taken >= 0.5 * cache_mb * 2**20  # so the measure does measure


@needs_peaks
@needs_true_memory
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("n_rows", "n_classes", "multiclass"),
    [(8000, 20, "ovo"), (9000, 3, "ovo"), (6000, 3, "ovr")],  # together, one by one, over one cache
)
def test_several_classes_take_no_more_than_a_small_cache(
    n_rows: int, n_classes: int, multiclass: str, threads: int
) -> None:
    taken, data, n_support = _measured(n_rows, 20, n_classes, threads, multiclass)
    assert n_support > 2000
    assert 10 * 2**20 <= taken <= 1.1 * 20 * 2**20 + data


@needs_peaks
@needs_true_memory
def test_holes_of_the_heap_are_given_back() -> None:
    program = """
    import numpy as np
    from pathlib import Path
    from hinge.machines.pages import give_back

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1])

    small = [np.ones(4000) for _ in range(2000)]  # 32 kB each, 62 MB
    del small[::2]
    before = resident()
    give_back()
    print(before - resident())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    assert int(subprocess.check_output(command)) * 4096 > 20 * 2**20


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
    assert beyond_slack(14 * 2**20, 200.0) == 0.0
    assert beyond_slack(30 * 2**20, 200.0) == pytest.approx(16.0)
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


def test_results_of_several_machines_take_the_place_of_kept_rows_in_a_small_cache() -> None:
    assert beside_results(200.0, [10**6] * 3) == 200.0  # out of the tenth beyond it
    assert beside_results(24.0, [2**20]) == 24.0
    assert beside_results(60.0, [2**19, 2**19]) == 36.0
    assert beside_results(20.0, [10**6] * 3) == 10.0  # never all of it


def test_a_small_cache_has_the_memory_of_certificates_back(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(set_memory, "give_back", lambda: calls.append(1))
    stop = Stop(kkt=1e-3, gap=None)
    solve(_problem(300), Decomposition(cache_mb=99.0), stop)
    assert len(calls) == 2  # before a certificate and after it
    solve(_problem(300), Decomposition(cache_mb=101.0), stop)
    assert len(calls) == 2


def test_a_relay_to_other_labels_keeps_no_numbers_of_rows() -> None:
    problem = _problem()
    state = solve(problem, Decomposition(), Stop(kkt=1e-3, gap=None)).state
    relay = KernelRelay(has_other_labels=True)
    relay.note(state)
    other = Problem(problem.rows, problem.rows.values[:, 2] > 0.0, C=30.0, kernel=problem.kernel)
    start = relay.start(None)
    assert isinstance(start, CarriedPoint)
    assert start.state is not None
    assert len(start.state.beta) == len(start.state.scores) == start.state.deferred.size == 0
    after = Decomposition().start(other, start)
    assert after.cache is state.cache
    assert len(state.beta) == problem.n_rows  # which may go on
