"""Newton's method: smooth losses, and the hinge with its corner smoothed."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from tests.estimators.data import cancer, two_classes
from tests.solvers.data import some_weights, two_clouds

from hinge import Point, Problem, Status, Stop, solve
from hinge.data import Dataset, open_shards, write_shards
from hinge.solvers import Newton
from hinge.solvers.linear.newton_state import MOST_FEATURES

LOSSES = ["squared_hinge", "huber"]
INTERCEPTS = ["augmented", "free", "none"]


def many_rows(n: int = 20_000, d: int = 10, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=n) > 0.3).astype(int)


def wide_rows(n: int = 400, d: int = MOST_FEATURES + 500, seed: int = 0):
    """Return sparse rows of too many features for a matrix of them."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.02, rng=rng, format="csr")
    return X, (X @ rng.normal(size=d) + 0.5 * rng.normal(size=n) > 0.0).astype(int)


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_unscaled_data_do_not_matter(loss: str, intercept: str, C: float) -> None:
    X, y = cancer(scaled=False)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, Newton(), stop=Stop(gap=1e-6, steps=100))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_same_optimum_as_coordinate_descent(loss: str, intercept: str, container: type) -> None:
    X, y = two_classes()
    weights = np.arange(60) % 3
    problem = Problem(container(X), y, loss=loss, intercept=intercept, C=0.5, sample_weight=weights)
    solution = solve(problem, Newton(), Stop(gap=1e-8, steps=100))
    other = solve(problem, "dual-coordinate", Stop(gap=1e-8)).certificate
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(other.primal, rel=2e-8)
    assert np.all(solution.dual_coef[weights == 0] == 0.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_rows_without_weight_do_not_move_the_optimum(loss: str, intercept: str) -> None:
    X, y = two_clouds()
    weights = some_weights(len(y))
    whole, part = (
        solve(
            Problem(X[rows], y[rows], loss=loss, intercept=intercept, sample_weight=weights[rows]),
            Newton(aim=1e-9),
            Stop(gap=1e-9, steps=200),
        )
        for rows in (slice(None), weights > 0)
    )
    assert whole.status is part.status is Status.SOLVED
    assert whole.certificate.primal == pytest.approx(part.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(whole.coef, part.coef, rtol=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_more_features_than_a_matrix_holds(loss: str, intercept: str, C: float) -> None:
    problem = Problem(*wide_rows(), loss=loss, intercept=intercept, C=C)
    stages = set()
    solution = solve(
        problem,
        Newton(aim=1e-8),
        Stop(gap=1e-8, steps=100),
        observers=[lambda event: stages.add(event.state().stage)],
    )
    other = solve(problem, "dual-coordinate", Stop(gap=1e-8)).certificate
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(other.primal, rel=2e-8)
    assert "product" in stages
    assert "matrix" not in stages


@pytest.mark.parametrize("C", [100.0, 1e6])
@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("loss", ["hinge", *LOSSES])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_separable_classes(loss: str, intercept: str, draw: int, C: float) -> None:
    """Many problems, so that none is solved by a lucky rounding alone."""
    X, y = two_clouds(400, noise=0.05, seed=draw)
    X[:, 0] = np.where(y > 0, 3.0, -3.0) + X[:, 0] / 10
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_samples_come_first(intercept: str, storage) -> None:
    X, y = many_rows()
    problem = Problem(storage(X), y, loss="squared_hinge", intercept=intercept, C=10.0)
    levels = []
    solution = solve(
        problem,
        Newton(),
        Stop(gap=1e-6, steps=100),
        observers=[lambda event: levels.append(event.state().level)],
    )
    assert solution.status is Status.SOLVED
    assert levels[0] == 0
    assert levels[-1] == 1


@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("loss", ["hinge", *LOSSES])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_run_that_ends_early_returns_the_weights_that_it_has(
    intercept: str, loss: str, C: float
) -> None:
    X, y = many_rows()
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=2))
    assert solution.status is Status.ITERATION_LIMIT
    assert not solution.state.is_final
    at_zero = float(problem.loss.value(np.zeros(1))[0]) * float(np.sum(problem.costs))
    assert solution.certificate.primal < 0.9 * at_zero
    assert solution.certificate.dual > 0.0
    assert not Newton().unproven_point(solution.state).coef.any()  # rows would have to be read


def test_weights_beyond_floating_point_are_not_returned() -> None:
    state = Newton().start(Problem(*many_rows()))
    state.weights[0] = np.inf
    assert not Newton().point(state).coef.any()


def test_a_sample_without_a_class_is_skipped() -> None:
    X, y = many_rows()
    y[:] = 0
    y[:30] = 1
    problem = Problem(X, y, loss="squared_hinge")
    assert solve(problem, Newton(), Stop(gap=1e-6, steps=100)).status is Status.SOLVED


def test_a_matrix_that_cannot_be_factorised_ends_a_sample_only(monkeypatch) -> None:
    state = Newton().start(Problem(*many_rows(), loss="squared_hinge"))
    state.ease = 1.0
    factorise, asked = scipy.linalg.lapack.dpotrf, []

    def only_of_all_rows(*arguments, **options):
        asked.append(state.is_final_level)
        factor, failed = factorise(*arguments, **options)
        return factor, failed if state.is_final_level else 1

    monkeypatch.setattr(scipy.linalg.lapack, "dpotrf", only_of_all_rows)
    assert not state.is_final_level
    while not state.at_rest:
        Newton().step(state, 10**7)
    assert asked.count(False) == 1  # the sample is given up at once
    assert asked.count(True) > 0
    assert state.is_final_level
    assert state.primal - state.dual <= 1e-9 * state.primal


def test_margins_that_a_bound_decides_are_not_computed() -> None:
    X, y = two_clouds(3_000, noise=0.3, seed=1)
    # Short dense rows are sooner read one after the other than passed by.
    problem = Problem(sp.csr_array(X), y, loss="squared_hinge", C=10.0)
    exact = []
    solution = solve(
        problem,
        Newton(),
        Stop(gap=1e-9, steps=100),
        observers=[lambda event: exact.append(event.state().is_exact.mean())],
    )
    assert solution.status is Status.SOLVED
    assert exact[0] == 1.0
    assert exact[-1] < 0.5


@pytest.mark.usefixtures("little_work_is_shared")
@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("kind", ["matrix", "products", "sparse"])
def test_the_number_of_threads_changes_no_bit(kind: str, threads: int) -> None:
    shape = {"matrix": (60_000, 20), "products": (4_000, 400), "sparse": (60_000, 20)}[kind]
    X, y = many_rows(*shape)
    X = sp.csr_array(X) if kind == "sparse" else X
    problem = Problem(X, y, loss="huber")
    ends = []
    for count in (1, threads):
        solver, state = Newton(), Newton().start(problem)
        state.threads = count
        while not (state.is_final_level and state.steps > 4) and not state.at_rest:
            solver.step(state, 100_000_000)
        ends.append(solver.point(state))
    assert state.is_final_level
    assert state.n_panels > 1
    np.testing.assert_array_equal(ends[0].coef, ends[1].coef)
    np.testing.assert_array_equal(ends[0].dual_coef, ends[1].dual_coef)


@pytest.mark.parametrize("shape", [(4_000, 200), (30_000, 20)])
def test_a_state_pickled_within_a_pass_goes_on(shape: tuple[int, int]) -> None:
    problem = Problem(*many_rows(*shape), loss="squared_hinge")
    solver = Newton()
    states = [solver.start(problem), solver.start(problem)]
    for number in range(120):
        for state in states:
            solver.step(state, 1)
        if number % 7 == 3:
            states[1] = pickle.loads(pickle.dumps(states[1])).resumed(problem)
    points = [solver.point(state) for state in states]
    assert states[0].steps > 2
    assert states[0].parts().keys() == states[1].parts().keys()
    np.testing.assert_array_equal(points[0].coef, points[1].coef)
    np.testing.assert_array_equal(states[0].margin, states[1].margin)


def test_a_warm_start_saves_steps() -> None:
    problem = Problem(*many_rows(5_000), loss="squared_hinge")
    stop = Stop(gap=1e-6)
    first = solve(problem, Newton(), stop)
    assert solve(problem, Newton(), stop, warm=first).steps == 0
    near = solve(problem.with_C(1.1), Newton(), stop, warm=first)
    cold = solve(problem.with_C(1.1), Newton(), stop)
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
@pytest.mark.parametrize("loss", LOSSES)
def test_a_useless_warm_start_does_no_harm(warm: Point, loss: str) -> None:
    X, y = two_clouds()
    problem = Problem(X, y, loss=loss, sample_weight=some_weights(len(y)))
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200), warm=warm)
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_may_stay_in_their_file(tmp_path, sparse: bool) -> None:
    X, y = many_rows()
    stored = sp.csr_array(X) if sparse else X
    write_shards(tmp_path / "rows", [Dataset(stored, y)])
    mapped = open_shards(tmp_path / "rows")
    stop = Stop(gap=1e-5)
    from_file = solve(Problem(mapped.X, mapped.y, loss="huber"), Newton(), stop)
    from_memory = solve(Problem(stored, y, loss="huber"), Newton(), stop)
    assert from_file.status is Status.SOLVED
    np.testing.assert_array_equal(from_file.coef, from_memory.coef)


