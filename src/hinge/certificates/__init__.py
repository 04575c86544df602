"""The judge: recomputes from the raw data what a point is worth, and imports no solver.

Plain NumPy over :mod:`hinge.rows`; it imports no solver and no native code.
"""

from __future__ import annotations

import typing

from hinge.certificates.gap import gap
from hinge.certificates.hard_margin import margin_interval
from hinge.certificates.kkt import Violation, kkt
from hinge.certificates.settled import OptimumRegion

if typing.TYPE_CHECKING:
    from hinge.certificates.kernel_region import KernelRegion

__all__ = ["KernelRegion", "OptimumRegion", "Violation", "gap", "kkt", "margin_interval"]


def __getattr__(name: str) -> typing.Any:
    if name != "KernelRegion":
        message = f"module 'hinge.certificates' has no attribute {name!r}"
        raise AttributeError(message)
    from hinge.certificates.kernel_region import (  # noqa: PLC0415 - linear machines spare it
        KernelRegion,
    )

    return KernelRegion


def __dir__() -> list[str]:
    return list(__all__)
