"""Evaluation of kernel machines: kernel blocks by the compiled core, kept rows, decision values."""

from __future__ import annotations

from hinge.machines.block import kernel_block
from hinge.machines.cache import ADDED_A_VALUE, KernelCache
from hinge.machines.decision import decision_values
from hinge.machines.kept import KeptMachine
from hinge.machines.kernel_source import KernelSource
from hinge.machines.machine import Machine, alike
from hinge.machines.margin_index import Errors, KernelMarginIndex
from hinge.machines.source import source
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
    "source",
]
