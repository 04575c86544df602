"""One fit in a process of its own: ``python -m benchmarks.duals.worker task solver seconds``."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import hinge
from benchmarks.duals.data import TASKS
from benchmarks.suite.resident import peak_bytes, reset_peak, resident_bytes
from hinge.solvers import Decomposition, Solver, get_solver
from hinge.solvers.driver import Event

PROJECTED = "decomposition by gradient projection"
# What solvers are given that do not take the hinge loss with a free intercept.
OTHER_PROBLEMS: dict[str, dict[str, Any]] = {
    "dual-coordinate": {"intercept": "none"},
    "kernel-newton": {"loss": "squared_hinge"},
}


def main(name: str, solver_name: str, seconds: float) -> dict[str, Any]:
    """Return what a fit took and gave."""
    task = next(task for task in TASKS if task.name == name)
    options = OTHER_PROBLEMS.get(solver_name, {})
    problem = task.problem(**options)
    solver: Solver | str = solver_name
    if solver_name == PROJECTED:
        solver = Decomposition(inner="gradient-projection")
    support = get_solver(solver, problem).supports(problem)
    if not support:
        return {"outcome": "not taken", "reason": support.reason}
    small = hinge.Problem([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0], kernel="rbf", **options)
    hinge.solve(small, solver=solver)

    def watch(event: Event) -> bool:
        del event
        return time.process_time() - began > seconds

    reset_peak()
    before, began = resident_bytes(), time.process_time()
    stop = hinge.Stop(gap=task.gap, seconds=10.0 * seconds)
    solution = hinge.solve(problem, solver=solver, stop=stop, observers=[watch])
    spent = time.process_time() - began
    source = getattr(solution.state, "source", None)
    computed = None if source is None else int(source.computed)
    return {
        "outcome": "finished" if str(solution.status) == "solved" else str(solution.status),
        "seconds": spent,
        "certificate_seconds": solution.certificate_seconds,
        "gap": solution.certificate.relative_gap,
        "primal": solution.certificate.primal,
        "kernel_values": computed,
        "n_rows": problem.n_rows,
        "steps": solution.steps,
        "peak_bytes": peak_bytes() - before,
    }


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
