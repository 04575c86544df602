"""Kernel machines as ONNX graphs: kernel values, decision values, and votes of pairs.

ONNX has an operator for these too (``ai.onnx.ml.SVMClassifier``), in single precision as well. Here
decision values are a matrix product of kernel values (:mod:`hinge.models.onnx_kernels`).
"""

from __future__ import annotations

import numpy as np

from hinge.estimators._kernel_machine import coefficients_of
from hinge.models.kernel_machine import KernelMachine, pairs
from hinge.models.onnx_kernels import add_kernel
from hinge.models.onnx_parts import GraphParts

_LARGEST = 1e300  # of a decision value that is summed, as hinge.SVC does


def add_machine(graph: GraphParts, machine: KernelMachine, per_class: bool) -> None:
    """Add what makes ``decision`` and ``winner`` of ``rows``.

    Parameters
    ----------
    graph : GraphParts
        The graph so far.
    machine : KernelMachine
        A checked machine.
    per_class : bool
        Whether more than two classes have a decision value each; else every pair has one.
    """
    add_kernel(graph, machine)
    coefficients = coefficients_of(machine.dual_coef, machine.n_support)
    if len(machine.classes) == 2:
        graph.constant("coefficients", coefficients[:, 0])
        graph.constant("intercept", machine.intercept[0])
        graph.node("MatMul", ["kernel", "coefficients"], "sums")
        graph.node("Add", ["sums", "intercept"], "decision")
        graph.constant("zero", 0.0)
        graph.node("Less", ["decision", "zero"], "is_first")
        graph.node("Not", ["is_first"], "is_second")
        graph.node("Cast", ["is_second"], "winner", to=graph.types.INT64)
        return
    graph.constant("coefficients", coefficients)
    graph.constant("intercept", machine.intercept)
    graph.node("MatMul", ["kernel", "coefficients"], "sums")
    if machine.is_against_rest:
        graph.node("Add", ["sums", "intercept"], "decision")
        graph.node("ArgMax", ["decision"], "winner", axis=1, keepdims=0)
        return
    pair_values = "pair_values" if per_class else "decision"
    graph.node("Add", ["sums", "intercept"], pair_values)
    class_values = "decision" if per_class else "class_values"
    _add_votes(graph, len(machine.classes), pair_values, class_values)


def size_of(machine: KernelMachine) -> int:
    """Return how many bytes the constants of the graph take.

    Parameters
    ----------
    machine : KernelMachine
        A checked machine.
    """
    count = int(machine.dual_coef.shape[1])
    width = 1 if machine.vectors is None else machine.n_features
    return 8 * count * (width + len(machine.intercept))


def _add_votes(graph: GraphParts, n_classes: int, values: str, result: str) -> None:
    """Add the votes of the pairs, what decides between as many, and the winner."""
    favour = np.zeros((n_classes * (n_classes - 1) // 2, n_classes))
    for number, (first, second) in enumerate(pairs(n_classes)):
        favour[number, first], favour[number, second] = 1.0, -1.0
    graph.constant("zero", 0.0)
    graph.constant("favour", favour)
    graph.constant("against", np.sum(favour < 0.0, axis=0).astype(np.float64))
    graph.constant("one", 1.0)
    graph.constant("three", 3.0)
    graph.constant("largest", _LARGEST)
    graph.constant("lowest", -_LARGEST)
    graph.node("Greater", [values, "zero"], "is_first")
    graph.node("Cast", ["is_first"], "first_votes", to=graph.types.DOUBLE)
    graph.node("MatMul", ["first_votes", "favour"], "vote_changes")
    graph.node("Add", ["vote_changes", "against"], "votes")
    graph.node("Min", [values, "largest"], "bounded_above")
    graph.node("Max", ["bounded_above", "lowest"], "bounded")
    graph.node("MatMul", ["bounded", "favour"], "totals")
    graph.node("Abs", ["totals"], "sizes")
    graph.node("Add", ["sizes", "one"], "above_sizes")
    graph.node("Div", ["totals", "above_sizes"], "fractions")
    graph.node("Div", ["fractions", "three"], "tie_breakers")
    graph.node("Add", ["votes", "tie_breakers"], result)
    graph.node("ArgMax", [result], "winner", axis=1, keepdims=0)
