"""Newton's method in the primal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import cancer, two_classes

from hinge import Problem, Status, Stop, solve
from hinge.losses import Huber, SquaredHinge
from hinge.solvers import PrimalNewton
from hinge.solvers.linear.primal_newton import MOST_FEATURES, _line_search

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["augmented", "free", "none"]


@pytest.mark.parametrize("C", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_unscaled_data_do_not_matter(loss: str, intercept: str, C: float) -> None:
    X, y = cancer(scaled=False)
    problem = Problem(X, y, loss=loss, intercept=intercept, C=C)
    solution = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6, steps=500))
    assert solution.status is Status.SOLVED


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_same_optimum_as_coordinate_descent(loss: str, intercept: str, container: type) -> None:
    X, y = two_classes()
    weights = np.arange(60) % 3
    problem = Problem(container(X), y, loss=loss, intercept=intercept, C=0.5, sample_weight=weights)
    newton = solve(problem, PrimalNewton(), stop=Stop(gap=1e-6, steps=500)).certificate
    other = solve(problem, stop=Stop(gap=1e-6)).certificate
    assert newton.primal == pytest.approx(other.primal, rel=2e-6)
    assert newton.dual <= other.primal
    assert other.dual <= newton.primal


@pytest.mark.parametrize("loss", [SquaredHinge(), Huber(0.5), Huber(1e-6)])
@pytest.mark.parametrize("case", range(20))
def test_a_line_search_ends_where_the_derivative_is_zero(loss, case: int) -> None:
    rng = np.random.default_rng(case)
    n = int(rng.integers(1, 40))
    margins, change = rng.normal(1.0, 1.0, n).round(1), rng.normal(0.3, 1.0, n).round(1)
    costs, p, q = rng.integers(0, 3, n).astype(float), -rng.uniform(0.1, 3.0), rng.uniform(0.1, 2.0)

    def slope(t: float) -> float:
        return p + q * t + float(change @ (costs * loss.subgradient(margins + t * change)))

    length = _line_search(loss, margins, change, costs, (p, q))
    if slope(0.0) >= 0.0:
        assert length == 0.0
        return
    # Next to a corner of width 1e-6 the derivative rises by the costs within that step.
    step = 1e-9 * max(1.0, length)
    assert slope(length - step) <= 1e-9
    assert slope(length + step) >= -1e-9


def test_a_direction_without_an_end_is_followed_to_its_last_corner() -> None:
    ones, loss = np.ones(2), SquaredHinge()
    assert _line_search(loss, np.array([-1.0, 0.0]), ones, ones, (0.0, 0.0)) == pytest.approx(2.0)
    assert _line_search(loss, ones, ones, ones, (-1.0, 0.0)) == 0.0


def test_warm_start_and_pickled_state() -> None:
    X, y = cancer()
    problem = Problem(X, y, loss="squared_hinge", intercept="augmented")
    first = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8))
    again = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8), warm=first)
    assert again.steps < first.steps
    part = solve(problem, PrimalNewton(), stop=Stop(gap=1e-8, steps=2))
    rest = solve(
        problem,
        PrimalNewton(),
        stop=Stop(gap=1e-8),
        resume=pickle.loads(pickle.dumps(part.state)),
    )
    np.testing.assert_array_equal(rest.coef, first.coef)


def test_many_features_are_refused() -> None:
    problem = Problem(np.eye(2, MOST_FEATURES + 1), [0, 1])
    support = PrimalNewton().supports(problem)
    assert not support
    assert "too many" in support.reason
