"""The choice of a solver, and what comes back whatever is chosen."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.data import two_clouds

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.solvers import DualCoordinate, get_solver, solver_names
from hinge.solvers.auto import Look, Watch, choose
from hinge.solvers.costs import (
    COSTS,
    COSTS_APART,
    coordinate_forecast,
    coordinate_least,
    interior_cost,
    newton_cost,
    newton_rounds,
    primal_newton_cost,
)
from hinge.solvers.linear.newton_state import MOST_FEATURES
from hinge.testing import verify

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]
RETURNED = (Status.SOLVED, Status.ITERATION_LIMIT, Status.STALLED)


def test_names_and_objects() -> None:
    X, y = two_clouds()
    problem = Problem(X, y)
    for name in solver_names():
        assert get_solver(name, problem).name == name
    configured = DualCoordinate("cyclic")
    assert get_solver(configured, problem) is configured
    with pytest.raises(hinge.InvalidParameterError, match=r"'auto'.*Did you mean 'primal-newton'"):
        get_solver("primal_newton", problem)


@pytest.mark.parametrize("loss", LOSSES)
def test_few_data_are_left_to_newton_at_once(loss: str) -> None:
    few, many = (Problem(*two_clouds(*shape), loss=loss) for shape in ((300, 6), (20_000, 100)))
    able = ("dual-coordinate", "newton", "primal-newton")
    assert choose(few, 1e-4, able).names == ("primal-newton", "newton", "dual-coordinate")
    assert choose(many, 1e-4, able).names[0] == "dual-coordinate"
    assert choose(few, 1e-4, able[:2]).names[0] == "dual-coordinate"
    solution, named = (solve(few, name, stop=Stop(gap=1e-4)) for name in ("auto", "primal-newton"))
    assert solution.solver == "primal-newton"
    assert np.array_equal(solution.coef, named.coef)


@pytest.mark.parametrize("factor", [1.0, 1e4])
def test_rows_without_weight_do_not_sway_the_choice(factor: float) -> None:
    X, y = two_clouds()
    X = X * factor
    absent = np.zeros(100)
    rows = np.vstack([X, np.zeros((len(absent), X.shape[1]))])
    labels = np.append(y, np.zeros(len(absent), dtype=int))
    plain = Problem(X, y, intercept="none")
    weights = np.append(np.ones(len(y)), absent)
    padded = Problem(rows, labels, intercept="none", sample_weight=weights)
    assert solve(plain).solver == solve(padded).solver
    for stored in (np.asarray, sp.csr_array):
        problems = (
            Problem(stored(X), y, loss="squared_hinge"),
            Problem(stored(rows), labels, loss="squared_hinge", sample_weight=weights),
        )
        for model in (*COSTS.values(), *COSTS_APART.values(), coordinate_least):
            plain_cost, padded_cost = (model(problem, 1e-4) for problem in problems)
            assert padded_cost == pytest.approx(plain_cost, rel=1e-12)


def test_a_first_method_that_takes_too_many_steps_gives_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem(*two_clouds(300, 6), loss="squared_hinge")
    assert solve(problem, stop=Stop(gap=1e-4)).solver == "primal-newton"
    monkeypatch.setattr("hinge.solvers.relay.most_steps", lambda *_: 1)
    solution = solve(problem, stop=Stop(gap=1e-4))
    assert solution.status is Status.SOLVED
    assert solution.state.names.startswith("dual-coordinate")
    assert solution.state.names.split()[-2] == "primal-newton"  # the last of the others


@pytest.mark.parametrize("exponent", range(-10, 11, 2))
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_any_C_returns_the_truth(loss: str, intercept: str, exponent: int) -> None:
    rng = np.random.default_rng(0)
    X, y = two_clouds()
    wide = rng.normal(size=(9, 40)), np.arange(9) % 2
    apart = X + 100.0 * np.outer(2 * y - 1, np.ones(X.shape[1])), y
    twice = np.column_stack([X, X]), y
    for rows, labels in ((X, y), wide, apart, twice):
        problem = Problem(rows, labels, loss=loss, C=10.0**exponent, intercept=intercept)
        stop = Stop(gap=1e-3, steps=300)
        solution = solve(problem, stop=stop)
        verify(problem, solution, stop)
        assert solution.status in RETURNED


@pytest.mark.parametrize("scale", [1e-150, 1e-100, 1e-20, 1e20, 1e100, 1e140])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_any_scale_returns(loss: str, intercept: str, scale: float) -> None:
    X, y = two_clouds()
    problem = Problem(X * scale, y, loss=loss, intercept=intercept)
    solution = solve(problem, stop=Stop(gap=1e-3, steps=300))
    assert solution.status in RETURNED
    assert np.isfinite(solution.coef).all()


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_separable_data_that_are_not_scaled(loss: str, intercept: str) -> None:
    X, y = two_clouds()
    X = X + 100.0 * np.outer(2 * y - 1, np.ones(X.shape[1]))
    stop = Stop(gap=1e-3, steps=20_000)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=1.0)
    solution = solve(problem, stop=stop)
    assert solution.status is Status.SOLVED
    verify(problem, solution, stop)


def _watch(*claims: tuple[int, float]) -> Watch:
    watch = Watch(np.full((Watch.LENGTH, 2), np.nan), (0.0, 100.0, 1.0), 1e-4)
    for work, gap in claims:
        watch.note(work, gap)
    return watch


def test_a_forecast_is_believed_the_more_the_longer_a_run_has_taken() -> None:
    # One decade of four in 50, then in 100: what is left is forecast to take 150 and 300.
    assert _watch((50, 0.1)).work_left() == pytest.approx(150)
    assert _watch((50, 1.0 - 1e-9), (150, 0.1)).work_left() == pytest.approx(300)
    # The rival costs 100: what has been done times what is left must be more than 40,000.
    assert not _watch((115, 0.1)).is_overtaken()  # 115 times 345
    assert _watch((116, 0.1)).is_overtaken()
    assert not _watch((50, 1.0 - 1e-9), (140, 0.1)).is_overtaken()  # 140 times 270
    assert _watch((50, 1.0 - 1e-9), (150, 0.1)).is_overtaken()


def test_newton_is_no_rival_where_classes_are_apart() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 10))
    problem = Problem(X, X[:, 0] > 0, intercept="free")
    able = ["dual-coordinate", "interior-point", "newton"]
    assert choose(problem, 1e-3, able).names[1] == "newton"
    apart = choose(problem, 1e-3, able, apart=True)
    assert apart.names == ("dual-coordinate", "interior-point", "newton", "dual-coordinate")
    assert "interior-point" in apart.reason


def test_newton_has_a_round_more_for_every_decade_of_C() -> None:
    X, y = two_clouds()
    for loss in LOSSES:
        rounds = [newton_rounds(Problem(X, y, loss=loss, C=C), 1e-3) for C in (1e-9, 1e3, 1e5)]
        assert rounds[0] == pytest.approx(3.0 if loss == "hinge" else 2.0)
        assert rounds[2] == pytest.approx(rounds[1] + 2.0)


def test_a_free_intercept_makes_every_method_dearer() -> None:
    X, y = two_clouds()
    free, augmented = (Problem(X, y, intercept=name) for name in ("free", "augmented"))
    for cost in (newton_cost, interior_cost):
        assert cost(free, 1e-3) > cost(augmented, 1e-3)
    smooth = [Problem(X, y, loss="huber", intercept=name) for name in ("free", "augmented")]
    passes = [coordinate_forecast(problem, 1e-3, 0.5) for problem in smooth]
    assert passes[0] > passes[1]


def test_products_are_the_more_the_stiffer_sparse_rows_of_many_features_are() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((50, MOST_FEATURES + 1), density=0.02, rng=rng, format="csr")
    rows, y = (X, np.asarray(X.todense())), np.arange(50) % 2
    sparse, dense = (
        [newton_cost(Problem(kind, y, C=C, loss="huber"), 1e-3) for C in (0.3, 1.2)]
        for kind in rows
    )
    assert sparse[1] > sparse[0]
    assert dense[1] == dense[0]


@pytest.mark.parametrize("short", [14, 15])
def test_classes_overlap_where_more_rows_are_short_of_a_margin_than_weights_could_mend(
    short: int,
) -> None:
    X, y = two_clouds()  # 6 features: seven weights, for two rows each
    problem = Problem(X, y)
    half = problem.n_rows // 2
    assert Look(problem, 1e-3, problem.n_rows, half, short).overlaps == (short == 15)
    assert Look(problem, 1e-3, half, half, short).overlaps  # twice as many of all rows
    wide = Problem(X[:, :1].repeat(40, axis=1), y)  # where two rows for a weight are all rows
    assert Look(wide, 1e-3, 30, 20, short - 4).overlaps == (short == 15)


def test_a_share_that_falls_has_not_settled() -> None:
    look = Look(Problem(*two_clouds()), 1e-3, 80, 40, 20)
    assert look.short_share == 0.25
    assert not look.has_settled(math.nan)
    assert not look.has_settled(0.3)
    assert look.has_settled(0.27)


@pytest.mark.parametrize(("visited", "left"), [(0, 7), (24, 3), (48, 2), (56, 1), (112, 1)])
def test_a_look_is_put_off_until_enough_rows_can_have_been_visited(visited: int, left: int) -> None:
    X = np.random.default_rng(0).normal(size=(178, 13))
    problem = Problem(X, X[:, 0] > 0)
    look = Look(problem, 1e-4, visited, 0, 0)
    assert look.is_enough == (visited >= 8 * 14)
    assert look.sweeps_left == left


def test_primal_newton_is_expected_to_take_more_steps_on_very_stiff_problems() -> None:
    X = np.array([[0.0], [1e3], [2e3], [3e3]])
    stiff, stiffer = (
        primal_newton_cost(Problem(X, [0, 0, 1, 1], C=C, loss="squared_hinge"), 1e-3)
        for C in (1.0, 1e4)
    )
    assert stiffer == pytest.approx(3.0 * stiff, rel=1e-12)
