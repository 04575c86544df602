"""The time that a problem has: that of making it is a part of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from hinge import Problem, Stop
from hinge.multiclass import binary_fits
from hinge.multiclass.binary_fits import Family, Plan, solve_family
from hinge.result import Point
from hinge.solvers import StopFlag

X = np.random.default_rng(0).standard_normal((60, 3))


@pytest.mark.parametrize(("limit", "left"), [(40.0, 10.0), (20.0, 0.0), (None, None)])
def test_what_making_a_problem_takes_is_not_left_for_solving_it(
    limit: float | None, left: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = SimpleNamespace(now=0.0)
    given = []

    def make(_: int) -> Problem:
        clock.now += 30.0
        return Problem(X, X[:, 0] > 0)

    def run(problem, solver, settings, *others):
        given.append(settings.stop.seconds)
        return real(problem, solver, settings, *others)

    real = binary_fits.run
    monkeypatch.setattr(binary_fits, "run", run)
    monkeypatch.setattr(binary_fits, "time", SimpleNamespace(perf_counter=lambda: clock.now))
    family = Family(make, lambda _: Point(np.zeros(3), 0.0, np.zeros(60)))
    (solution,) = solve_family(family, [None], Plan(stop=Stop(seconds=limit)), StopFlag())
    assert given == [left]
    assert solution.point.coef.shape == (3,)
