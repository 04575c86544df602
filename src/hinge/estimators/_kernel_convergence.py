"""What a fit of kernel machines that did not reach its tolerance tells its user."""

from __future__ import annotations

import math

from hinge.estimators._convergence import (
    RAISE_THE_LIMIT,
    falling_short,
    has_hardly_begun,
    likely_cause,
)
from hinge.estimators._division import Division
from hinge.estimators._options import FitOptions
from hinge.result import Solution, Status, Stop
from hinge.rows import Rows

_PROVES_NOTHING = 10.0  # gap in units of the lower bound from which on a percentage means nothing


def kernel_convergence_message(
    solutions: list[Solution],
    rows: Rows,
    division: Division,
    options: FitOptions,
    seconds: float,
    name: str = "SVC",
) -> str | None:
    """Return what to warn of, or None if everything asked for was reached.

    Parameters
    ----------
    solutions : list of Solution
        One for each problem.
    rows : Rows
        What they were trained on.
    division : ClassPairs or ClassesAgainstRest
        The problems.
    options : FitOptions
        What was minimised, and what was asked for.
    seconds : float
        How long the whole fit took.
    name : str, default="SVC"
        Who was fitted.
    """
    unsolved = falling_short(solutions, options.stop.kkt)
    if not unsolved:
        return None
    worst = max(unsolved, key=_violation)
    number = next(k for k, s in enumerate(solutions) if s is worst)
    where = ""
    if len(solutions) > 1:
        label = division.label(number)
        unit = "pairs of classes" if division.is_of_pairs else "classes"
        worst_one = f"{label[0]!s} and {label[1]!s}" if division.is_of_pairs else f"class {label!s}"
        count = f"{len(unsolved)} of {len(solutions)} {unit}"
        where = f" for {count}, {worst_one} being the worst,"
    violation = worst.certificate.kkt
    reached = f"with a violation of the optimality conditions of {violation:.2g}"
    if not math.isfinite(violation):
        reached = "before the violation of the optimality conditions was known"
    parts = [
        f"{name} {_ending(worst, options.stop, seconds)}{where} {reached} "
        f"(tol={options.stop.kkt:g}).",
        _meaning(worst),
    ]
    if worst.status is Status.STALLED:
        parts.append(_standstill(worst))
    elif has_hardly_begun(worst):
        parts.append(RAISE_THE_LIMIT)
    else:
        parts += [likely_cause(rows, options.objective.C), _advice(worst.status)]
    return " ".join(parts)


def _violation(solution: Solution) -> float:
    """Return the violation, infinity in place of NaN, so that the worst one is found."""
    violation = solution.certificate.kkt
    return math.inf if math.isnan(violation) else violation


def _ending(worst: Solution, stop: Stop, seconds: float) -> str:
    ends = {
        Status.ITERATION_LIMIT: f"stopped at max_iter={stop.steps}",
        Status.TIME_LIMIT: f"stopped at the time limit after {seconds:.2g} s",
        Status.STALLED: "stopped because more work no longer changed anything",
        Status.NUMERICAL_ERROR: "stopped because numbers left the range of floating point",
    }
    return ends.get(worst.status, f"ended with status {worst.status.value}")


def _meaning(worst: Solution) -> str:
    gap, dual = worst.certificate.gap, worst.certificate.dual
    if not (math.isfinite(gap) and gap <= _PROVES_NOTHING * dual):
        return "Nothing is proven yet about how close the objective is to the optimum."
    return f"The objective is within {100 * gap / dual:.2g} % of the optimum."


def _standstill(worst: Solution) -> str:
    """Return why more work is no use, and what would be."""
    from hinge.certificates.kernel_values import NO_OPTIMUM  # noqa: PLC0415 - loaded with certificates

    if NO_OPTIMUM in worst.certificate.notes:
        return f"{NO_OPTIMUM[0].upper()}{NO_OPTIMUM[1:]}."
    return (
        "Rounding is what is left, kernel values in float64 included: loosen tol, lower C, or "
        "scale the features."
    )


def _advice(status: Status) -> str:
    limits = {Status.TIME_LIMIT: "raise time_limit, ", Status.ITERATION_LIMIT: "raise max_iter, "}
    return (
        "Scale the features (for example with sklearn.preprocessing.StandardScaler), "
        f"lower C, {limits.get(status, '')}or loosen tol."
    )
