"""The hard margin: known optima, an oracle, sets that cannot be separated, bits."""

from __future__ import annotations

import itertools
import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from tests.solvers.separable import INTERCEPTS, XOR, apart, hard

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.certificates import gap, margin_interval
from hinge.models.checkpoint_entries import restored_state, running_entry
from hinge.solvers import DualCoordinate, HardMargin, InteriorPoint, PrimalNewton
from hinge.solvers.linear.hard_margin import HardMarginState
from hinge.solvers.linear.nearest_points import NearestPoints
from hinge.testing.reference import reference_solution

TIGHT = Stop(gap=1e-8)


def test_two_points() -> None:
    problem = hard([[1.0, 2.0], [4.0, 6.0]], [0, 1])
    solution = solve(problem, stop=TIGHT)
    assert solution.status is Status.SOLVED
    assert solution.solver == "hard-margin"
    np.testing.assert_allclose(solution.coef, [0.24, 0.32], rtol=1e-12)
    np.testing.assert_allclose(solution.intercept, -0.24 * 2.5 - 0.32 * 4.0, rtol=1e-12)
    np.testing.assert_allclose(solution.dual_coef, [0.08, 0.08], rtol=1e-12)
    lower, upper = margin_interval(problem, solution.certificate)
    assert lower <= 2.5 <= upper
    assert upper - lower < 1e-10


def test_corners_of_a_cube() -> None:
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    y = corners[:, 2] > 0
    for intercept in INTERCEPTS:
        solution = solve(hard(corners, y, intercept=intercept), stop=TIGHT)
        assert solution.status is Status.SOLVED
        np.testing.assert_allclose(solution.coef, np.eye(6)[2], atol=1e-8)
        assert abs(solution.intercept) < 1e-8


def test_setosa() -> None:
    X, y = load_iris(return_X_y=True)
    problem = hard(X, y == 0)
    solution = solve(problem, stop=TIGHT)
    assert solution.status is Status.SOLVED
    reference = gap(problem, reference_solution(problem)).dual
    assert solution.certificate.primal == pytest.approx(reference, rel=1e-6)
    assert solve(hard(X, y == 1)).status is Status.NOT_SEPARABLE


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_agrees_with_a_quadratic_programming_solver(intercept: str, loss: str) -> None:
    for seed in range(4):
        X, y = apart(seed=seed, n=40 + 30 * seed, d=3 + 4 * seed)
        problem = hard(X, y, intercept=intercept, loss=loss, intercept_scale=2.0)
        solution = solve(problem, stop=TIGHT)
        assert solution.status is Status.SOLVED
        reference = reference_solution(problem)
        np.testing.assert_allclose(solution.coef, reference.coef, rtol=1e-5, atol=1e-5)
        again = gap(problem, solution.point)
        assert again.relative_gap == solution.certificate.relative_gap <= 1e-8


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_huber_is_the_same_program_with_a_wider_margin(intercept: str) -> None:
    X, y = apart()
    plain = solve(hard(X, y, intercept=intercept), stop=TIGHT)
    wide = solve(hard(X, y, intercept=intercept, loss=hinge.losses.Huber(0.25)), stop=TIGHT)
    np.testing.assert_allclose(wide.coef, 1.25 * plain.coef, rtol=1e-7)
    squared = solve(hard(X, y, intercept=intercept, loss="squared_hinge"), stop=TIGHT)
    np.testing.assert_array_equal(squared.coef, plain.coef)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_is_the_limit_of_large_C(intercept: str) -> None:
    X, y = apart(n=30, d=3, width=1.0)
    limit = solve(hard(X, y, intercept=intercept), stop=TIGHT)
    soft = solve(Problem(X, y, C=1e4, intercept=intercept), stop=Stop(gap=1e-9))
    np.testing.assert_allclose(soft.coef, limit.coef, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_xor_is_not_separable(intercept: str) -> None:
    problem = hard(*XOR, intercept=intercept)
    solution = solve(problem)
    assert solution.status is Status.NOT_SEPARABLE
    assert margin_interval(problem, solution.certificate) == (0.0, 0.0)
    assert "exactly" in solution.certificate.notes[0]
    assert solution.dual_coef is not None
    assert (solution.dual_coef >= 0).all()
    signed = (2 * XOR[1] - 1) * solution.dual_coef
    np.testing.assert_array_equal(XOR[0].T @ signed, 0.0)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_row_of_both_classes_is_not_separable(intercept: str) -> None:
    X, y = apart(n=200, d=8)
    X, y = np.vstack([X, X[:1]]), np.append(y, 1 - y[0])
    problem = hard(X, y, intercept=intercept)
    solution = solve(problem)
    assert solution.status is Status.NOT_SEPARABLE
    assert margin_interval(problem, solution.certificate)[1] < 1e-14


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_overlapping_clouds(intercept: str, sparse: bool) -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 500)
    X = rng.normal(size=(500, 12)) + y[:, None]
    problem = hard(sp.csr_array(X) if sparse else X, y, intercept=intercept)
    solution = solve(problem)
    assert solution.status is Status.NOT_SEPARABLE
    assert solution.certificate.primal == math.inf
    assert 0.0 <= margin_interval(problem, solution.certificate)[1] < 1e-13


