"""Table 2: gradient descent on the Huber loss, every row examined against few.

Both runs advance in turn, a few steps each, in one process: whatever slows the machine slows both.
One run to the smallest eps passes through the others on its way. The run without bounds takes the
same steps, up to rounding, at a cost that changes little: where it would take too long, only some
of its turns are run, from where the other run is, and each stands for those that are left out.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.bounds.sets import PaperSet
from hinge import Problem
from hinge.losses import Huber
from hinge.problem import C_from_lambda
from hinge.solvers import Gradient
from hinge.threads import single_threaded_blas

EPSILONS = (1e-4, 1e-5, 1e-6)
WIDTH = 0.01  # the h of the paper
_TURN = 20  # steps
_KEPT = 400  # points of the curve of examined rows
# Iterations, seconds without and with, training and test error in percent, as printed.
PAPER: dict[tuple[str, float], tuple[int, float, float, float, float]] = {
    ("covtype", 1e-4): (5, 1.09, 4.29, 36.43, 36.74),
    ("covtype", 1e-5): (1390, 111.99, 115.98, 23.32, 23.41),
    ("covtype", 1e-6): (7657, 609.39, 289.30, 23.01, 23.12),
    ("mnist", 1e-4): (831, 66.27, 20.75, 4.04, 3.93),
    ("mnist", 1e-5): (2119, 166.12, 34.58, 3.94, 3.73),
    ("mnist", 1e-6): (4099, 318.77, 48.74, 3.88, 3.76),
    ("reuters21578", 1e-4): (6031, 243.01, 100.80, 1.64, 3.73),
    ("reuters21578", 1e-5): (7868, 307.37, 124.58, 1.39, 3.66),
    ("reuters21578", 1e-6): (7868, 313.71, 131.39, 1.39, 3.66),
    ("usps-extended", 1e-4): (1164, 273.69, 103.15, 2.95, 3.50),
    ("usps-extended", 1e-5): (4200, 960.44, 181.38, 2.81, 3.39),
    ("usps-extended", 1e-6): (12311, 2776.0, 300.0, 2.76, 3.33),
}


@dataclass
class Runner:
    """A run of gradient descent that is timed step by step.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    bound : str or None
        The bound of the index; None examines every row.
    smallest : float
        The eps to end at.
    """

    problem: Problem
    bound: str | None
    smallest: float
    seconds: float = 0.0
    reached: dict[float, tuple[int, float, float]] = field(default_factory=dict)
    curve: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.solver = Gradient(self.bound, eps=self.smallest)
        began = time.process_time()
        self.state = self.solver.start(self.problem)
        self.seconds = time.process_time() - began

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to do."""
        return bool(self.state.at_rest)

    @property
    def share(self) -> float:
        """Rows examined of those that a plain run would have, so far."""
        return float(self.state.examined / max(1, self.state.evaluations * self.problem.n_rows))

    def advance(self, steps: int, pending: tuple[float, ...]) -> Iterator[float]:
        """Do so many steps; yield every eps of those pending when it is reached."""
        # The clock of the processor is asked once for all steps: a call may take longer than one.
        began = time.process_time()
        for _ in range(steps):
            if self.is_over:
                break
            before, seen = self.state.value, self.state.examined
            self.solver.step(self.state, 1)
            self.curve.append(self.state.examined - seen)
            change = (before - self.state.value) / abs(before) if before else np.nan
            for eps in pending:
                if eps not in self.reached and (0.0 < change <= eps or self.is_over):
                    self.seconds += time.process_time() - began
                    self.reached[eps] = (self.state.steps, self.seconds, self.share)
                    yield eps
                    began = time.process_time()
        self.seconds += time.process_time() - began


def problem_of(each: PaperSet, X: Any, y: Any) -> Problem:
    """Return the problem of Table 2: Huber loss, the paper's lambda, a free intercept."""
    C = C_from_lambda(each.gradient_penalty, len(y))
    return Problem(X, y, loss=Huber(WIDTH), C=C, intercept="free")


