"""What a fit that did not reach its tolerance tells its user."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from hinge.block_map import map_blocks
from hinge.estimators._linear_model import proven_labels, winners
from hinge.multiclass import Labels, Objective
from hinge.result import Solution, Status, Stop
from hinge.rows import Block, Rows

_UNEVEN_SCALES = 100.0  # ratio of column scales from which on coordinate descent is slow
_PROVES_NOTHING = 10.0  # gap in units of the lower bound from which on a percentage means nothing
_TELLING_STEPS = 3  # before which how a run goes says nothing about its data
_LARGE_COST = 1e4  # C times the mean squared norm from which on it is slow

RAISE_THE_LIMIT = "The time limit came before training had begun in earnest: raise time_limit."


def convergence_message(
    solutions: list[Solution],
    data: tuple[Rows, Labels],
    objective: Objective,
    stop: Stop,
    values: Any,
    seconds: float,
) -> str | None:
    """Return what to warn of, or None if everything asked for was reached.

    Parameters
    ----------
    solutions : list of Solution
        One for each problem.
    data : tuple of Rows and Labels
        What they were trained on.
    objective : Objective
        What was minimised.
    stop : Stop
        What was asked for.
    values : callable
        Returns the decision values of the training rows.
    seconds : float
        How long the whole fit took.
    """
    if not falling_short(solutions, stop.gap):
        return None
    rows, labels = data
    worst = max(solutions, key=lambda s: _size(s.certificate.relative_gap))
    parts = [
        _ending(worst, solutions, labels, stop, seconds),
        _meaning(worst, solutions, rows, values()),
    ]
    if worst.certificate.is_rounding:
        parts.append(
            "Rounding is all that is left of it, so that no more training can help: loosen tol."
        )
    elif has_hardly_begun(worst):
        parts.append(RAISE_THE_LIMIT)
    else:
        parts += [likely_cause(rows, objective.C), _advice(worst.status)]
    return " ".join(parts)


def falling_short(solutions: Iterable[Solution], tolerance: float | None) -> list[Solution]:
    """Return the solutions of runs that have ended before what was asked of them.

    A tolerance of 0 asks for what there is: runs after which nothing moves beyond rounding.

    Parameters
    ----------
    solutions : iterable of Solution
        What runs have ended with.
    tolerance : float or None
        What was asked for.
    """
    unsolved = [s for s in solutions if s.status not in (Status.SOLVED, Status.INTERRUPTED)]
    if tolerance:
        return unsolved
    return [s for s in unsolved if s.status is not Status.STALLED and not s.certificate.is_rounding]


def has_hardly_begun(solution: Solution) -> bool:
    """Return whether the time limit came so soon that the run says nothing about the data.

    Parameters
    ----------
    solution : Solution
        The result of the run.
    """
    is_unknown = not math.isfinite(solution.certificate.kkt)
    is_short = solution.steps < _TELLING_STEPS or is_unknown
    return solution.status is Status.TIME_LIMIT and is_short


def _ending(
    worst: Solution, solutions: list[Solution], labels: Labels, stop: Stop, seconds: float
) -> str:
    ends = {
        Status.ITERATION_LIMIT: f"stopped at max_iter={stop.steps}",
        Status.TIME_LIMIT: f"stopped at the time limit after {seconds:.2g} s",
        Status.STALLED: "stopped because more work no longer narrowed the gap",
        Status.NUMERICAL_ERROR: "stopped because numbers left the range of floating point",
    }
    where = ""
    if len(solutions) > 1:
        count = sum(s.status is not Status.SOLVED for s in solutions)
        number = next(k for k, s in enumerate(solutions) if s is worst)
        label = labels.classes[number]
        where = f" for {count} of {len(solutions)} classes, class {label!s} being the worst,"
    ending = ends.get(worst.status, f"ended with status {worst.status.value}")
    gap = worst.certificate.relative_gap
    reached = f"with a relative duality gap of {gap:.2g}"
    if not math.isfinite(gap):
        reached = "before a duality gap was known"
    return f"LinearSVC {ending}{where} {reached} (tol={stop.gap:g})."


def _meaning(worst: Solution, solutions: list[Solution], rows: Rows, values: Any) -> str:
    gap, dual = worst.certificate.gap, worst.certificate.dual
    if not (math.isfinite(gap) and gap <= _PROVES_NOTHING * dual):
        return "Nothing is proven yet about how close the objective is to the optimum."
    certificates = [solution.certificate for solution in solutions]
    settled, _ = proven_labels(rows, certificates, winners(values))
    at_most = int(np.count_nonzero(~settled))
    return (
        f"The objective is within {100 * gap / dual:.2g} % of the optimum; the labels of at most "
        f"{at_most} of {rows.n_rows} training rows could still change."
    )


def likely_cause(rows: Rows, C: float) -> str:
    """Return the likely cause: uneven features, a C that is large for the rows, or neither.

    Parameters
    ----------
    rows : Rows
        What was trained on.
    C : float
        Weight of the losses.
    """
    scales = column_scales(rows)
    used = np.flatnonzero(scales > 0)
    if len(used):
        small, large = used[np.argmin(scales[used])], used[np.argmax(scales[used])]
        ratio = scales[large] / scales[small]
        if ratio >= _UNEVEN_SCALES:
            return (
                f"Likely cause: features of uneven scale, column {large} being {ratio:.2g} times "
                f"as large as column {small}."
            )
    cost = C * float(np.mean(rows.squared_norms))
    if _LARGE_COST <= cost < math.inf:
        return (
            f"Likely cause: C={C:g} is large for rows whose squared norm is "
            f"{float(np.mean(rows.squared_norms)):.2g} on average."
        )
    return f"Likely cause: the tolerance or the limit is low for C={C:g}."


def _advice(status: Status) -> str:
    limits = {Status.TIME_LIMIT: "raise time_limit, ", Status.ITERATION_LIMIT: "raise max_iter, "}
    return (
        "Scale the features (for example with sklearn.preprocessing.StandardScaler), "
        f"lower C, {limits.get(status, '')}or loosen tol."
    )


def column_scales(rows: Rows) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the root mean square of every column.

    Parameters
    ----------
    rows : Rows
        The data.
    """

    def kernel(block: Block) -> Any:
        matrix = block.matrix
        squares = matrix.multiply(matrix) if rows.is_sparse else np.square(matrix)
        return np.asarray(squares.sum(axis=0)).ravel()

    total = map_blocks(kernel, rows, np.add)
    return np.asarray(np.sqrt(total / rows.n_rows))


def _size(gap: float) -> float:
    """Return the gap, infinity in place of NaN, so that the worst one is found."""
    return math.inf if math.isnan(gap) else gap
