"""Does a kernel machine tell the truth? Its certificates, recomputed from data by the judge.

The dual coefficients of a kernel machine are part of it, so its gap is proven again wherever its
support vectors are rows of the data: also for machines of other programs, and for files without
proof. Where they are not, the objective is still recomputed from the support vectors themselves.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.certificates import gap
from hinge.certificates.kernel_foreign import foreign_gap, foreign_objective
from hinge.estimators._data import rows_to_score
from hinge.estimators._kernel_options import kernel_objective
from hinge.estimators.svc import SVC
from hinge.kernels import Precomputed
from hinge.models.definiteness import negative_curvature
from hinge.models.fitted_machine import fitted_machine
from hinge.models.kernel_machine import KernelMachine
from hinge.models.machine_functions import own_machine, point_of
from hinge.models.support_rows import Found, find_support
from hinge.models.verification import ProblemVerification, Verification
from hinge.models.verified_numbers import differences, verified_labels
from hinge.multiclass import ClassesAgainstRest, ClassPairs, data_fingerprint
from hinge.parameters import not_negative
from hinge.problem import Problem
from hinge.result import Certificate, Point, Status
from hinge.threads import thread_count

_SLACK = 1e-6  # by which a violation may differ for another order of sums
_NOT_FOUND = (
    "Some support vectors are not rows of these data, so nothing bounds the optimum from below."
)
_ASSUMED = (
    "That rests on the model's word that the kernel matrix is positive semidefinite; these data "
    "do not contradict it."
)


def verify_machine(model: SVC, X: Any, y: Any, sample_weight: Any) -> Verification:
    """Recompute the certificates of a kernel machine; see :func:`hinge.models.verify`.

    Parameters
    ----------
    model : SVC
        A fitted estimator.
    X, y, sample_weight : array-like
        What it was fitted on.
    """
    machine = fitted_machine(model)
    rows = rows_to_score(model, X)
    labels = verified_labels(model, y, sample_weight, rows)
    pairs = ClassesAgainstRest(labels) if machine.is_against_rest else ClassPairs(labels)
    objective = replace(kernel_objective(model), kernel=machine.kernel)
    known = getattr(model, "data_fingerprint_", None)
    same = None if known is None else known == data_fingerprint(rows, labels)
    support = find_support(machine, rows, labels.codes)
    tol, threads = not_negative(model.tol, "tol"), thread_count(model.n_jobs)
    problems = []
    for number in range(len(pairs)):
        problem = pairs.problem(rows, objective, number)
        stated = replace(model.certificates_[number], region=None)
        found: tuple[str, ...]
        if support is None:
            recomputed = _objective_only(machine, problem, number)
            found = differences(stated, recomputed, Point(np.zeros(0), 0.0), problem)
        else:
            point = point_of(machine, pairs, support.rows, number)
            if support.is_exact:
                recomputed = gap(problem, point, threads=threads, region=False)
            else:
                own = own_machine(machine, number)
                recomputed = foreign_gap(problem, point, own, threads)
            found = differences(stated, recomputed, point, problem)
            is_solved = model.solutions_[number].status is Status.SOLVED
            found += _violations(stated, recomputed, tol if is_solved else math.inf)
        found += _indefinite(machine, problem)
        if support is None and same:
            found += ("the support vectors are not rows of these data.",)
        label = _shown(pairs.label(number))
        problems.append(ProblemVerification(label, stated, recomputed, found))
    assumed = _ASSUMED if _is_said_to_be_psd(machine) else None
    return Verification(tuple(problems), same, rows.n_rows, _reason(problems, support), assumed)


def _objective_only(machine: KernelMachine, problem: Problem, number: int) -> Certificate:
    """Return a certificate that knows the objective, computed from the support vectors."""
    if machine.vectors is None:  # a kernel matrix of other rows does not know these
        return _unknown(math.nan)
    return _unknown(foreign_objective(problem, own_machine(machine, number)).value)


def _is_said_to_be_psd(machine: KernelMachine) -> bool:
    return isinstance(machine.kernel, Precomputed) and machine.kernel.psd is True


def _indefinite(machine: KernelMachine, problem: Problem) -> tuple[str, ...]:
    """Return a sentence if a matrix that is called positive semidefinite is seen not to be."""
    if not _is_said_to_be_psd(machine):
        return ()
    value = negative_curvature(problem.rows)
    if value is None:
        return ()
    return (
        "the model calls the kernel matrix positive semidefinite; it has an eigenvalue of at most "
        f"{value:.3g}, so that no gap proves anything.",
    )


def _unknown(primal: float) -> Certificate:
    inf = math.inf
    return Certificate(primal, -inf, inf, inf, inf, math.nan, (_NOT_FOUND,))


def _violations(stated: Certificate, recomputed: Certificate, tol: float) -> tuple[str, ...]:
    """Return a sentence for a violation that is larger than what was stated or asked for."""
    found = []
    slack = _SLACK * max(1.0, abs(recomputed.kkt))
    if math.isfinite(stated.kkt) and not recomputed.kkt <= stated.kkt + slack:
        found.append(
            f"the stated violation of the optimality conditions is {stated.kkt:.3g}; recomputed it "
            f"is {recomputed.kkt:.3g}."
        )
    if not recomputed.kkt <= tol + slack:
        found.append(
            "the stated status is solved; the recomputed violation is above tol "
            f"({recomputed.kkt:.3g}, {tol:g} asked for)."
        )
    return tuple(found)


def _shown(label: Any) -> Any:
    """Return a label, or a pair of them, as Python has them."""
    if isinstance(label, tuple):
        return tuple(_shown(part) for part in label)
    return label.item() if isinstance(label, np.generic) else label


def _reason(problems: list[ProblemVerification], support: Found | None) -> str | None:
    """Return why nothing bounds the optimum, if so."""
    if support is None:
        return _NOT_FOUND
    worst = max(problems, key=lambda problem: problem.recomputed.gap)
    if math.isfinite(worst.recomputed.gap):
        return None
    notes = worst.recomputed.notes
    violation = f"the largest violation is {worst.recomputed.kkt:.3g}"
    return f"There is {notes[0]}: {violation}." if notes else None
