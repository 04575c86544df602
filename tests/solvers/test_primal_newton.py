"""Newton's method in the primal."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import cancer, two_classes

from hinge import Problem, Status, Stop, solve
from hinge.solvers import PrimalNewton
from hinge.solvers.linear.primal_newton import MOST_FEATURES

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
