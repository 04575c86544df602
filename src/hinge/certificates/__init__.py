"""The judge: recomputes from the raw data what a point is worth, and imports no solver.

Plain NumPy over :mod:`hinge.rows`; nothing here is shared with the code that is judged.
"""

from __future__ import annotations

from hinge.certificates.gap import gap
from hinge.certificates.kkt import Violation, kkt
from hinge.certificates.settled import OptimumRegion

__all__ = ["OptimumRegion", "Violation", "gap", "kkt"]
