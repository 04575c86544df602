"""Evaluation of kernel machines: kernel blocks by the compiled core, kept rows, decision values."""

from __future__ import annotations

from hinge.machines.block import kernel_block
from hinge.machines.cache import KernelCache
from hinge.machines.decision import decision_values
from hinge.machines.machine import Machine, alike
from hinge.machines.source import KernelSource, source

__all__ = [
    "KernelCache",
    "KernelSource",
    "Machine",
    "alike",
    "decision_values",
    "kernel_block",
    "source",
]
