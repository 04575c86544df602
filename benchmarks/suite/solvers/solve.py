"""hinge's solvers by name, from raw arrays to the certified solution."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from benchmarks.suite.method import Fitted, Floats, Ladder, Method, Setting
from benchmarks.suite.task import Task


class Solve(Method):
    """``hinge.solve`` with validation and certificates inside the clock."""

    note = "time includes validation of the arrays and every certificate; gap is its own, certified"

    def __init__(self, solver: str) -> None:
        self.solver = solver
        self.name = f"hinge {solver}"

    def refusal(self, task: Task) -> str | None:  # noqa: ARG002 - it takes every task there is
        """Return None: every task is taken."""
        return None

    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:  # noqa: ARG002
        """Sweep the relative gap."""
        loose = [1e-1, 1e-2, 1e-3, 1e-4]
        tight = [0.3, 1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6]
        return [[{"gap": gap} for gap in (loose if quick else tight)]]

    def prepare(self, X: Any, y: Floats, task: Task) -> Any:  # noqa: ARG002
        """Nothing is converted outside the clock."""
        return X, y

    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Validate, solve and certify."""
        hinge = importlib.import_module("hinge")
        X, y = prepared
        problem = hinge.Problem(X, y, loss=task.loss, C=task.C, intercept=task.intercept)
        stop = hinge.Stop(gap=setting["gap"], seconds=setting.get("seconds"))
        return hinge.solve(problem, solver=self.solver, stop=stop)

    def result(self, prepared: Any, fitted: Any) -> Fitted:  # noqa: ARG002
        """Return the point with what its certificate says."""
        certificate = fitted.certificate
        claims = {
            "status": str(fitted.status),
            "solver": fitted.solver,
            "relative_gap": certificate.relative_gap,
            "optimum_at_least": certificate.primal - certificate.gap,
            "certificate_seconds": fitted.certificate_seconds,
        }
        return Fitted(fitted.coef, float(fitted.intercept), fitted.steps, claims)


AUTO, DUAL_COORDINATE, INTERIOR_POINT = map(Solve, ("auto", "dual-coordinate", "interior-point"))
