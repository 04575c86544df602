"""What must not change a single bit of a run, and what may only scale it."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers.data import two_clouds

from hinge import Point, Problem, Solution, Status, Stop, solve
from hinge.solvers import DualCoordinate, Settings, StopFlag, run

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]
STOP = Stop(gap=1e-5, steps=20_000)


def _bits(solution: Solution) -> tuple[bytes, bytes, float, str]:
    assert solution.dual_coef is not None
    return (
        solution.coef.tobytes(),
        solution.dual_coef.tobytes(),
        solution.intercept,
        repr(solution.certificate),
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_any_storage_of_the_same_values(tmp_path, intercept: str, dtype: type) -> None:
    X, y = two_clouds(400, 9)
    X = X.astype(dtype)
    np.save(tmp_path / "x.npy", X)
    forms = {
        "array": X,
        "memory map": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=0)[::2],
        "big endian": X.astype(X.dtype.newbyteorder(">")),
        "list": X.tolist() if dtype is np.float64 else X,
    }
    bits = {
        name: _bits(solve(Problem(form, y, intercept=intercept), "dual-coordinate", stop=STOP))
        for name, form in forms.items()
    }
    assert len(set(bits.values())) == 1


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_any_index_type_and_order_of_csr(intercept: str) -> None:
    X, y = two_clouds(400, 9, sparse=True)
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    mixed = X.copy()
    mixed.indptr = mixed.indptr.astype(np.int64)
    shuffled = X.copy()
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        shuffled.indices[part] = X.indices[part][::-1]
        shuffled.data[part] = X.data[part][::-1]
    bits = [
        _bits(solve(Problem(form, y, intercept=intercept), "dual-coordinate", stop=STOP))
        for form in (X, wide, mixed, shuffled, sp.csr_matrix(X), X.tocsc(), X.tocoo())
    ]
    assert len(set(bits)) == 1


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads(threads: int) -> None:
    X, y = two_clouds(6000, 60, seed=3)
    problem = Problem(X, y, C=0.01)
    assert problem.rows.n_blocks > 2
    runs = [
        run(problem, DualCoordinate(), Settings(STOP, threads=count), None, None, StopFlag())
        for count in (1, threads)
    ]
    assert _bits(runs[0]) == _bits(runs[1])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_run_cut_anywhere_goes_on_as_if_uncut(loss: str, intercept: str) -> None:
    X, y = two_clouds(500, 8)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=1.0)
    solver = DualCoordinate()
    final = Stop(gap=0.0, steps=60)
    whole = solve(problem, solver, final)
    for cut in (0, 1, 2, 7, 13, 40):
        part = solve(problem, solver, Stop(gap=0.0, steps=cut))
        saved = pickle.loads(pickle.dumps(part.state))
        resumed = solve(problem, solver, final, resume=saved)
        assert resumed.steps == whole.steps
        assert resumed.state.rows.tobytes() == whole.state.rows.tobytes()
        assert resumed.state.vectors.tobytes() == whole.state.vectors.tobytes()
        assert _bits(resumed)[:3] == _bits(whole)[:3]


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_rows_met_in_runs(storage, monkeypatch) -> None:
    # Rows of a page or more, sorted by label, and enough of them to be met in runs.
    from hinge.solvers import driver  # noqa: PLC0415

    X, y = two_clouds(1100, 1200, noise=3.0)
    by_label = np.argsort(y, kind="stable")
    problem = Problem(storage(X[by_label]), y[by_label], C=1e-4, intercept="augmented")
    solver = DualCoordinate()
    first = solve(problem, solver, stop=Stop(gap=0.0, steps=1))
    assert np.any(first.state.order[1:16:2] == first.state.order[:16:2] + 1)
    whole = solve(problem, solver, stop=STOP)
    assert whole.status is Status.SOLVED
    assert whole.certificate.relative_gap <= 1e-5
    again = solve(problem, solver, stop=STOP, resume=first.state)
    assert _bits(again)[:3] == _bits(whole)[:3]
    monkeypatch.setattr(driver, "WORK_PER_STEP", 30_000)
    assert _bits(solve(problem, solver, stop=STOP))[:3] == _bits(whole)[:3]


@pytest.mark.parametrize("work", [50, 1000, 20_000])
def test_the_driver_may_slice_the_work_as_it_likes(work: int, monkeypatch) -> None:
    from hinge.solvers import driver  # noqa: PLC0415

    X, y = two_clouds(500, 8)
    problem = Problem(X, y, C=1.0, intercept="augmented")
    stop = Stop(gap=0.0, steps=60)
    whole = solve(problem, "dual-coordinate", stop=stop)
    monkeypatch.setattr(driver, "WORK_PER_STEP", work)
    sliced = solve(problem, "dual-coordinate", stop=stop)
    # Small slices end at the step asked for, large ones a little later: go on from there.
    monkeypatch.setattr(driver, "WORK_PER_STEP", 10**9)
    sliced = solve(
        problem, "dual-coordinate", stop=Stop(gap=0.0, steps=whole.steps), resume=sliced.state
    )
    assert sliced.steps == whole.steps
    assert sliced.state.rows.tobytes() == whole.state.rows.tobytes()
    assert sliced.state.vectors.tobytes() == whole.state.vectors.tobytes()


def test_seeds_choose_the_order_and_nothing_else() -> None:
    X, y = two_clouds(300)
    problem = Problem(X, y, C=1.0)
    seeds = [0, 1, -1, 2**64 + 5, np.int64(7)]
    solutions = [solve(problem, "dual-coordinate", stop=STOP, seed=seed) for seed in seeds]
    assert len({_bits(solution) for solution in solutions}) == len(seeds)
    values = [solution.certificate.primal for solution in solutions]
    np.testing.assert_allclose(values, values[0], rtol=STOP.gap)
    for order in ("permuted", "random"):
        again = [_bits(solve(problem, DualCoordinate(order), STOP, seed=3)) for _ in range(2)]
        assert again[0] == again[1]
    cyclic = [_bits(solve(problem, DualCoordinate("cyclic"), STOP, seed=s)) for s in (0, 1)]
    assert cyclic[0] == cyclic[1]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_weights_of_one_are_no_weights(loss: str, intercept: str) -> None:
    X, y = two_clouds(300)
    options = {"loss": loss, "intercept": intercept, "C": 0.3}  # sums of 0.3 are rounded
    plain = Problem(X, y, **options)
    weighted = Problem(X, y, **options, sample_weight=np.ones(len(y)))
    one, two = (solve(problem, "dual-coordinate", stop=STOP) for problem in (plain, weighted))
    assert _bits(one)[:3] == _bits(two)[:3]


@pytest.mark.parametrize("loss", LOSSES)
@given(power=st.integers(-20, 20))
@settings(max_examples=10)
def test_powers_of_two_scale_exactly(loss: str, power: int) -> None:
    """Rows times s and C over s^2 is the same problem with weights over s: not one bit differs."""
    X, y = two_clouds(60)
    scale = 2.0**power
    one = solve(Problem(X, y, loss=loss, C=0.5, intercept="none"), "dual-coordinate", stop=STOP)
    other = Problem(X * scale, y, loss=loss, C=0.5 / scale**2, intercept="none")
    two = solve(other, "dual-coordinate", stop=STOP)
    assert (two.coef * scale).tobytes() == one.coef.tobytes()
    assert two.certificate.relative_gap == pytest.approx(one.certificate.relative_gap, rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_exchanged_classes_mirror_the_run(loss: str, intercept: str) -> None:
    X, y = two_clouds(200)
    one = solve(Problem(X, y, loss=loss, intercept=intercept), "dual-coordinate", stop=STOP)
    two = solve(Problem(X, 1 - y, loss=loss, intercept=intercept), "dual-coordinate", stop=STOP)
    assert one.status is two.status is Status.SOLVED
    np.testing.assert_array_equal(two.coef, -one.coef)
    assert two.intercept == -one.intercept


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@given(order=st.permutations(range(40)))
@settings(max_examples=10)
def test_the_order_of_rows_does_not_matter(loss: str, intercept: str, order: list[int]) -> None:
    X, y = two_clouds(40)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=0.3)
    permuted = Problem(X[order], y[order], loss=loss, intercept=intercept, C=0.3)
    one, two = (
        solve(problem, "dual-coordinate", stop=STOP),
        solve(permuted, "dual-coordinate", stop=STOP),
    )
    assert one.status is two.status is Status.SOLVED
    difference = abs(one.certificate.primal - two.certificate.primal)
    assert difference <= max(one.certificate.gap, two.certificate.gap)
    # Both weight vectors are within sqrt(2 gap) of the one optimum.
    distance = float(np.linalg.norm(one.coef - two.coef))
    radii = np.sqrt(2 * one.certificate.gap) + np.sqrt(2 * two.certificate.gap)
    assert distance <= radii


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_warm_starts_of_any_quality_arrive(intercept: str) -> None:
    X, y = two_clouds(200)
    problem = Problem(X, y, C=1.0, intercept=intercept)
    cold = solve(problem, "dual-coordinate", stop=STOP)
    n, d = X.shape
    points = {
        "solution": cold,
        "no dual": Point(cold.coef, cold.intercept),
        "zeros": Point(np.zeros(d), 0.0, np.zeros(n)),
        "all at the top": Point(np.zeros(d), 0.0, np.ones(n)),
        "above the box": Point(np.zeros(d), 0.0, np.full(n, 1e9)),
        "below the box": Point(np.zeros(d), 0.0, np.full(n, -1.0)),
        "not numbers": Point(np.full(d, np.nan), np.nan, np.full(n, np.nan)),
        "infinite": Point(np.full(d, np.inf), np.inf, np.full(n, np.inf)),
        "other rows": Point(cold.coef, 0.0, np.zeros(3)),
        "other columns": Point(np.zeros(2), 0.0, np.zeros(n)),
        "other types": Point(cold.coef.astype(np.float32), 0.0, np.zeros(n, dtype=np.int64)),
        "far intercept": Point(cold.coef, 1e6, cold.dual_coef),
    }
    for name, warm in points.items():
        solution = solve(problem, "dual-coordinate", stop=STOP, warm=warm)
        assert solution.status is Status.SOLVED, name
        assert solution.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-4)


def test_a_neighbour_on_the_path_saves_work() -> None:
    X, y = two_clouds(2000, 10, seed=1)
    problem = Problem(X, y, C=1.0, intercept="augmented")
    solution = solve(problem, "dual-coordinate", stop=STOP)
    again = solve(problem, "dual-coordinate", stop=STOP, warm=solution)
    assert again.status is Status.SOLVED
    assert again.work < solution.work / 2
    neighbour = problem.with_C(1.1)
    cold, warm = (
        solve(neighbour, "dual-coordinate", stop=STOP),
        solve(neighbour, "dual-coordinate", stop=STOP, warm=solution),
    )
    assert warm.status is cold.status is Status.SOLVED
