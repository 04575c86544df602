"""Evaluation of kernel machines: kernel blocks by the compiled core, kept rows, decision values."""

from __future__ import annotations

from hinge.machines.block import kernel_block
from hinge.machines.cache import KernelCache
from hinge.machines.decision import decision_values
from hinge.machines.kept import KeptMachine
from hinge.machines.machine import Machine, alike
from hinge.machines.margin_index import Errors, KernelMarginIndex
from hinge.machines.source import KernelSource, source

__all__ = [
    "Errors",
    "KernelCache",
    "KernelMarginIndex",
    "KernelSource",
    "KeptMachine",
    "Machine",
    "alike",
    "decision_values",
    "kernel_block",
    "source",
]
