"""Kernel values as ONNX graphs: of every row with every support vector.

Kernels of inner products are a matrix product and a function of every value. For the Gaussian
kernel rows and support vectors are first moved to the middle of the support vectors, so that
squared distances lose no more digits than the spread of the rows makes them. Other distances are
added up by a loop over the features, which holds no more than a few matrices with a number for
each row and support vector, however many features there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import UnsupportedError
from hinge.kernels import (
    RBF,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from hinge.kernels.gamma import number
from hinge.models.kernel_machine import KernelMachine
from hinge.models.onnx_parts import GraphParts

Floats = NDArray[np.float64]

_KNOWN = (RBF, ChiSquared, Laplacian, Linear, Polynomial, Sigmoid)
_SMALLEST = float(np.finfo(np.float64).smallest_normal)  # as in hinge's chi-squared kernel


def add_kernel(graph: GraphParts, machine: KernelMachine) -> None:
    """Add what makes ``kernel`` of ``rows``.

    Parameters
    ----------
    graph : GraphParts
        The graph so far.
    machine : KernelMachine
        A checked machine.
    """
    kernel = machine.kernel
    if isinstance(kernel, Precomputed):
        assert machine.rows is not None
        graph.constant("support", machine.rows)
        graph.node("Gather", ["rows", "support"], "kernel", axis=1)
        return
    core = kernel.kernel if isinstance(kernel, Normalised) else kernel
    if not isinstance(core, _KNOWN):
        message = (
            f"a machine with a {core.name} kernel cannot be written as ONNX; linear, poly, rbf, "
            "sigmoid, laplacian, chi2 and precomputed ones can, and normalised ones of these. Save "
            "it in hinge's own format."
        )
        raise UnsupportedError(message)
    dense = machine.vectors.toarray() if sp.issparse(machine.vectors) else machine.vectors
    vectors = np.asarray(dense, dtype=np.float64)
    if isinstance(kernel, Normalised):
        _add_core(graph, core, vectors, "core")
        _add_normalised(graph, kernel, vectors)
    else:
        _add_core(graph, core, vectors, "kernel")


def _add_core(graph: GraphParts, kernel: Kernel, vectors: Floats, result: str) -> None:
    """Add a kernel that is not normalised."""
    if isinstance(kernel, RBF):
        _add_gaussian(graph, vectors, kernel.scale / 2.0, result)
    elif isinstance(kernel, Laplacian | ChiSquared):
        _add_distances(graph, vectors, is_quotient=isinstance(kernel, ChiSquared))
        graph.constant("minus_gamma", -number(kernel.gamma))
        graph.node("Mul", ["distances", "minus_gamma"], "exponents")
        graph.node("Exp", ["exponents"], result)
    elif isinstance(kernel, Linear):
        graph.constant("vectors", np.ascontiguousarray(vectors.T))
        graph.node("MatMul", ["rows", "vectors"], result)
    else:
        assert isinstance(kernel, Polynomial | Sigmoid)
        # gamma is in the vectors: a runtime may join a product with a factor after it into one
        # operator that knows the factor in single precision alone (ONNX Runtime does).
        graph.constant("vectors", np.ascontiguousarray(kernel.scale * vectors.T))
        graph.node("MatMul", ["rows", "vectors"], "scaled")
        _add_function(graph, kernel, "scaled", result)


def _add_function(
    graph: GraphParts, kernel: Polynomial | Sigmoid, scaled: str, result: str
) -> None:
    """Add the function of scaled inner products that a kernel is."""
    graph.constant("coef0", kernel.coef0)
    graph.node("Add", [scaled, "coef0"], f"{scaled}_shifted")
    if isinstance(kernel, Sigmoid):
        graph.node("Tanh", [f"{scaled}_shifted"], result)
    else:
        graph.constant("degree", float(kernel.degree))
        graph.node("Pow", [f"{scaled}_shifted", "degree"], result)


def _add_gaussian(graph: GraphParts, vectors: Floats, gamma: float, result: str) -> None:
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
    graph.node("Exp", ["exponents"], result)


def _add_distances(graph: GraphParts, vectors: Floats, is_quotient: bool) -> None:
    """Add ``sum |a - b|`` or ``sum (a - b)^2 / (a + b)``, one feature after another."""
    graph.constant("columns", np.ascontiguousarray(vectors.T))
    graph.constant("column", np.array([1], dtype=np.int64))
    graph.constant("first", np.array([0], dtype=np.int64))
    graph.constant("n_support", np.array([len(vectors)], dtype=np.int64))
    graph.constant("n_features", np.array(vectors.shape[1], dtype=np.int64))
    graph.constant("goes_on", np.array(True))
    graph.node("Shape", ["rows"], "shape")
    graph.node("Gather", ["shape", "first"], "n_rows", axis=0)
    graph.node("Concat", ["n_rows", "n_support"], "extent", axis=0)
    graph.node("ConstantOfShape", ["extent"], "no_distances", value=graph.number(0.0))
    body = graph.part()
    body.node("Gather", ["rows", "feature"], "of_rows", axis=1)
    body.node("Unsqueeze", ["of_rows", "column"], "of_row")
    body.node("Gather", ["columns", "feature"], "of_vectors", axis=0)
    body.node("Sub", ["of_row", "of_vectors"], "differences")
    if is_quotient:
        graph.constant("smallest", _SMALLEST)
        body.node("Add", ["of_row", "of_vectors"], "feature_sums")
        body.node("Max", ["feature_sums", "smallest"], "divisors")
        body.node("Div", ["differences", "divisors"], "quotients")  # the square may overflow
        body.node("Mul", ["quotients", "differences"], "terms")
    else:
        body.node("Abs", ["differences"], "terms")
    body.node("Add", ["distances_before", "terms"], "distances_after")
    body.node("Identity", ["went_on"], "goes_on_after")
    kinds = graph.types
    carried: Any = [
        ("feature", kinds.INT64, []),
        ("went_on", kinds.BOOL, []),
        ("distances_before", kinds.DOUBLE, [None, len(vectors)]),
    ]
    given: Any = [
        ("goes_on_after", kinds.BOOL, []),
        ("distances_after", kinds.DOUBLE, [None, len(vectors)]),
    ]
    loop = body.as_graph("feature_by_feature", carried, given)
    graph.node("Loop", ["n_features", "goes_on", "no_distances"], "distances", body=loop)


def _add_normalised(graph: GraphParts, kernel: Normalised, vectors: Floats) -> None:
    """Add ``k(a, b) / sqrt(k(a, a) k(b, b))``, 0 where an image has no length."""
    graph.constant("vector_factors", kernel.factors(vectors))
    core = kernel.core
    if isinstance(core, RBF | Laplacian | ChiSquared):  # every image has length 1
        graph.node("Identity", ["core"], "kernel")
        return
    graph.constant("features", np.array([1], dtype=np.int64))
    graph.constant("scale", core.scale if isinstance(core, Polynomial | Sigmoid) else 1.0)
    graph.constant("no_length", 0.0)
    graph.constant("unit", 1.0)
    graph.node("Mul", ["rows", "rows"], "row_products")
    graph.node("Mul", ["row_products", "scale"], "scaled_products")
    graph.node("ReduceSum", ["scaled_products", "features"], "with_itself", keepdims=1)
    square = "with_itself"
    if isinstance(core, Polynomial | Sigmoid):
        _add_function(graph, core, "with_itself", "row_kernel")
        square = "row_kernel"
    graph.node("Sqrt", [square], "lengths")
    graph.node("Equal", ["lengths", "no_length"], "is_nothing")
    graph.node("Where", ["is_nothing", "unit", "lengths"], "divisors")
    graph.node("Div", ["core", "divisors"], "of_unit_rows")
    graph.node("Where", ["is_nothing", "no_length", "of_unit_rows"], "of_rows")
    graph.node("Mul", ["of_rows", "vector_factors"], "kernel")
