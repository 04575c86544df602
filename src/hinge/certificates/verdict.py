"""From objective values and their bounds to a certificate."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hinge.certificates.conditions import Measured
from hinge.result import Certificate

_SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
_LEAST_SCALE = float(np.finfo(np.float64).tiny)


class Values(NamedTuple):
    """Objective values, an upper bound on the primal one and a lower bound on the dual one."""

    primal: float
    primal_above: float
    dual: float
    dual_below: float


def certificate_of(
    values: Values, kkt: Measured, products: int, notes: tuple[str, ...] = ()
) -> Certificate:
    """Return the certificate of widened values; anything that is not a number proves nothing.

    Parameters
    ----------
    values : Values
        Objective values and bounds.
    kkt : Measured
        Largest violation of the optimality conditions, and an upper bound on the true one.
    products : int
        How many products may have left the range of normal numbers, where rounding is a fixed
        amount.
    notes : tuple of str, default=()
        What else there is to say of it.
    """
    primal, primal_above, dual, dual_below = values
    difference = primal_above - dual_below + products * _SMALLEST
    usable = math.isfinite(difference) and math.isfinite(primal)
    if not usable:
        difference = relative = rounding = math.inf
    else:
        relative = difference / max(abs(primal), abs(dual), _LEAST_SCALE)
        rounding = (primal_above - primal) + (dual - dual_below)
    return Certificate(
        primal=primal,
        dual=-math.inf if math.isnan(dual) else dual,
        gap=difference,
        relative_gap=relative,
        rounding=rounding,
        kkt=kkt.above if math.isfinite(primal) else math.inf,
        kkt_rounding=kkt.rounding,
        notes=notes,
    )
