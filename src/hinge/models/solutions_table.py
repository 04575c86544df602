"""What is known of each binary problem of a model, as a table of numbers and lists of words.

Of a solution the point, the certificate, the status and the counts are kept; the trace of the run
and the solver's state are not. Nothing here is proven by being in a file: the numbers are a claim
of whoever wrote it, which ``verify`` checks against the data. What can be checked without data is
checked: that the numbers belong together.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.settled import OptimumRegion
from hinge.errors import ModelFileError
from hinge.models.text_lists import Tensors, put_texts, take_texts
from hinge.result import Certificate, Point, Solution, Status, Trace

Floats = NDArray[np.float64]

COLUMNS = (
    "primal",
    "dual",
    "gap",
    "relative_gap",
    "rounding",
    "kkt",
    "steps",
    "work",
    "seconds",
    "certificate_seconds",
    "has_dual",
    "has_region",
)
BOUNDS = ("radius", "lowest", "highest", "constant_feature")
WORDS = ("status", "solver", "notes")  # a list each, one entry per problem
_CERTIFIED = COLUMNS[:6]
_COUNTS = ("steps", "work")
_TIMES = ("seconds", "certificate_seconds")
_LONGEST_NAME = 100
_MOST_COUNT = 2.0**53
_SMALLEST = float(np.finfo(np.float64).tiny)
_SLACK = 1e-12  # rounding of gap = primal - dual + rounding, relative to its terms


def put_solutions(solutions: list[Solution], tensors: Tensors, proof: bool) -> dict[str, Any]:
    """Return the words of the description and add the tables to the tensors.

    Parameters
    ----------
    solutions : list of Solution
        One for each problem.
    tensors : dict of str to ndarray
        Where tensors are added.
    proof : bool
        Whether dual coefficients and the regions of the optima are kept.
    """
    duals = [_usable(solution.dual_coef) if proof else None for solution in solutions]
    regions = [_finite_region(solution.certificate) if proof else None for solution in solutions]
    tensors["solutions"] = np.array(
        [
            [*_numbers(solution), dual is not None, region is not None]
            for solution, dual, region in zip(solutions, duals, regions, strict=True)
        ],
        dtype=np.float64,
    )
    _put_duals(duals, tensors)
    _put_regions(regions, tensors)
    words = {
        "status": [solution.status.value for solution in solutions],
        "solver": [solution.solver for solution in solutions],
        "notes": ["\n".join(solution.certificate.notes) for solution in solutions],
    }
    return {name: put_texts(name, texts, tensors) for name, texts in words.items()}


def take_solutions(
    words: dict[str, Any], tensors: Tensors, seed: int, free_or_constant: float | None
) -> list[Solution]:
    """Return the solutions after checking that their numbers belong together.

    Parameters
    ----------
    words : dict of str to object
        What the description has under each of ``WORDS``.
    tensors : dict of str to ndarray
        The tensors of the file, of the right shapes and finite where they must be.
    seed : int
        The seed of the runs.
    free_or_constant : float or None
        Value of the constant feature of the objective; None if the intercept is free.

    Returns
    -------
    list of Solution
        One for each problem, without trace and state.
    """
    table = tensors["solutions"]
    lists = {name: take_texts(name, words[name], tensors, len(table)) for name in WORDS}
    solutions = []
    for number, row in enumerate(table.tolist()):
        values = dict(zip(COLUMNS, row, strict=True))
        status = _status(lists["status"][number], values)
        _check_numbers(values, f"problem {number}")
        notes = lists["notes"][number]
        certificate = Certificate(
            **{name: values[name] for name in _CERTIFIED},
            notes=tuple(notes.split("\n")) if notes else (),
        )
        if values["has_region"]:
            region = _region(number, tensors, free_or_constant)
            certificate = replace(certificate, region=region)
        solver = lists["solver"][number]
        if not 0 < len(solver) <= _LONGEST_NAME:
            message = f"the solver of problem {number} has a name that cannot be."
            raise ModelFileError(message)
        solutions.append(
            Solution(
                point=_point(number, tensors, bool(values["has_dual"])),
                certificate=certificate,
                trace=Trace(),
                status=status,
                state=None,
                solver=solver,
                seed=seed,
                steps=int(values["steps"]),
                work=int(values["work"]),
                seconds=values["seconds"],
                certificate_seconds=values["certificate_seconds"],
            )
        )
    return solutions


def _numbers(solution: Solution) -> list[float]:
    named = {**vars(solution.certificate), **vars(solution)}
    return [float(named[name]) for name in COLUMNS[:-2]]


def _usable(dual: Floats | None) -> Floats | None:
    """Return dual coefficients that can prove something: finite, and none negative."""
    if dual is None or not np.isfinite(dual).all() or dual.min() < 0.0:
        return None
    return dual


def _put_duals(duals: list[Floats | None], tensors: Tensors) -> None:
    """Add the dual coefficients, zero for a problem that has none."""
    known = [dual for dual in duals if dual is not None]
    if known:
        nothing = np.zeros(len(known[0]))
        tensors["dual_coef"] = np.stack([nothing if dual is None else dual for dual in duals])


def _finite_region(certificate: Certificate) -> OptimumRegion | None:
    """Return the region of a certificate if it says anything."""
    region: Any = certificate.region
    if not isinstance(region, OptimumRegion) or not math.isfinite(certificate.gap):
        return None
    origin = np.zeros(0) if region.origin is None else region.origin
    numbers = (region.coef, origin, np.asarray(region.radius))
    is_finite = all(bool(np.isfinite(array).all()) for array in numbers)
    return region if is_finite and region.offsets[0] <= region.offsets[1] else None


def _put_regions(regions: list[OptimumRegion | None], tensors: Tensors) -> None:
    """Add the regions, zeros for a problem that has none."""
    known = [region for region in regions if region is not None]
    if not known:
        return
    nothing = np.zeros(len(known[0].coef))
    tensors["region.centre"] = np.stack(
        [nothing if region is None else region.coef for region in regions]
    )
    if known[0].origin is not None:
        tensors["region.origin"] = np.stack(
            [nothing if region is None else _origin(region) for region in regions]
        )
    tensors["region.bounds"] = np.array(
        [
            [0.0] * len(BOUNDS)
            if region is None
            else [region.radius, *region.offsets, region.constant_feature]
            for region in regions
        ]
    )


def _origin(region: OptimumRegion) -> Floats:
    return np.zeros(len(region.coef)) if region.origin is None else region.origin


def _status(name: str, values: dict[str, float]) -> Status:
    known = {status.value: status for status in Status}
    if name not in known:
        message = f"a problem has a status that this version does not know: {name[:50]!r}."
        raise ModelFileError(message)
    if known[name] is Status.SOLVED and not math.isfinite(values["gap"]):
        message = "a problem is called solved and has no finite gap."
        raise ModelFileError(message)
    return known[name]


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
    if values["has_region"] and not math.isfinite(values["gap"]):
        message = f"{where} has a region of the optimum, but no gap that could prove it."
        raise ModelFileError(message)


def _is_certificate(values: dict[str, float]) -> bool:
    """Return whether six numbers are such that a certificate can have them."""
    primal, dual, gap, relative, rounding, kkt = (values[name] for name in _CERTIFIED)
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


def _region(number: int, tensors: Tensors, free_or_constant: float | None) -> OptimumRegion:
    """Return the region of a problem's optimum, in the form that its intercept asks for."""
    is_free = free_or_constant is None
    if "region.centre" not in tensors or ("region.origin" in tensors) is not is_free:
        message = f"problem {number} should have a region of its optimum; the file has none."
        raise ModelFileError(message)
    bounds = dict(zip(BOUNDS, tensors["region.bounds"][number].tolist(), strict=True))
    radius, lowest, highest = bounds["radius"], bounds["lowest"], bounds["highest"]
    constant = 0.0 if free_or_constant is None else free_or_constant
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
