"""Kernel machines as ONNX graphs: kernel values, decision values, and votes of pairs.

ONNX has an operator for these too (``ai.onnx.ml.SVMClassifier``), in single precision as well. Here
a kernel is a matrix product with the support vectors and a function of every value. For the
Gaussian kernel rows and support vectors are first moved to the middle of the support vectors, so
that squared distances lose no more digits than the spread of the rows makes them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import UnsupportedError
from hinge.estimators._kernel_machine import coefficients_of
from hinge.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from hinge.models.kernel_machine import KernelMachine, pairs
from hinge.models.onnx_parts import GraphParts

Floats = NDArray[np.float64]

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
    _add_kernel(graph, machine)
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


def _add_kernel(graph: GraphParts, machine: KernelMachine) -> None:
    """Add what makes the kernel of every row with every support vector."""
    kernel = machine.kernel
    if isinstance(kernel, Precomputed):
        assert machine.rows is not None
        graph.constant("support", machine.rows)
        graph.node("Gather", ["rows", "support"], "kernel", axis=1)
        return
    if not isinstance(kernel, Linear | Polynomial | RBF | Sigmoid):
        message = (
            f"a machine with a {kernel.name} kernel cannot be written as ONNX; linear, poly, rbf, "
            "sigmoid and precomputed ones can. Save it in hinge's own format."
        )
        raise UnsupportedError(message)
    dense = machine.vectors.toarray() if sp.issparse(machine.vectors) else machine.vectors
    vectors = np.asarray(dense, dtype=np.float64)
    if isinstance(kernel, RBF):
        _add_gaussian(graph, vectors, kernel.scale / 2.0)
        return
    if isinstance(kernel, Linear):
        graph.constant("vectors", np.ascontiguousarray(vectors.T))
        graph.node("MatMul", ["rows", "vectors"], "kernel")
        return
    # gamma is in the vectors: a runtime may join a product with a factor after it into one
    # operator that knows the factor in single precision alone (ONNX Runtime does).
    graph.constant("vectors", np.ascontiguousarray(kernel.scale * vectors.T))
    graph.constant("coef0", kernel.coef0)
    graph.node("MatMul", ["rows", "vectors"], "scaled")
    graph.node("Add", ["scaled", "coef0"], "shifted")
    if isinstance(kernel, Sigmoid):
        graph.node("Tanh", ["shifted"], "kernel")
    else:
        graph.constant("degree", float(kernel.degree))
        graph.node("Pow", ["shifted", "degree"], "kernel")


def _add_gaussian(graph: GraphParts, vectors: Floats, gamma: float) -> None:
    """Add ``exp(-gamma ||a - b||^2)``, about the middle of the support vectors."""
    centre = vectors.mean(axis=0)
    moved = vectors - centre
    graph.constant("centre", centre)
    graph.constant("vectors", np.ascontiguousarray(-2.0 * moved.T))
    graph.constant("vector_squares", np.einsum("ij,ij->i", moved, moved))
    graph.constant("minus_gamma", -gamma)
    graph.constant("nothing", 0.0)
    graph.constant("features", np.array([1], dtype=np.int64))
    graph.node("Sub", ["rows", "centre"], "moved")
    graph.node("Mul", ["moved", "moved"], "squares")
    graph.node("ReduceSum", ["squares", "features"], "row_squares", keepdims=1)
    graph.node("MatMul", ["moved", "vectors"], "products")
    graph.node("Add", ["products", "vector_squares"], "partial")
    graph.node("Add", ["partial", "row_squares"], "distances")
    graph.node("Max", ["distances", "nothing"], "not_negative")
    graph.node("Mul", ["not_negative", "minus_gamma"], "exponents")
    graph.node("Exp", ["exponents"], "kernel")


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
