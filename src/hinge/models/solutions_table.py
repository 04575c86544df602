"""What is known of each binary problem of a model, as a table of numbers and lists of words.

Of a solution the point, the certificate, the status and the counts are kept; the trace of the run
and the solver's state are not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.settled import OptimumRegion
from hinge.models.strict_json import spelled_number
from hinge.models.text_lists import Tensors, put_texts
from hinge.result import Certificate, Solution

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
CERTIFIED = COLUMNS[:6]
WORDS = ("status", "solver", "notes")  # a list each, one entry per problem


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
    regions = [
        None if dual is None else _finite_region(solution.certificate)
        for solution, dual in zip(solutions, duals, strict=True)
    ]
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


def certificate_summary(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as it stands in the description, for people to read.

    Parameters
    ----------
    certificate : Certificate
        The certificate of the worst problem.
    """
    numbers = {name: spelled_number(getattr(certificate, name)) for name in CERTIFIED}
    return {**numbers, "notes": list(certificate.notes)}


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
