"""Kernel machines over low-rank factors: what ``approximation`` asks for, and what came of it."""

from __future__ import annotations

import numbers
import time
from dataclasses import replace
from typing import Any

from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators import _checks as check
from hinge.estimators._kernel_options import wants_probability
from hinge.estimators._options import FitOptions
from hinge.multiclass import ApproximateFits, Approximation, ClassPairs, Plan, Target
from hinge.result import Solution, Status, Stop
from hinge.rows import Rows
from hinge.solvers import StopFlag

_FIRST_GAP = 1e-3  # of an approximate problem that is only to be gone on from


def approximation_target(model: Any) -> Target | None:
    """Return how exact a factor is to be; None for the exact kernel.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    """
    value = model.approximation
    finish = check.boolean("exact_finish", model.exact_finish)
    if value is None:
        if finish:
            message = (
                "exact_finish=True goes on from an approximation; give approximation a rank or a "
                "tolerance as well."
            )
            raise InvalidParameterError(message)
        return None
    target = _target(value)
    if wants_probability(model) and not finish:
        message = (
            "probability=True needs the exact problem; with approximation set "
            "exact_finish=True, or calibrate with sklearn.calibration.CalibratedClassifierCV."
        )
        raise UnsupportedError(message)
    return target


def _target(value: Any) -> Target:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1:
        return Target(int(value), 0.0)
    is_number = isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral)
    if is_number and 0.0 < float(value) < 1.0:
        return Target(None, float(value))
    message = (
        "approximation must be None, a rank (an integer of at least 1) or a share of the trace "
        f"(a number between 0 and 1); got {value!r}."
    )
    raise InvalidParameterError(message)


def approximate(
    rows: Rows,
    pairs: ClassPairs,
    options: FitOptions,
    target: Target,
    plan: Plan,
    flag: StopFlag,
    exact_finish: bool,
) -> ApproximateFits:
    """Return the fits of all pairs over their factors, to be solved.

    Parameters
    ----------
    rows : Rows
        The data.
    pairs : ClassPairs
        The pairs of classes.
    options : FitOptions
        Objective and criteria.
    target : Target
        How exact the factors are to be.
    plan : Plan
        Limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.
    exact_finish : bool
        Whether the exact problem is solved next.
    """
    gap = _FIRST_GAP if exact_finish else options.stop.kkt
    stop = Stop(gap=gap, seconds=plan.stop.seconds, steps=None if exact_finish else plan.stop.steps)
    first = replace(plan, solver="auto", stop=stop, finish=None, finish_pairs=None, resume=None)
    if exact_finish:
        first = replace(first, listeners=())  # they are told of the exact problem
    return ApproximateFits(
        rows, pairs, options.objective, target, first, flag, bounds_exact=not exact_finish
    )


def plan_of_rest(plan: Plan, began: float) -> Plan:
    """Return a plan with the time that is left.

    Parameters
    ----------
    plan : Plan
        The plan of the whole.
    began : float
        When the fit began.
    """
    if plan.stop.seconds is None:
        return plan
    left = max(0.0, plan.stop.seconds - (time.perf_counter() - began))
    return replace(plan, stop=replace(plan.stop, seconds=left))


def approximation_message(
    solutions: list[Solution], approximations: list[Approximation | None], options: FitOptions
) -> str | None:
    """Return what to warn of, or None if every approximate problem is as asked for and solved.

    Parameters
    ----------
    solutions : list of Solution
        One for each pair of classes.
    approximations : list of Approximation or None
        What is known of each.
    options : FitOptions
        What was asked for.
    """
    tol = options.stop.kkt
    known = [
        (s, a)
        for s, a in zip(solutions, approximations, strict=True)
        if s.status is not Status.INTERRUPTED and a is not None
    ]
    sentences = []
    failed = [(s, a) for s, a in known if s.status is not Status.SOLVED]
    if failed and tol:
        worst, its = max(failed, key=lambda pair: pair[1].certificate.relative_gap)
        sentences.append(
            f"SVC ended with status {worst.status.value} and a relative gap of "
            f"{its.certificate.relative_gap:.2g} of the approximate problem (tol={tol:g}), whose "
            f"rank is {its.rank}. Raise time_limit or max_iter, loosen tol, or lower C."
        )
    cut = [a for _, a in known if a.is_cut_short]
    if cut:
        worst_factor = max(cut, key=lambda each: each.relative_error)
        sentences.append(
            f"time_limit ended a low-rank factor of SVC at rank {worst_factor.rank}, which leaves "
            f"{worst_factor.relative_error:.2g} of the trace of the kernel matrix. Raise "
            "time_limit, or ask for a coarser approximation."
        )
    return " ".join(sentences) if sentences else None
