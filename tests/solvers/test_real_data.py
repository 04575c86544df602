"""Real data sets: reported equals recomputed, and loose certificates agree with tight ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Problem, Status, Stop, solve
from hinge.testing import verify

pytestmark = pytest.mark.data
INTERCEPTS = ["free", "augmented", "none"]


def _csr(archive, part: str):
    pieces = (archive[f"{part}_data"], archive[f"{part}_indices"], archive[f"{part}_indptr"])
    return sp.csr_array(pieces, shape=tuple(archive[f"{part}_shape"]))


@pytest.fixture(params=["sonar", "haberman", "usps", "rcv1_small", "a9a"], scope="module")
def data(request, hinge_data):
    """Return a few thousand rows of a data set and two labels for them."""
    with np.load(hinge_data / f"{request.param}.npz") as archive:
        part = "X_train" if "y_train" in archive else "X"
        sparse = f"{part}_data" in archive
        X = _csr(archive, part)[:4000] if sparse else archive[part][:4000]
        y = archive["y_train" if part == "X_train" else "y"][:4000]
    return X, (y == np.max(y)).astype(int)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_what_is_reported_is_true(data, loss: str, intercept: str) -> None:
    X, y = data
    problem = Problem(X, y, loss=loss, intercept=intercept, C=0.1)
    stop = Stop(gap=1e-3, steps=20_000)
    verify(problem, solve(problem, stop=stop), stop)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_loose_certificate_never_contradicts_a_tight_one(data, intercept: str) -> None:
    X, y = data
    problem = Problem(X, y, intercept=intercept, C=0.01)
    loose = solve(problem, stop=Stop(gap=0.1, steps=20_000))
    tight = solve(problem, stop=Stop(gap=1e-6, steps=50_000))
    assert loose.status is Status.SOLVED
    bounds = [solution.certificate.decision_bounds(X) for solution in (loose, tight)]
    assert (bounds[0][0] <= bounds[1][1]).all()
    assert (bounds[1][0] <= bounds[0][1]).all()
    unsettled = [solution.certificate.unsettled(X) for solution in (loose, tight)]
    assert unsettled[1] <= unsettled[0]


@pytest.mark.parametrize("exponent", [-10, -5, 0, 5, 10])
def test_any_C_returns_the_truth(data, exponent: int) -> None:
    X, y = data
    problem = Problem(X, y, intercept="augmented", C=10.0**exponent)
    stop = Stop(gap=1e-3, steps=200)
    solution = solve(problem, stop=stop)
    verify(problem, solution, stop)
    assert solution.status in (Status.SOLVED, Status.ITERATION_LIMIT, Status.STALLED)