@pytest.mark.parametrize(
    ("name", "value"),
    [("stage", "lunch"), ("level", 7), ("position", 10**6), ("n_sums", 10**6), ("last_level", 3)],
)
def test_an_impossible_state_is_refused(name: str, value) -> None:
    solver = Newton()
    state = solver.start(Problem(*many_rows(100), loss="huber"))
    setattr(state, name, value)
    with pytest.raises(ValueError, match="a run cannot be in stage"):
        solver.progress(state)


def test_a_stage_that_needs_a_matrix_is_refused_where_there_is_none() -> None:
    solver = Newton()
    state = solver.start(Problem(*wide_rows(), loss="huber"))
    state.stage = "matrix"
    with pytest.raises(ValueError, match="in stage 'matrix' without room for one"):
        solver.progress(state)


def test_a_state_is_never_behind_the_last_panel_of_its_pass() -> None:
    solver = Newton()
    state = solver.start(Problem(*many_rows(9_000, 150), loss="huber"))
    assert state.n_panels > 1
    state.position = state.n_panels - 1
    solver.progress(state)
    state.position += 1
    with pytest.raises(ValueError, match="a run cannot be in stage"):
        solver.progress(state)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_corner_is_smoothed_until_it_does_not_matter(
    intercept: str, C: float, container: type
) -> None:
    X, y = many_rows(6000, 8)
    problem = Problem(container(X), y, C=C, intercept=intercept)
    solution = solve(problem, Newton(aim=1e-7), Stop(gap=1e-7, steps=400))
    other = solve(problem, "interior-point", Stop(gap=1e-7)).certificate
    assert solution.status is Status.SOLVED
    assert solution.certificate.primal == pytest.approx(other.primal, rel=2e-7)