def test_all_rows_zero() -> None:
    assert solve(hard(np.zeros((4, 3)), [0, 1, 0, 1])).status is Status.NOT_SEPARABLE
    empty = hard(sp.csr_array((4, 3)), [0, 1, 0, 1], intercept="none")
    assert solve(empty).status is Status.NOT_SEPARABLE


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_separable_by_a_billionth(intercept: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 3))
    side = np.sign(X[:, 0])
    X[:, 0] = side * (5e-10 + np.abs(X[:, 0]) * (rng.random(50) < 0.5))
    problem = hard(X, side, intercept=intercept)
    solution = solve(problem, stop=Stop(gap=1e-3))
    assert solution.status is Status.SOLVED
    lower, upper = margin_interval(problem, solution.certificate)
    assert lower <= 5e-10 <= upper < 5.01e-10


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 60),
    d=st.integers(1, 12),
    intercept=st.sampled_from(INTERCEPTS),
    whole=st.booleans(),
)
@example(seed=15878, n=14, d=1, intercept="free", whole=False)
def test_always_one_of_the_two(seed: int, n: int, d: int, intercept: str, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 2.0
    if whole:
        X = np.round(X)  # many ties, many rows on one flat
    y = rng.integers(0, 2, n)
    y[:2] = [0, 1]
    problem = hard(X, y, intercept=intercept)
    solution = solve(problem, stop=Stop(gap=1e-6))
    assert solution.status in (Status.SOLVED, Status.NOT_SEPARABLE)
    margins = (2 * y - 1) * (X @ solution.coef + solution.intercept)
    assert (solution.status is Status.SOLVED) == bool(margins.min() > 0.5)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_sparse_and_dense_agree(intercept: str) -> None:
    X, y = apart(sparse=True, n=80, d=30)
    sparse = solve(hard(X, y, intercept=intercept), stop=TIGHT)
    dense = solve(hard(X.toarray(), y, intercept=intercept), stop=TIGHT)
    assert sparse.status is dense.status is Status.SOLVED
    np.testing.assert_allclose(sparse.coef, dense.coef, rtol=1e-6, atol=1e-9)


def test_weights_only_say_whether_a_row_is_there() -> None:
    X, y = apart(n=40)
    X[7] = -X[7]  # on the wrong side
    weights = np.random.default_rng(0).uniform(1e-3, 1e3, 40)
    weights[7] = 0.0
    kept = np.arange(40) != 7
    weighted = solve(hard(X, y, sample_weight=weights), stop=TIGHT)
    plain = solve(hard(X[kept], y[kept]), stop=TIGHT)
    assert weighted.status is plain.status is Status.SOLVED
    np.testing.assert_allclose(weighted.coef, plain.coef, rtol=1e-9)
    assert weighted.dual_coef is not None
    assert weighted.dual_coef[7] == 0.0


def test_pause_threads_and_calls_of_any_size_change_no_bit() -> None:
    X, y = apart(n=30_000, d=20, width=0.05)
    problem = hard(X, y)
    whole = solve(problem, stop=TIGHT)
    assert whole.steps > 2
    threaded = solve(problem, stop=TIGHT, n_jobs=2)
    first = solve(problem, stop=Stop(gap=1e-8, steps=2))
    assert first.status is Status.ITERATION_LIMIT
    assert first.steps == 2
    rest = solve(problem, stop=TIGHT, resume=pickle.loads(pickle.dumps(first.state)))
    solver, state = HardMargin(), HardMargin().start(problem)
    while not state.at_rest:
        solver.step(state, 1)
    for other in (threaded.point, rest.point):
        np.testing.assert_array_equal(other.coef, whole.coef)
        np.testing.assert_array_equal(other.dual_coef, whole.dual_coef)
    np.testing.assert_array_equal(solver.point(state).dual_coef, whole.dual_coef)


def test_warm_start_along_known_weights() -> None:
    X, y = apart(n=20_000, d=10, width=0.01)
    problem = hard(X, y)
    cold = solve(problem, stop=TIGHT)
    warm = solve(problem, stop=TIGHT, warm=cold)
    assert warm.status is Status.SOLVED
    assert warm.steps <= cold.steps
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=1e-7)


