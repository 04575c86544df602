"""The judge: recomputes from the raw data what a point is worth, and imports no solver.

Plain NumPy over :mod:`hinge.rows`; it imports no solver and no native code.
"""

from __future__ import annotations

from hinge.certificates.gap import gap
from hinge.certificates.hard_margin import margin_interval
from hinge.certificates.kernel_region import KernelRegion
from hinge.certificates.kkt import Violation, kkt
from hinge.certificates.settled import OptimumRegion

__all__ = ["KernelRegion", "OptimumRegion", "Violation", "gap", "kkt", "margin_interval"]
