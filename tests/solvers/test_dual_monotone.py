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


_DUAL_LINEAR = 15  # among the numbers of a run


@pytest.mark.parametrize("options", [{"intercept": "free"}, {"intercept_scale": 30.0}])
def test_the_running_sum_of_the_dual_stays_true_about_a_centre(options: dict) -> None:
    X, y = load_digits(return_X_y=True)
    rows = X[:400] / np.linalg.norm(X[:400], axis=1, keepdims=True)
    problem = hinge.Problem(rows, y[:400] == 8, C=1e4, **{"intercept": "augmented", **options})
    solver = hinge.solvers.DualCoordinate(aim=1e-8)
    state = solver.start(problem)
    looks = 0
    for _ in range(3000):
        solver.step(state, 500)
        begin, end = state.run.on_trial
        if begin == end:
            looks += 1
            total = float(np.sum(state.rows[:, 0]))
            assert state.numbers[_DUAL_LINEAR] == pytest.approx(total, rel=1e-9)
    assert looks > 1000