def test_settled_labels() -> None:
    X, y = apart()
    for intercept in INTERCEPTS:
        certificate = solve(hard(X, y, intercept=intercept), stop=TIGHT).certificate
        assert certificate.settled(X).all()
        rough = solve(hard(X, y, intercept=intercept), stop=Stop(gap=0.5)).certificate
        lower, upper = rough.decision_bounds(X)
        exact = certificate.decision_bounds(X)
        assert (lower <= exact[1]).all()
        assert (exact[0] <= upper).all()


@pytest.mark.parametrize("solver", [DualCoordinate(), PrimalNewton(), InteriorPoint()])
def test_other_solvers_say_what_to_use(solver: hinge.solvers.Solver) -> None:
    with pytest.raises(hinge.UnsupportedError, match="C is infinite; use solver='hard-margin'"):
        solve(hard(*apart()), solver)


def test_a_finite_C_is_refused() -> None:
    with pytest.raises(hinge.UnsupportedError, match="C=2 allows for losses; only C=inf"):
        solve(Problem(*apart(), C=2.0), "hard-margin")


def test_a_path_has_finite_values() -> None:
    with pytest.raises(hinge.InvalidParameterError, match=r"Cs\[1\] is infinity: .* apart"):
        hinge.path(Problem(*apart()), [1.0, math.inf])


def test_costs() -> None:
    problem = hard(*apart(n=4), sample_weight=[1.0, 2.0, 0.0, 1e-300])
    np.testing.assert_array_equal(problem.costs, [math.inf, math.inf, 0.0, math.inf])
    assert problem.is_hard
    assert not problem.with_C(1.0).is_hard
    assert problem.with_C(1.0).with_C(math.inf).fingerprint() == problem.fingerprint()
    with pytest.raises(hinge.InvalidParameterError, match="intercept_scale must be finite"):
        hard(*apart(), intercept_scale=math.inf)


