"""The dual point of coordinate descent never gets worse, wherever a run is cut."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

import hinge


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_dual_never_falls_even_while_an_extrapolation_is_on_trial(loss: str) -> None:
    X, y = load_digits(return_X_y=True)
    # A constant feature that is large beside the rows has a centre, and the dual may fall with it.
    options = {"intercept": "augmented", "intercept_scale": 0.5}
    problem = hinge.Problem(X[:600] / 16.0, y[:600] == 8, loss=loss, **options)
    solver = hinge.solvers.DualCoordinate()
    state = solver.start(problem)
    duals = []
    trials = 0
    for _ in range(300):
        solver.step(state, 1500)
        begin, end = state.run.on_trial
        trials += end > begin
        duals.append(hinge.certificates.gap(problem, solver.point(state), region=False).dual)
    assert trials > 0
    assert np.min(np.diff(duals)) >= -1e-12 * abs(duals[-1])
    assert duals[-1] > duals[0]
