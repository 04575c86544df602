"""Two kernel machines of the same problems before the judge: pair by pair, and summed."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.rules import LargestRule, Rule, SignRule, VoteRule
from hinge.errors import InvalidDataError
from hinge.estimators._division import Division
from hinge.estimators._settled_classes import NOT_PROVEN, proven_classes
from hinge.kernels import Kernel, Precomputed
from hinge.models._judged_machine import JudgedMachine, PlacedMachine, Worth
from hinge.models.comparison import Comparison, Standing
from hinge.models.definiteness import negative_curvature
from hinge.multiclass import ClassesAgainstRest, ClassPairs, Labels
from hinge.problem import Problem
from hinge.result import Certificate, Stop
from hinge.rows import Rows
from hinge.solvers import solve

_STOP = Stop(gap=1e-6, seconds=60.0)
_ASSUMED = (
    "That takes the kernel matrix for positive semidefinite, which these data do not contradict."
)
_NOT_PSD = (
    "The kernel is not positive semidefinite: the problem has no optimum that could be proven, and "
    "the violations of the optimality conditions are all that can be compared."
)


@dataclass(frozen=True)
class _Judged:
    """What is known of one problem: of both machines, and of its optimum."""

    worth: tuple[Worth, Worth]
    below: float
    best: float
    certificate: Certificate | None


def compare_machines(
    a: JudgedMachine, b: JudgedMachine, X: Any, rows: Rows, labels: Labels, stop: Stop | None
) -> Comparison:
    """Judge two kernel machines of the same objective; see :func:`hinge.compare`.

    Parameters
    ----------
    a, b : JudgedMachine
        The machines.
    X : array-like, sparse matrix or data frame
        The data as the caller has them.
    rows : Rows
        The same.
    labels : Labels
        Labels and weights of the rows.
    stop : Stop or None
        How well to solve the reference problems.
    """
    kernel, note = _judging_kernel(a, b, rows)
    objective = replace(a.objective, kernel=kernel)
    division: Division = ClassPairs(labels)
    if a.machine.is_against_rest:
        division = ClassesAgainstRest(labels)
    placed = (
        PlacedMachine(a, division, rows, "model_a"),
        PlacedMachine(b, division, rows, "model_b"),
    )
    shared: Any = division.shared(rows, kernel) if isinstance(division, ClassPairs) else rows
    judged = [
        _judged(division.problem(shared, objective, number), number, placed, stop)
        for number in range(len(division))
    ]
    codes = [np.searchsorted(labels.classes, each.model.predict(X)) for each in (a, b)]
    proven = _proven(rows, division, judged)
    lower_bound = math.fsum(problem.below for problem in judged) if kernel.psd else -math.inf
    standings = [
        _standing(name, [problem.worth[which] for problem in judged], lower_bound, code, proven)
        for which, (name, code) in enumerate(zip((a.name, b.name), codes, strict=True))
    ]
    return Comparison(
        a=standings[0],
        b=standings[1],
        lower_bound=lower_bound,
        upper_bound=math.fsum(problem.best for problem in judged) if kernel.psd else math.inf,
        n_rows=rows.n_rows,
        n_problems=len(judged),
        labels_that_differ=int(np.count_nonzero(codes[0] != codes[1])),
        objective=objective,
        notes=note,
    )


def _judging_kernel(
    a: JudgedMachine, b: JudgedMachine, rows: Rows
) -> tuple[Kernel, tuple[str, ...]]:
    """Return the kernel to judge with, and what must be said of it."""
    kernel = a.machine.kernel
    if not isinstance(kernel, Precomputed):
        return kernel, () if kernel.psd else (_NOT_PSD,)
    kernel = kernel.resolved(rows)
    is_denied = any(each.machine.kernel.psd is False for each in (a, b))
    if is_denied or negative_curvature(rows) is not None:
        return replace(kernel, psd=False), (_NOT_PSD,)
    return replace(kernel, psd=True), (_ASSUMED,)


def _judged(
    problem: Problem, number: int, placed: tuple[PlacedMachine, PlacedMachine], stop: Stop | None
) -> _Judged:
    """Judge one function of both machines, and enclose the optimum of its problem."""
    worth = placed[0].worth(problem, number), placed[1].worth(problem, number)
    if not all(math.isfinite(each.primal) for each in worth):
        message = "the kernel values of X overflow, so that no objective can be computed. Scale X."
        raise InvalidDataError(message)
    assert problem.kernel is not None
    if not problem.kernel.psd:
        return _Judged(worth, -math.inf, math.inf, None)
    started = [each for each in worth if each.point is not None and math.isfinite(each.below)]
    nearest = min(started, key=lambda each: each.primal, default=None)
    warm = None if nearest is None else nearest.point
    reference = solve(problem, stop=stop or _STOP, warm=warm).certificate
    bounds = [each.below for each in worth]
    if math.isfinite(reference.gap):
        bounds.append(reference.primal - reference.gap)
    best = min(reference.primal, *(each.primal for each in worth))
    return _Judged(worth, max(0.0, *bounds), best, reference)


def _proven(rows: Rows, division: Division, judged: list[_Judged]) -> NDArray[np.intp]:
    """Return the class that the optimum is proven to give each row."""
    certificates = [each.certificate for each in judged if each.certificate is not None]
    if not certificates:
        return np.full(rows.n_rows, NOT_PROVEN)
    rule: Rule = SignRule()
    if len(division.labels.classes) > 2:
        rule = VoteRule(len(division.labels.classes)) if division.is_of_pairs else LargestRule()
    sign = -1.0 if isinstance(rule, VoteRule) else 1.0
    return proven_classes(rows, certificates, rule, sign)


def _standing(
    name: str,
    worth: list[Worth],
    lower_bound: float,
    codes: NDArray[np.intp],
    proven: NDArray[np.intp],
) -> Standing:
    """Return how one machine stands to the optimum."""
    primal = math.fsum(each.primal for each in worth)
    above = math.fsum(each.above for each in worth)
    total = above - lower_bound
    scale = lower_bound if lower_bound > 0.0 else primal
    return Standing(
        name=name,
        objective=primal,
        gap=total,
        relative_gap=total / scale if math.isfinite(total) else math.inf,
        rounding=above - primal,
        labels_proven_right=int(np.count_nonzero(proven == codes)),
        labels_proven_wrong=int(np.count_nonzero((proven != NOT_PROVEN) & (proven != codes))),
        violation=max(each.violation for each in worth),
    )