def errors(coef: Any, intercept: float, X: Any, y: Any) -> float:
    """Return the percentage of rows that a machine gets wrong."""
    return 100.0 * float(np.mean(np.where(X @ coef + intercept > 0.0, 1.0, -1.0) != y))


class Stretches:
    """The run without bounds, of which only some turns are run.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    smallest : float
        The eps to end at.
    every : int
        Of so many turns one is run, and all of the first ones.
    """

    def __init__(self, problem: Problem, smallest: float, every: int) -> None:
        self.run = Runner(problem, None, smallest)
        self.every, self.turn = every, 0
        self.seconds, self.per_step = self.run.seconds, 0.0

    def advance(self, other: Runner) -> None:
        """Do a turn from where the other run is, or count it as the last one that was run."""
        if self.turn < self.every or self.turn % self.every == 0:
            mine, its = self.run.state, other.state
            for name in ("value", "noise", "length", "steps", "at_rest"):
                setattr(mine, name, getattr(its, name))
            mine.vector, mine.slope = its.vector.copy(), its.slope.copy()
            steps, seconds = mine.steps, self.run.seconds
            for _ in self.run.advance(_TURN, ()):
                pass
            self.per_step = (self.run.seconds - seconds) / max(1, mine.steps - steps)
        self.turn += 1

    def add(self, steps: int) -> None:
        """Count so many steps."""
        self.seconds += steps * self.per_step


def table2(
    each: PaperSet, epsilons: tuple[float, ...], every: int = 1, bound: str = "trajectory"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a row of Table 2 for every eps as soon as it is reached.

    Parameters
    ----------
    each : PaperSet
        The data.
    epsilons : tuple of float
        Relative changes to stop at.
    every : int, default=1
        Of so many turns without bounds one is run.
    bound : str, default="trajectory"
        The bound of the other run.
    """
    X, y, X_test, y_test = each.load()
    problem = problem_of(each, X, y)
    with single_threaded_blas():
        run = Runner(problem, bound, min(epsilons))
        plain = Stretches(problem, min(epsilons), every)
        while not run.is_over:
            plain.advance(run)
            began = run.state.steps
            for eps in run.advance(_TURN, epsilons):
                plain.add(run.state.steps - began)
                began = run.state.steps
                w = run.state.vector
                scores = [errors(w[:-1], w[-1], *at) for at in ((X, y), (X_test, y_test))]
                yield f"{each.name} {eps:g}", _row(each, eps, run, plain, scores)
            plain.add(run.state.steps - began)


def _row(
    each: PaperSet, eps: float, run: Runner, plain: Stretches, scores: list[float]
) -> dict[str, Any]:
    steps, seconds, share = run.reached[eps]
    return {
        "set": each.name,
        "eps": eps,
        "steps": steps,
        "plain_seconds": plain.seconds,
        "plain_every": plain.every,
        "seconds": seconds,
        "examined": share,
        "train_error": scores[0],
        "test_error": scores[1],
        "n_rows": run.problem.n_rows,
        "curve": _thinned(run.curve),
    }


def _thinned(curve: list[int]) -> list[tuple[int, float]]:
    """Return means over ever longer stretches: where each begins, and rows examined there."""
    edges = np.unique(np.geomspace(1, len(curve) + 1, _KEPT).astype(int)) - 1
    if len(edges) < 2:
        return [(1, float(count)) for count in curve]
    return [
        (int(begin) + 1, float(np.mean(curve[begin:end])))
        for begin, end in itertools.pairwise(edges)
    ]


def examined_by_bounds(
    each: PaperSet, bounds: tuple[str, ...], steps: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield, for each bound, the share of rows that so many steps examine."""
    X, y, _, _ = each.load()
    problem = problem_of(each, X, y)
    for bound in bounds:
        run = Runner(problem, bound, 0.0)
        with single_threaded_blas():
            for _ in run.advance(steps, ()):
                pass
        row = {"set": each.name, "bound": bound, "steps": run.state.steps}
        yield f"{each.name} {bound}", row | {"examined": run.share, "seconds": run.seconds}
