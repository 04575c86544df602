"""The judge: recomputes from the raw data what a point is worth, and imports no solver.

Plain NumPy over :mod:`hinge.rows`; it imports no solver and no native code.
"""

from __future__ import annotations

import typing

from hinge.certificates.gap import gap
from hinge.certificates.hard_margin import margin_interval
from hinge.certificates.kkt import Rounding, Violation, kkt
from hinge.certificates.settled import OptimumRegion
from hinge.later import loaded_later

if typing.TYPE_CHECKING:
    from hinge.certificates.kernel_region import KernelRegion

__all__ = [
    "KernelRegion",
    "OptimumRegion",
    "Rounding",
    "Violation",
    "gap",
    "kkt",
    "margin_interval",
]


# It comes with the judge of kernel machines, which linear ones spare.
__getattr__ = loaded_later(__name__, {"KernelRegion": "hinge.certificates.kernel_region"})


def __dir__() -> list[str]:
    return list(__all__)
