"""What tests of solvers need: problems with a known optimum, references, independent judgement.

Shipped for those who write solvers of their own; nothing else in hinge imports it.
"""

from __future__ import annotations

from hinge.testing.exact import ExactViolation, Recomputed, kernel_matrix, recompute
from hinge.testing.extended_kernels import extended_kernel
from hinge.testing.known_optimum import KnownOptimum, known_optimum
from hinge.testing.reference import reference_solution
from hinge.testing.solver_checks import yield_checks
from hinge.testing.verification import verify, verify_certificate

__all__ = [
    "ExactViolation",
    "KnownOptimum",
    "Recomputed",
    "extended_kernel",
    "kernel_matrix",
    "known_optimum",
    "recompute",
    "reference_solution",
    "verify",
    "verify_certificate",
    "yield_checks",
]
