"""The interior point method."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from tests.estimators.data import cancer, two_classes
from tests.solvers.data import some_weights, two_clouds

from hinge import Point, Problem, Status, Stop, solve
from hinge.certificates import gap
from hinge.data import Dataset, open_shards, write_shards
from hinge.solvers import InteriorPoint
from hinge.solvers.linear.interior_point import MOST_FEATURES
from hinge.testing import known_optimum
from hinge.threads import single_threaded_blas

LOSSES = ["hinge", "squared_hinge"]
INTERCEPTS = ["augmented", "free", "none"]


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_unscaled_data_do_not_matter(loss: str, intercept: str, C: float) -> None:
    X, y = cancer(scaled=False)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, InteriorPoint(), stop=Stop(gap=1e-6, steps=100))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("n_rows", [10_000, 60_000])
def test_the_larger_a_sample_the_later_the_path_is_taken_up(n_rows: int) -> None:
    problem = Problem(*two_clouds(n_rows, noise=0.3, seed=2), C=1.0)
    solver, state = InteriorPoint(), InteriorPoint().start(problem)
    while not (state.is_final_level and state.stage == "matrix"):
        expected = state.primal
        solver.step(state, 1)
    error = 1.0 / np.sqrt(n_rows // 8)
    assert abs(1.0 - expected / state.primal) < 5.0 * error
    assert state.tau * state.n_products == pytest.approx(error * state.primal)


def test_a_sample_that_tells_nothing_of_the_other_rows_is_no_start() -> None:
    X, y = two_clouds(10_000, noise=0.1, seed=2)
    problem = Problem(X, y, C=1.0)
    solver, state = InteriorPoint(), InteriorPoint().start(problem)
    while state.level == 0:
        solver.step(state, 1)
    state.weights *= -1.0
    expected = state.primal
    while state.stage != "matrix":
        solver.step(state, 1)
    assert state.tau * state.n_products == pytest.approx(state.primal - expected)
    assert state.primal > 2.0 * expected


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_same_optimum_as_coordinate_descent(loss: str, intercept: str, container: type) -> None:
    X, y = two_classes()
    weights = np.arange(60) % 3
    problem = Problem(container(X), y, loss=loss, intercept=intercept, C=0.5, sample_weight=weights)
    stop = Stop(gap=1e-8, steps=100)
    solution = solve(problem, InteriorPoint(), stop)
    other = solve(problem, "dual-coordinate", Stop(gap=1e-8)).certificate
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(other.primal, rel=2e-8)
    assert np.all(solution.dual_coef[weights == 0] == 0.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_separable_classes(loss: str, intercept: str) -> None:
    X, y = two_clouds(400, noise=0.05, seed=3)
    X[:, 0] = np.where(y > 0, 3.0, -3.0) + X[:, 0] / 10
    problem = Problem(X, y, loss=loss, intercept=intercept, C=1e6)
    solution = solve(problem, InteriorPoint(), Stop(gap=1e-6, steps=200))
    assert solution.status is Status.SOLVED


def test_a_start_that_is_optimal_is_no_end_of_the_path() -> None:
    X, y = [[-1.0], [1.0]], [0, 1]
    problem = Problem(X, y, loss="squared_hinge", C=0.25, intercept="none")
    solver = InteriorPoint()
    optimum = Point(np.array([0.5]), 0.0, np.array([0.25, 0.25]))  # a gap of exactly 0
    state = solver.start(problem, optimum)
    while solver.step(state, 1000):
        pass
    assert solver.progress(state).at_rest
    assert solver.point(state).coef[0] == pytest.approx(0.5, abs=1e-6)


def many_rows(n: int = 20_000, d: int = 10, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.3).astype(int)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_samples_come_first(intercept: str, storage) -> None:
    X, y = many_rows()
    problem = Problem(storage(X), y, intercept=intercept, C=10.0)
    levels = []
    solution = solve(
        problem,
        InteriorPoint(),
        Stop(gap=1e-6, steps=100),
        observers=[lambda event: levels.append(event.state().level)],
    )
    assert solution.status is Status.SOLVED
    assert levels[0] == 0
    assert levels[-1] == 1


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["augmented", "free", "none"])
def test_a_run_that_ends_early_returns_the_weights_that_it_has(intercept: str, loss: str) -> None:
    problem = Problem(*many_rows(), loss=loss, intercept=intercept)
    solution = solve(problem, InteriorPoint(), Stop(gap=1e-6, steps=2))
    assert solution.status is Status.ITERATION_LIMIT
    assert not solution.state.is_final_level
    assert solution.certificate.primal < 0.9 * problem.n_rows
    assert solution.certificate.dual > 0.0
    assert not InteriorPoint().unproven_point(solution.state).coef.any()


def test_a_sample_without_a_class_is_skipped() -> None:
    X, y = many_rows()
    y[:] = 0
    y[:30] = 1
    solution = solve(Problem(X, y), InteriorPoint(), Stop(gap=1e-6, steps=100))
    assert solution.status is Status.SOLVED


def test_a_matrix_that_cannot_be_factorised_ends_a_sample_only(monkeypatch) -> None:
    state = InteriorPoint().start(Problem(*many_rows()))
    factorise = scipy.linalg.cholesky

    def only_of_all_rows(*arguments, **options):
        if not state.is_final_level:
            raise scipy.linalg.LinAlgError
        return factorise(*arguments, **options)

    monkeypatch.setattr(scipy.linalg, "cholesky", only_of_all_rows)
    assert not state.is_final_level
    while not state.at_rest:
        InteriorPoint().step(state, 10**7)
    assert state.is_final_level
    assert state.primal - state.dual <= 1e-9 * state.primal


def test_a_path_that_is_lost_on_a_sample_is_left_for_more_rows() -> None:
    state = InteriorPoint().start(Problem(*many_rows()))
    while state.stage != "update":
        InteriorPoint().step(state, 1)
    assert not state.is_final_level
    state.recentrings, state.short_steps, state.length = 10**6, 10**6, 0.0
    while state.stage == "update":
        InteriorPoint().step(state, 1)
    assert not state.at_rest
    assert state.is_final_level


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("shape", [(9_000, 150), (20_000, 100)])
def test_the_number_of_threads_changes_no_bit(shape: tuple[int, int], threads: int) -> None:
    X, y = many_rows(*shape)
    problem = Problem(X, y)
    ends = []
    for count in (1, threads):
        solver, state = InteriorPoint(), InteriorPoint().start(problem)
        state.threads = count
        while solver.progress(state).steps < 20:
            solver.step(state, 100_000_000)
        ends.append(solver.point(state))
    assert state.is_final_level
    assert state.sample.n_panels > 2
    np.testing.assert_array_equal(ends[0].coef, ends[1].coef)
    np.testing.assert_array_equal(ends[0].dual_coef, ends[1].dual_coef)


@pytest.mark.usefixtures("little_work_is_shared")
def test_wide_matrices_of_few_rows_lead_to_the_optimum_with_the_same_bits() -> None:
    X, y = many_rows(8_000, 499)
    problem = Problem(X, y, C=0.1)
    ends, shares = [], []
    for threads in (1, 2):
        solver, state = InteriorPoint(), InteriorPoint().start(problem)
        state.threads = threads
        with single_threaded_blas():
            while not (state.is_final_level and state.primal - state.dual <= 1e-4 * state.primal):
                assert solver.step(state, 10_000_000) > 0
                shares.append(state.least_weight)
        ends.append(solver.point(state))
    assert max(shares) > 0.0  # some matrix was made of few rows
    assert gap(problem, ends[0]).relative_gap < 2e-4
    np.testing.assert_array_equal(ends[0].coef, ends[1].coef)
    np.testing.assert_array_equal(ends[0].dual_coef, ends[1].dual_coef)


def test_threads_are_kept_and_left_behind() -> None:
    state = InteriorPoint().start(Problem(*many_rows(100)))
    assert state.pool is None
    state.threads = 2
    pool = state.pool
    assert pool is not None
    assert state.pool is pool
    assert pickle.loads(pickle.dumps(state)).pool is not pool
    state.threads = 3
    assert state.pool is not pool


def test_centring_does_not_count_as_work_without_progress() -> None:
    X, y = many_rows(900, 120)
    solver = InteriorPoint()
    state = solver.start(Problem(X, y))
    while state.stage != "affine":
        assert state.work == 0 or state.centring_steps == 0
        solver.step(state, 1)
    assert state.centring_steps > 1
    assert state.work < 2 * X.size


def test_a_state_pickled_within_a_pass_goes_on() -> None:
    X, y = many_rows(4_000, 200)
    problem = Problem(X, y)
    solver = InteriorPoint()
    states = [solver.start(problem), solver.start(problem)]
    for number in range(100):
        for state in states:
            solver.step(state, 1)
        if number % 7 == 3:
            states[1] = pickle.loads(pickle.dumps(states[1])).resumed(problem)
    points = [solver.point(state) for state in states]
    assert states[0].steps > 2
    assert states[0].parts().keys() == states[1].parts().keys()
    np.testing.assert_array_equal(points[0].coef, points[1].coef)
    np.testing.assert_array_equal(states[0].row_variables, states[1].row_variables)


def test_double_precision_takes_over_where_single_does_not_suffice() -> None:
    X, y = many_rows(3_000, 6)
    X[:, 1] = X[:, 0] + 1e-5 * X[:, 1]  # two features that single precision hardly tells apart
    modes = []
    solution = solve(
        Problem(X, y, C=1e5),
        InteriorPoint(),
        Stop(gap=1e-8, steps=100),
        observers=[lambda event: modes.append(event.state().is_single)],
    )
    assert solution.status is Status.SOLVED
    assert modes[0]
    assert not modes[-1]


@pytest.mark.parametrize("loss", LOSSES)
def test_double_precision_takes_over_where_single_overflows(loss: str) -> None:
    X, y = many_rows(900, 6)
    modes = []
    solution = solve(
        # The square of a free intercept's feature times a cost is more than a float32 can be.
        Problem(1e-20 * X, y, C=1e40, loss=loss, intercept="free"),
        InteriorPoint(),
        Stop(gap=1e-6, steps=100),
        observers=[lambda event: modes.append(event.state().is_single)],
    )
    assert solution.status is Status.SOLVED
    assert modes[0]
    assert not modes[-1]


@pytest.mark.parametrize("example", [3, 6, 9, 16, 20, 22])
def test_a_degenerate_end_is_reached_in_any_order_of_the_rows(example: int) -> None:
    known = known_optimum("hinge", sparse=True, dtype=np.float32, weighted=True, seed=example)
    problem, rng = known.problem, np.random.default_rng(example)
    for _ in range(12):
        order = rng.permutation(problem.n_rows)
        permuted = Problem(
            problem.rows.matrix[order],
            problem.signs[order],
            C=problem.C,
            sample_weight=problem.sample_weight[order],
        )
        solution = solve(permuted, solver="interior-point", stop=Stop(gap=1e-8))
        assert solution.status is Status.SOLVED
        assert solution.certificate.primal == pytest.approx(float(known.value), rel=1e-8)


def test_a_warm_start_saves_steps() -> None:
    X, y = many_rows(5_000)
    problem = Problem(X, y)
    stop = Stop(gap=1e-6)
    first = solve(problem, InteriorPoint(), stop)
    assert solve(problem, InteriorPoint(), stop, warm=first).steps == 0
    near = solve(problem.with_C(1.1), InteriorPoint(), stop, warm=first)
    cold = solve(problem.with_C(1.1), InteriorPoint(), stop)
    assert near.status is cold.status is Status.SOLVED
    assert near.steps < cold.steps


@pytest.mark.parametrize(
    "warm",
    [
        Point(np.full(6, np.nan)),
        Point(np.full(6, 1e200), 1e200),
        Point(np.zeros(3)),
        Point(np.ones(6), -50.0, np.full(80, np.nan)),
        Point(np.ones(6), 3.0, np.full(80, 1e9)),
    ],
)
def test_a_useless_warm_start_does_no_harm(warm: Point) -> None:
    X, y = two_clouds()
    problem = Problem(X, y, sample_weight=some_weights(len(y)))
    solution = solve(problem, InteriorPoint(), Stop(gap=1e-6, steps=200), warm=warm)
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_may_stay_in_their_file(tmp_path, sparse: bool) -> None:
    X, y = many_rows()
    stored = sp.csr_array(X) if sparse else X
    write_shards(tmp_path / "rows", [Dataset(stored, y)])
    mapped = open_shards(tmp_path / "rows")
    stop = Stop(gap=1e-5)
    from_file = solve(Problem(mapped.X, mapped.y), InteriorPoint(), stop)
    from_memory = solve(Problem(stored, y), InteriorPoint(), stop)
    assert from_file.status is Status.SOLVED
    np.testing.assert_array_equal(from_file.coef, from_memory.coef)


def test_many_features_get_bent_steps() -> None:
    X, y = many_rows(900, 120)
    problem = Problem(X, y, C=10.0)
    bent = []
    solution = solve(
        problem,
        InteriorPoint(),
        Stop(gap=1e-8, steps=60),
        observers=[lambda event: bent.append(event.state().is_refined)],
    )
    assert solution.status is Status.SOLVED
    assert any(bent)


@pytest.mark.parametrize(
    ("name", "value"),
    [("stage", "lunch"), ("level", 7), ("position", 10**6), ("n_sums", 10**6), ("last_level", 3)],
)
def test_an_impossible_state_is_refused(name: str, value) -> None:
    solver = InteriorPoint()
    state = solver.start(Problem(*many_rows(100)))
    setattr(state, name, value)
    with pytest.raises(ValueError, match="a run cannot be in stage"):
        solver.progress(state)


def test_a_state_is_never_behind_the_last_panel_of_its_pass() -> None:
    solver = InteriorPoint()
    state = solver.start(Problem(*many_rows(9_000, 150)))
    assert state.sample.n_panels > 1
    state.position = state.sample.n_panels - 1
    solver.progress(state)
    state.position += 1
    with pytest.raises(ValueError, match="a run cannot be in stage"):
        solver.progress(state)


def test_what_is_refused_and_what_is_used_instead() -> None:
    wide = Problem(np.eye(2, MOST_FEATURES + 1), [0, 1])
    support = InteriorPoint().supports(wide)
    assert not support
    assert "features are too many for a dense matrix" in support.reason
    assert "use solver='dual-coordinate'" in support.reason
    support = InteriorPoint().supports(Problem(np.eye(2), [0, 1], loss="huber"))
    assert not support
    assert "neither hinge nor squared hinge" in support.reason
