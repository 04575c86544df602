"""Evaluation of machines: kernel blocks by the compiled core, kept rows, decision values."""

from __future__ import annotations

import typing

from hinge.later import loaded_later

if typing.TYPE_CHECKING:
    from hinge.machines.block import kernel_block
    from hinge.machines.cache import ADDED_A_VALUE, KernelCache
    from hinge.machines.decision import decision_values
    from hinge.machines.kept import KeptMachine
    from hinge.machines.kernel_source import KernelSource
    from hinge.machines.machine import Machine, alike
    from hinge.machines.margin_index import Errors, KernelMarginIndex
    from hinge.machines.team import Team

__all__ = [
    "ADDED_A_VALUE",
    "Errors",
    "KernelCache",
    "KernelMarginIndex",
    "KernelSource",
    "KeptMachine",
    "Machine",
    "Team",
    "alike",
    "decision_values",
    "kernel_block",
]

# Loaded when first asked for: the scores of linear machines need none of them.
_LOADED_LATER = {
    "ADDED_A_VALUE": "hinge.machines.cache",
    "Errors": "hinge.machines.margin_index",
    "KernelCache": "hinge.machines.cache",
    "KernelMarginIndex": "hinge.machines.margin_index",
    "KernelSource": "hinge.machines.kernel_source",
    "KeptMachine": "hinge.machines.kept",
    "Machine": "hinge.machines.machine",
    "Team": "hinge.machines.team",
    "alike": "hinge.machines.machine",
    "decision_values": "hinge.machines.decision",
    "kernel_block": "hinge.machines.block",
}

__getattr__ = loaded_later(__name__, _LOADED_LATER)


def __dir__() -> list[str]:
    return list(__all__)
