"""hinge: the estimator, and its solvers by name."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.kernel.method import KernelMethod, Machine, Setting
from benchmarks.kernel.methods.scikit_learn import machine_of

# What the record has of a run's counters: where they are in the solver's state, if it has them.
COUNTERS = {
    "kernel_values": ("source", "computed"),
    "cache_hits": ("cache", "hits"),
    "cache_misses": ("cache", "misses"),
}


def counts_of(solutions: list[Any]) -> dict[str, int]:
    """Return what the runs have counted, added up; a counter that a state lacks is left out."""
    found: dict[str, int] = {"work": sum(int(solution.work) for solution in solutions)}
    for name, (part, counter) in COUNTERS.items():
        # Parts are made when they are first used; one that was not used is not made here. An
        # estimator keeps no states.
        parts = [getattr(solution.state, "__dict__", {}).get(part) for solution in solutions]
        values = [getattr(part, counter, None) for part in parts]
        if values and all(value is not None for value in values):
            found[name] = sum(int(value) for value in values if value is not None)
    return found


def claims_of(solutions: list[Any]) -> dict[str, Any]:
    """Return what the solutions say of themselves."""
    certificates = [solution.certificate for solution in solutions]
    gap = sum(c.gap for c in certificates)
    primal = sum(c.primal for c in certificates)
    return counts_of(solutions) | {
        "status": "; ".join(sorted({str(solution.status) for solution in solutions})),
        "solver": "; ".join(sorted({solution.solver for solution in solutions})),
        "relative_gap": gap / primal if primal > 0.0 and np.isfinite(gap) else None,
        "kkt": max(c.kkt for c in certificates),
    }


class Svc(KernelMethod):
    """``hinge.SVC`` as somebody who changed one import line would run it."""

    tolerances = (1e-3, 5e-4, 2e-4, 1e-4)
    note = "validation and certificate are in the clock; the certificate's part is told apart"

    def __init__(self, dtype: str, multiclass: str = "ovo") -> None:
        self.dtype, self.multiclass = dtype, multiclass
        self.name = f"hinge SVC {dtype}" + ("" if multiclass == "ovo" else f" {multiclass}")

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Fit the estimator."""
        hinge = importlib.import_module("hinge")
        model = hinge.SVC(
            C=setting.C,
            gamma=setting.gamma,
            tol=setting.tol,
            cache_size=setting.cache_mb,
            n_jobs=setting.threads,
            multiclass=self.multiclass,
        )
        return model.fit(*prepared)

    def certificate_seconds(self, model: Any, setting: Setting) -> float:
        """Return the certificates' time; pairs of classes share out the threads."""
        total = sum(solution.certificate_seconds for solution in model.solutions_)
        return float(total / min(setting.threads, len(model.solutions_)))

    def predict(self, model: Any, X: Any) -> Any:
        """Predict."""
        return model.predict(X)

    def machine(self, model: Any) -> Machine:
        """Return what was fitted, with what its certificates say."""
        return machine_of(model, claims_of(list(model.solutions_)))


class Solve(KernelMethod):
    """``hinge.solve`` with a solver by name, whose state still has its counters."""

    thread_counts = (1,)

    def __init__(self, solver: str, intercept: str = "free") -> None:
        self.solver, self.intercept = solver, intercept
        self.name = f"hinge {solver}"
        self.note = "``hinge.solve``, for what it counts"
        if intercept == "none":
            self.note = "solves the problem without intercept: its objective is not the others'"

    def refusal(self, n_classes: int) -> str | None:
        """Return why not."""
        return None if n_classes == 2 else "one problem at a time, so two classes only"

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Solve."""
        hinge = importlib.import_module("hinge")
        kernel = hinge.kernels.RBF(gamma=setting.gamma)
        problem = hinge.Problem(*prepared, C=setting.C, kernel=kernel, intercept=self.intercept)
        stop = hinge.Stop(gap=None, kkt=setting.tol)
        solution = hinge.solve(problem, solver=self.solver, stop=stop, n_jobs=setting.threads)
        return solution, problem

    def certificate_seconds(self, model: Any, setting: Setting) -> float:  # noqa: ARG002
        """Return the certificate's time."""
        return float(model[0].certificate_seconds)

    def predict(self, model: Any, X: Any) -> Any:
        """Predict by the function of ``hinge.machines``."""
        machines = importlib.import_module("hinge.machines")
        rows = importlib.import_module("hinge.rows").Rows
        solution, problem = model
        support = np.flatnonzero(solution.dual_coef)
        coef = (problem.signs * solution.dual_coef)[support]
        values = machines.decision_values(
            problem.kernel, problem.rows.take(support), coef, rows(X), threads=1
        )
        positive = np.ravel(values) + solution.intercept > 0.0
        return problem.classes[positive.astype(np.int64)]

    def machine(self, model: Any) -> Machine:
        """Return what was fitted."""
        solution, problem = model
        support = np.flatnonzero(solution.dual_coef)
        dual = (problem.signs * solution.dual_coef)[support][None, :]
        intercept = np.asarray([solution.intercept])
        return Machine(support, dual, intercept, claims_of([solution]), self.intercept)


SVC = (Svc("float32"), Svc("float64"))
AGAINST_REST = (Svc("float32", "ovr"), Svc("float64", "ovr"))
BY_NAME = (Solve("decomposition"), Solve("smo"), Solve("dual-coordinate", "none"))
