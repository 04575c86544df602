"""Solve random kernel problems and compare with clarabel, in extended precision.

``python -m fuzz.kernel_machines.campaign 500`` ends with an error if an objective is above
clarabel's by more than a millionth, or if a certificate's gap is smaller than what is known to be
missing. Any primal point is above the optimum, so the difference to clarabel's is at most the true
suboptimality.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from dataclasses import dataclass

from fuzz.kernel_machines.problems import Case, random_case
from fuzz.kernel_machines.reference import clarabel_objective, objective

import hinge
from hinge.solvers import get_solver, kernel_solver_names

_RELATIVE = 1e-6
_GAP = 1e-7
_SECONDS = 20.0
_EXTENDED_ROUNDING = 1e-15  # of the objectives in extended precision, with room to spare


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Parameters
    ----------
    excess : float
        Objective over clarabel's, minus 1.
    missing : float
        How much of the known suboptimality, relative to the objective, the gap does not cover; at
        most zero if the certificate holds.
    status : str
        How the run ended.
    gap : float
        The certified relative gap.
    """

    excess: float
    missing: float
    status: str
    gap: float

    @property
    def fault(self) -> str:
        """What is wrong, or nothing."""
        if self.missing > 0.0:
            return f"the certificate is below the suboptimality by {self.missing:.2e}"
        if not self.excess <= _RELATIVE:
            return f"the objective is above clarabel's by {self.excess:.2e}"
        return ""


def outcome(case: Case, solver: str) -> Outcome:
    """Solve a case and compare."""
    stop = hinge.Stop(gap=_GAP, seconds=_SECONDS)
    solution = hinge.solve(case.problem, solver=solver, stop=stop)
    assert solution.dual_coef is not None
    pulls = case.problem.signs * solution.dual_coef
    ours = objective(case, pulls, solution.intercept)
    theirs = clarabel_objective(case)
    known = float(ours - theirs) - _EXTENDED_ROUNDING * float(ours)
    return Outcome(
        excess=float(ours / theirs - 1),
        missing=(known - solution.certificate.gap) / float(ours),
        status=str(solution.status),
        gap=solution.certificate.relative_gap,
    )


def main(arguments: list[str]) -> int:
    """Run the cases and return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz.kernel_machines.campaign")
    parser.add_argument("count", type=int, nargs="?", default=500)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--every", action="store_true", help="every solver of kernel machines")
    options = parser.parse_args(arguments)
    solvers = kernel_solver_names() if options.every else [options.solver]
    return max(_campaign(solver, options.first, options.count) for solver in solvers)


def _campaign(solver: str, first: int, count: int) -> int:
    """Run the cases that a solver takes, and tell what came of them."""
    began, failed, statuses = time.perf_counter(), 0, Counter[str]()
    worst = -1.0
    for number in range(first, first + count):
        case = random_case(number)
        if not get_solver(solver, case.problem).supports(case.problem):
            statuses["not taken"] += 1
            continue
        found = outcome(case, solver)
        statuses[found.status] += 1
        worst = max(worst, found.excess)
        if found.fault:
            failed += 1
            print(f"case {number} ({case.traits}): {found.fault}; {found}", flush=True)
    seconds = time.perf_counter() - began
    told = ", ".join(f"{count} {status}" for status, count in statuses.most_common())
    print(f"{solver}: {count} cases in {seconds:.0f} s: {failed} failed; {told}")
    print(f"largest objective over clarabel's: {worst:+.2e}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