def test_a_run_goes_through_a_checkpoint() -> None:
    X, y = apart(n=3000, d=20, width=0.05)
    problem = hard(X, y)
    states = []
    whole = solve(problem, stop=TIGHT, observers=[lambda event: states.append(event.state())])
    assert len(states) > 4
    for state in states[:: len(states) // 4]:
        entry = running_entry(state, problem.fingerprint())
        rest = solve(problem, stop=TIGHT, resume=restored_state(entry, problem))
        np.testing.assert_array_equal(rest.coef, whole.coef)
        np.testing.assert_array_equal(rest.dual_coef, whole.dual_coef)


@pytest.mark.parametrize("scale", [1e100, 1e154, 1e200, 1e300, 1e-300])
def test_a_constant_feature_of_any_size(scale: float) -> None:
    X, y = apart(n=40, width=0.5)
    problem = hard(X, y, intercept="augmented", intercept_scale=scale)
    solution = solve(problem)
    assert solution.status in (Status.SOLVED, Status.STALLED)
    free, through = (
        margin_interval(other, solve(other).certificate)
        for other in (hard(X, y), hard(X, y, intercept="none"))
    )
    lower, upper = margin_interval(problem, solution.certificate)
    # A large constant feature makes the intercept nearly free, a small one makes it nearly none.
    assert lower <= free[1]
    assert upper >= through[0]


@pytest.mark.parametrize("scale", [3e153, 1e-160, 1e-200, 1e-300])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_rows_at_the_ends_of_floating_point(scale: float, intercept: str) -> None:
    X, y = apart(n=40, width=0.5)
    X = X * (scale / np.linalg.norm(X, axis=1).max())
    problem = hard(X, y, intercept=intercept)
    solution = solve(problem)
    assert solution.status in (Status.SOLVED, Status.STALLED)
    lower, upper = margin_interval(problem, solution.certificate)
    assert lower <= scale
    assert upper >= scale * 1e-2


def test_numbers_that_are_none_end_a_run() -> None:
    rows = np.array([[np.nan], [np.nan]])
    with pytest.raises(np.linalg.LinAlgError, match="left the range of floating point"):
        NearestPoints(rows, np.array([0, 1]), np.ones(2))
    solver, problem = HardMargin(), hard(*apart())
    state = solver.start(problem)
    while state.stage == "scan":
        solver.step(state, 10**9)
    before = state.weights.copy()
    state.candidates[:] = before > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hinge.solvers.linear.hard_margin._vectors", lambda *_, **__: rows)
        assert solver.step(state, 1) == 0
    assert state.at_rest
    np.testing.assert_array_equal(state.weights, before)


def test_calls_are_the_same_for_any_number_of_threads() -> None:
    problem = hard(*apart(n=12_000, d=50, width=0.05))
    assert problem.rows.n_blocks > 4
    solver, courses = HardMargin(), []
    for threads in (1, 2):
        state = solver.start(problem)
        state.threads = threads
        calls = [(solver.step(state, 200_000), state.stage, state.position) for _ in range(30)]
        courses.append((calls, state.weights.tolist()))
    assert courses[0] == courses[1]


def test_the_matrix_of_the_support_is_counted() -> None:
    problem = hard(*apart(n=400, d=80, width=1e-3))
    solver, state = HardMargin(), HardMargin().start(problem)
    while not state.at_rest:
        is_settling, k = state.stage == "settle", int(np.count_nonzero(state.weights))
        done = solver.step(state, 10**9)
        assert not is_settling or done >= k * k * 80 + k**3 // 3
    assert k > 40


def _damaged(state: HardMarginState, part: str) -> None:
    support = int(np.flatnonzero(state.weights)[0])
    if part == "stage":
        state.stage = "elsewhere"
    elif part == "position":
        state.position = state.problem.rows.n_blocks + 1
    elif part == "candidates":
        state.candidates[0] = 7
    elif part == "support":
        state.candidates[support] = 0
    elif part == "negative":
        state.weights[support] = -1.0
    elif part == "sum":
        state.weights[support] += 0.5
    else:
        state.weights[support] = math.nan


@pytest.mark.parametrize(
    "part", ["stage", "position", "candidates", "support", "negative", "sum", "nan"]
)
def test_a_damaged_state_is_refused(part: str) -> None:
    problem = hard(*apart())
    solver = HardMargin()
    state = solver.start(problem)
    state.solver_name = solver.name
    while state.stage == "scan":
        solver.step(state, 10**9)
    good = running_entry(state, problem.fingerprint())
    restored_state(good, problem)
    _damaged(state, part)
    bad = running_entry(state, problem.fingerprint())
    with pytest.raises(
        hinge.errors.ModelFileError, match="a run cannot have such weights in stage"
    ):
        restored_state(bad, problem)
