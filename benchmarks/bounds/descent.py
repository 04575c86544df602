"""Table 2: gradient descent on the Huber loss, every row examined against few.

Both runs advance in turn, a few steps each, in one process: whatever slows the machine slows both.
One run to the smallest eps passes through the others on its way.
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
_WIDTH = 0.01  # the h of the paper
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
        for _ in range(steps):
            if self.is_over:
                return
            before, seen = self.state.value, self.state.examined
            began = time.process_time()
            self.solver.step(self.state, 1)
            self.seconds += time.process_time() - began
            self.curve.append(self.state.examined - seen)
            change = (before - self.state.value) / abs(before) if before else np.nan
            for eps in pending:
                if eps not in self.reached and (0.0 < change <= eps or self.is_over):
                    self.reached[eps] = (self.state.steps, self.seconds, self.share)
                    yield eps


def problem_of(each: PaperSet, X: Any, y: Any) -> Problem:
    """Return the problem of Table 2: Huber loss, the paper's lambda, a free intercept."""
    C = C_from_lambda(each.gradient_penalty, len(y))
    return Problem(X, y, loss=Huber(_WIDTH), C=C, intercept="free")


def errors(coef: Any, intercept: float, X: Any, y: Any) -> float:
    """Return the percentage of rows that a machine gets wrong."""
    return 100.0 * float(np.mean(np.where(X @ coef + intercept > 0.0, 1.0, -1.0) != y))


def table2(
    each: PaperSet, epsilons: tuple[float, ...], limit: float, bound: str = "trajectory"
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a row of Table 2 for every eps as soon as both runs have reached it.

    Parameters
    ----------
    each : PaperSet
        The data.
    epsilons : tuple of float
        Relative changes to stop at.
    limit : float
        Seconds after which the run without bounds is given up.
    bound : str, default="trajectory"
        The bound of the other run.
    """
    X, y, X_test, y_test = each.load()
    problem = problem_of(each, X, y)
    with single_threaded_blas():
        runs = [Runner(problem, name, min(epsilons)) for name in (bound, None)]
        scores: dict[float, tuple[float, float]] = {}
        places = ((X, y), (X_test, y_test))
        while any(not run.is_over and run.seconds <= _patience(run, limit) for run in runs):
            for run in runs:
                if run.seconds > _patience(run, limit):
                    continue
                for eps in run.advance(_TURN, epsilons):
                    if run.bound is not None:
                        w = run.state.vector
                        train, test = (errors(w[:-1], w[-1], *at) for at in places)
                        scores[eps] = (train, test)
                    if all(eps in other.reached for other in runs):
                        yield f"{each.name} {eps:g}", _row(each, eps, runs, scores[eps])
        for eps in epsilons:
            if eps in runs[0].reached and eps not in runs[1].reached:
                yield f"{each.name} {eps:g}", _row(each, eps, runs, scores[eps])


def _patience(run: Runner, limit: float) -> float:
    """Return how many seconds a run may take: only the one without bounds is given up."""
    return limit if run.bound is None else np.inf


def _row(
    each: PaperSet, eps: float, runs: list[Runner], scores: tuple[float, float]
) -> dict[str, Any]:
    steps, seconds, share = runs[0].reached[eps]
    plain = runs[1].reached.get(eps)
    return {
        "set": each.name,
        "eps": eps,
        "steps": steps,
        "plain_steps": plain[0] if plain else None,
        "plain_seconds": plain[1] if plain else None,
        "given_up_after": None if plain else runs[1].seconds,
        "seconds": seconds,
        "examined": share,
        "train_error": scores[0],
        "test_error": scores[1],
        "n_rows": runs[0].problem.n_rows,
        "curve": _thinned(runs[0].curve),
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
