"""Table 3: Pegasos with k rows a step, with and without stored margins, run in turn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.bounds.sets import PaperSet
from hinge import Problem
from hinge.certificates import gap
from hinge.problem import C_from_lambda
from hinge.solvers import Pegasos

BATCHES = (100, 1000)
_MOST_DRAWN = 10**8
_CONVERGED = 0.01  # the objective decreases by less, from one power of ten to the next
_WORK = 4_000_000
# T, seconds without and with, as printed; 2.45 stands for 1.45, which contradicts the ratio 1.13.
PAPER: dict[tuple[str, int], tuple[int, float, float]] = {
    ("covtype", 100): (10**5, 12.45, 11.62),
    ("covtype", 1000): (10**5, 141.49, 116.52),
    ("mnist", 100): (10**4, 2.78, 2.45),
    ("mnist", 1000): (10**4, 29.82, 16.35),
    ("reuters21578", 100): (10**4, 3.44, 14.80),
    ("reuters21578", 1000): (10**3, 3.70, 4.32),
    ("usps-extended", 100): (10**6, 228.69, 183.55),
    ("usps-extended", 1000): (10**5, 238.06, 187.21),
}


def table3(
    each: PaperSet, batches: tuple[int, ...], repeats: int, most_drawn: int = _MOST_DRAWN
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a row of Table 3 for every batch size.

    Parameters
    ----------
    each : PaperSet
        The data.
    batches : tuple of int
        Rows of a step.
    repeats : int
        Runs with and without, in turn; the shortest of each counts.
    most_drawn : int, default=10**8
        Limit on rows drawn in a run.
    """
    X, y, X_test, y_test = each.load()
    C = C_from_lambda(each.pegasos_penalty, len(y))
    problem = Problem(X, y, C=C, intercept="none")
    for batch in batches:
        steps, values = steps_needed(problem, batch, each.pegasos_penalty, most_drawn)
        times: dict[bool, list[float]] = {False: [], True: []}
        state: Any = None
        for repeat in range(repeats):
            for index in (False, True):
                seconds, state = timed(problem, Pegasos(batch, index=index), steps, repeat)
                times[index].append(seconds)
        w = Pegasos(batch).point(state).coef
        wrong = np.where(X_test @ w > 0.0, 1.0, -1.0) != y_test
        yield (
            f"{each.name} {batch}",
            {
                "set": each.name,
                "k": batch,
                "T": steps,
                "objectives": values,
                "plain_seconds": min(times[False]),
                "seconds": min(times[True]),
                "repeats": repeats,
                "examined": state.run.examined / (batch * steps),
                "refreshes": state.run.refreshes,
                "test_error": 100.0 * float(np.mean(wrong)),
            },
        )


def steps_needed(
    problem: Problem, batch: int, penalty: float, most_drawn: int
) -> tuple[int, dict[str, float]]:
    """Return the first power of ten from which the objective decreases by less than 0.01."""
    values: dict[str, float] = {}
    steps, before = 100, np.inf
    while True:
        _, state = timed(problem, Pegasos(batch), steps, seed=0)
        value = penalty * gap(problem, Pegasos(batch).point(state)).primal
        values[str(steps)] = value
        if before - value < _CONVERGED or batch * steps * 10 > most_drawn:
            return steps, values
        steps, before = 10 * steps, value


def timed(problem: Problem, solver: Pegasos, steps: int, seed: int) -> tuple[float, Any]:
    """Return how long so many steps take, and the state after them."""
    began = time.process_time()
    state = solver.start(problem, seed=seed)
    state.step_limit = steps
    while solver.progress(state).steps < steps:
        solver.step(state, _WORK)
    return time.process_time() - began, state
