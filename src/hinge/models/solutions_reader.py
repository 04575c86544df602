"""What a file says of each binary problem, made into solutions after checking it.

Nothing here is proven by being in a file: the numbers are a claim of whoever wrote it, which
``verify`` checks against the data. What can be checked without data is checked: that the numbers
belong together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hinge.certificates.settled import OptimumRegion
from hinge.errors import ModelFileError
from hinge.models.budget import Budget
from hinge.models.solutions_table import BOUNDS, CERTIFIED, COLUMNS, WORDS
from hinge.models.text_lists import SharedWords, Tensors, each_row, each_text
from hinge.result import Certificate, Point, Solution, Status, Trace

_COUNTS = ("steps", "work")
_TIMES = ("seconds", "certificate_seconds")
_LONGEST_NAME = 100
_MOST_COUNT = 2.0**53
_SMALLEST = 2.0**-1022  # what a relative gap is divided by at least
_SLACK = 1e-12  # rounding of gap = primal - dual + rounding, relative to its terms
_STATUSES = {status.value: status for status in Status}
# Bytes that Python needs for a solution until the model has it, and for what can come on top.
_PER_SOLUTION = 900
_PER_DUAL = 120
_PER_REGION = 500


@dataclass(frozen=True)
class Claim:
    """What the solutions of a file must fit.

    Parameters
    ----------
    seed : int
        The seed of the runs.
    tol : float
        What a problem that is called solved must not exceed.
    free_or_constant : float or None
        Value of the constant feature of the objective; None if the intercept is free.
    criterion : {"relative_gap", "kkt"}, default="relative_gap"
        Which of its numbers ``tol`` is about.
    """

    seed: int
    tol: float
    free_or_constant: float | None
    criterion: str = "relative_gap"


def take_solutions(
    words: dict[str, Any], tensors: Tensors, claim: Claim, budget: Budget
) -> list[Solution]:
    """Return the solutions after checking that their numbers belong together.

    Parameters
    ----------
    words : dict of str to object
        What the description has under each of ``WORDS``.
    tensors : dict of str to ndarray
        The tensors of the file, of the right shapes and finite where they must be.
    claim : Claim
        What they must fit.
    budget : Budget
        Memory that they may take.

    Returns
    -------
    list of Solution
        One for each problem, without trace and state.
    """
    table = tensors["solutions"]
    n_duals, n_regions = (int((table[:, k] != 0.0).sum()) for k in (-2, -1))
    if "dual_coef" in tensors and not n_duals:
        message = "the file has dual coefficients that belong to no problem."
        raise ModelFileError(message)
    size = _PER_SOLUTION * len(table) + _PER_DUAL * n_duals + _PER_REGION * n_regions
    budget.spend(size, f"the file has {len(table)} problems")
    lists = [each_text(name, words[name], tensors, len(table)) for name in WORDS]
    shared = SharedWords(budget)
    trace = Trace()
    solutions = []
    for number, (row, said, solver, notes) in enumerate(zip(each_row(table), *lists, strict=True)):
        values = dict(zip(COLUMNS, row, strict=True))
        _check_numbers(values, f"problem {number}")
        status = _status(said, values, claim)
        if not 0 < len(solver) <= _LONGEST_NAME:
            message = f"the solver of problem {number} has a name that cannot be."
            raise ModelFileError(message)
        region = _region(number, tensors, claim) if values["has_region"] else None
        certified = {name: values[name] for name in CERTIFIED}
        solutions.append(
            Solution(
                point=_point(number, tensors, bool(values["has_dual"])),
                certificate=Certificate(
                    **certified, notes=shared.lines(notes), region=region, status=status
                ),
                trace=trace,
                status=status,
                state=None,
                solver=shared.word(solver),
                seed=claim.seed,
                steps=int(values["steps"]),
                work=int(values["work"]),
                seconds=values["seconds"],
                certificate_seconds=values["certificate_seconds"],
            )
        )
    return solutions


def _status(name: str, values: dict[str, float], claim: Claim) -> Status:
    if name not in _STATUSES:
        message = f"a problem has a status that this version does not know: {name[:50]!r}."
        raise ModelFileError(message)
    reached = values[claim.criterion]
    if _STATUSES[name] is Status.SOLVED and not reached <= claim.tol:
        what = {"relative_gap": "relative gap", "kkt": "violation"}[claim.criterion]
        message = (
            f"a problem is called solved; its {what} of {reached:g} is above tol={claim.tol:g}."
        )
        raise ModelFileError(message)
    return _STATUSES[name]


def _check_numbers(values: dict[str, float], where: str) -> None:
    """Refuse numbers of a solution that no certificate and no run ever have together."""
    flags = {values["has_dual"], values["has_region"]} <= {0.0, 1.0}
    counts = all(
        0.0 <= values[name] <= _MOST_COUNT and values[name].is_integer() for name in _COUNTS
    )
    times = all(0.0 <= values[name] < math.inf for name in _TIMES)
    if not (flags and counts and times):
        message = f"{where} has steps, work, seconds or flags that cannot be."
        raise ModelFileError(message)
    if not _is_certificate(values):
        message = f"the numbers of the certificate of {where} do not belong together."
        raise ModelFileError(message)
    if values["has_region"] and not (values["has_dual"] and math.isfinite(values["gap"])):
        message = f"{where} has a region of the optimum, but no gap that could prove it."
        raise ModelFileError(message)


def _is_certificate(values: dict[str, float]) -> bool:
    """Return whether six numbers are such that a certificate can have them."""
    primal, dual, gap, relative, rounding, kkt = (values[name] for name in CERTIFIED)
    if not (kkt >= 0.0 or math.isnan(kkt)):
        return False
    if not math.isfinite(gap):
        return gap == relative == rounding == math.inf
    if not (math.isfinite(primal) and math.isfinite(dual) and math.isfinite(rounding)):
        return False
    size = max(abs(primal), abs(dual), _SMALLEST)
    parts = primal - dual + rounding
    adds_up = abs(gap - parts) <= _SLACK * (abs(primal) + abs(dual) + abs(rounding))
    return gap >= 0.0 and rounding >= 0.0 and relative == gap / size and adds_up


def _point(number: int, tensors: Tensors, has_dual: bool) -> Point:
    dual = None
    if has_dual:
        if "dual_coef" not in tensors:
            message = f"problem {number} should have dual coefficients; the file has none."
            raise ModelFileError(message)
        dual = tensors["dual_coef"][number]
    return Point(tensors["coef"][number], float(tensors["intercept"][number]), dual)


def _region(number: int, tensors: Tensors, claim: Claim) -> OptimumRegion:
    """Return the region of a problem's optimum, in the form that its intercept asks for."""
    is_free = claim.free_or_constant is None
    if "region.centre" not in tensors or ("region.origin" in tensors) is not is_free:
        message = f"problem {number} should have a region of its optimum; the file has none."
        raise ModelFileError(message)
    bounds = dict(zip(BOUNDS, tensors["region.bounds"][number].tolist(), strict=True))
    radius, lowest, highest = bounds["radius"], bounds["lowest"], bounds["highest"]
    constant = claim.free_or_constant or 0.0
    fits = 0.0 <= radius < math.inf and lowest <= highest
    fits = fits and (is_free or lowest == highest) and bounds["constant_feature"] == constant
    if not fits:
        message = f"the region of the optimum of problem {number} cannot be one."
        raise ModelFileError(message)
    return OptimumRegion(
        coef=tensors["region.centre"][number],
        radius=radius,
        origin=tensors["region.origin"][number] if is_free else None,
        offsets=(lowest, highest),
        constant_feature=constant,
    )
