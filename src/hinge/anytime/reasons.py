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
    kernel, support = machine.kernel, machine.support
    if isinstance(support, Rows) and kernel.on(support) is not kernel:
        return (
            f"products would lose what tells the support vectors apart: values of {kernel!r} are "
            "made of differences, one after the other. Scale the features."
        )
    if bounded_kernel(kernel, support) is None:
        return f"nothing is proven of the rounding of the kernel {kernel!r}"
    return ""