def test_a_smaller_gap_than_was_aimed_at_is_reached() -> None:
    problem = Problem(*many_rows(), intercept="free")
    solution = solve(problem, Newton(aim=1e-2), Stop(gap=1e-8))
    assert solution.status is Status.SOLVED


def test_a_known_point_says_how_little_to_smooth() -> None:
    problem = Problem(*many_rows(), intercept="augmented")
    rough = solve(problem, "dual-coordinate", Stop(gap=1e-3))
    state = Newton().start(problem, rough.point)
    Newton().step(state, 10**9)
    assert 1e-4 < state.smoothing < 0.1
    assert solve(problem, Newton(), Stop(gap=1e-6), warm=rough.point).status is Status.SOLVED


@pytest.mark.parametrize("C", [0.7, 33.3])
@pytest.mark.parametrize("loss", ["hinge", "huber"])
def test_classes_of_equal_size_leave_a_free_intercept_where_it_is(loss: str, C: float) -> None:
    # At zero weights no row is in the window, and the intercept's slope is rounding alone.
    rng = np.random.default_rng(9)
    y = rng.permutation(np.arange(400) % 2)
    X = rng.normal(size=(400, 10)) + 0.3 * np.where(y, 1.0, -1.0)[:, None]
    problem = Problem(X, y, loss=loss, intercept="free", C=C)
    solution = solve(problem, Newton(), Stop(gap=1e-4, steps=100))
    assert solution.status is Status.SOLVED


def test_features_that_no_row_near_the_corner_has() -> None:
    """A step along such a feature would be as long as the norm alone lets it be."""
    X, y = many_rows(4000, 6)
    rare = np.zeros((4000, 3))
    rare[[0, 1, 2], [0, 1, 2]] = 1.0
    problem = Problem(np.hstack((X, rare)), y, C=100.0, intercept="free")
    solution = solve(problem, Newton(), Stop(gap=1e-6, steps=200))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("smoothing", [0.0, -0.1, 0.75, float("nan"), float("inf")])
def test_a_state_with_a_smoothing_that_is_none_is_refused(smoothing: float) -> None:
    solver = Newton()
    state = solver.start(Problem(*many_rows(200)))
    state.smoothing = smoothing
    with pytest.raises(ValueError, match="cannot smooth"):
        solver.progress(state)
