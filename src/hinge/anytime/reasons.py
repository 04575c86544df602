"""Why a machine has nothing but its full evaluation."""

from __future__ import annotations

from hinge.anytime.sides import bounded_kernel
from hinge.machines import Machine
from hinge.rows import Rows


def why_in_full(machine: Machine) -> str:
    """Return why a machine has no stage before its full evaluation; nothing if it can have one.

    Parameters
    ----------
    machine : Machine
        The machine.
    """
    if len(machine.coefficients) == 0:
        return "the machine has no support vectors"
    if bounded_kernel(machine.kernel) is None or not isinstance(machine.support, Rows):
        return f"nothing is proven of the rounding of the kernel {machine.kernel!r}"
    return ""
