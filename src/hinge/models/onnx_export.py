"""Models as ONNX graphs, in double precision and of plain operators.

ONNX has an operator for linear classifiers (``ai.onnx.ml.LinearClassifier``). It is not used: it
holds weights and scores in single precision, which moves rows that lie near the boundary to the
other side, and runtimes do not agree on the sign of the score for two classes. A matrix product,
a sum, a comparison and a look-up say the same in operators whose meaning is fixed.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hinge.durable import atomic_write
from hinge.errors import InvalidParameterError, MissingDependencyError, UnsupportedError
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models._chosen_model import chosen_model
from hinge.models.fitted_machine import fitted_machine
from hinge.models.linear_weights import LinearWeights, fitted_weights
from hinge.models.onnx_machine import add_machine
from hinge.models.onnx_machine import size_of as machine_size
from hinge.models.onnx_parts import GraphParts

# Old enough for runtimes of several years ago, and the operators have not changed since.
_OPSET = 13
_IR_VERSION = 7
_MOST_BYTES = 2**31 - 2**20  # a protobuf message ends at 2 GiB


def write_onnx(
    model: LinearSVC | SVC, path: str | os.PathLike[str], *, dtype: DTypeLike = np.float64
) -> None:
    """Write a fitted model as an ONNX graph that gives labels and decision values.

    The graph has the input ``X`` of shape ``(rows, n_features)`` and the outputs ``label``, of the
    type of the classes, and ``decision``, as ``decision_function`` returns it.

    Parameters
    ----------
    model : LinearSVC, LinearSVCCV, SVC or SVCCV
        A fitted model of hinge; the kernel of an ``SVC`` must be one of hinge's own, normalised or
        not, and no function.
    path : str or path-like
        The file; one that exists is replaced at once and whole.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        Type of the input. Everything is computed in double precision in both cases.

    Raises
    ------
    MissingDependencyError
        Without the package onnx: ``pip install 'hinge[onnx]'``.
    InvalidParameterError
        If the model's attributes contradict each other, or a label has no type in ONNX.
    UnsupportedError
        If the weights do not fit in one ONNX file, or the kernel is another.
    OSError
        If the file cannot be written; what was there is still there.

    Notes
    -----
    The graph holds the same bits of the weights. A runtime adds the n products of a row and the
    intercept in an order of its own, so its decision values differ from those of hinge by at most

    ``2 (n + 2) u (sum |w_i x_i| + |b|)`` with ``u = 2 ** -53``

    (for n = 1000 about 2e-13 of that sum), overflow and underflow aside. Labels are equal unless
    a decision value of two classes, or the difference of the two largest of more, lies within
    that bound (twice that bound) of zero; of values that are equal in the runtime, the first class
    wins as in hinge. Only the sign of a value of two classes counts: positive is the second class.

    That is for linear models. Of an ``SVC`` the sum has a term for each of the m support vectors,
    and the kernel is computed by the runtime as well: besides ``2 (m + 2) u sum |c_i k_i|`` a
    decision value differs by ``sum |c_i| e``, where e is the error of a kernel value: that of its
    exponent or inner product, ``2 (n + 8) u`` times the sizes of the products in it (for RBF:
    gamma times the squared distances of row and support vector from the middle of the support
    vectors), times the slope of the function. A value of zero is the second class there. Sums of
    the Laplacian and the chi-squared kernel have positive terms alone: ``2 (n + 8) u`` times the
    exponent. A row that a normalised kernel refuses has decision values that are not numbers.

    A kernel takes memory for a few numbers of each row and support vector, whatever the number of
    features.

    Probabilities of an ``SVC(probability=True)`` are not in the graph. LIBSVM's format has them
    (:func:`write_libsvm`), and hinge's own.

    Feature names, if there are any, are in the file's metadata under ``feature_names``. ONNX has
    no place for a certificate; the file format of hinge has (``hinge.save``).
    """
    onnx = _package()
    model = chosen_model(model)
    if not isinstance(model, LinearSVC | SVC):
        message = (
            f"model must be a fitted hinge.LinearSVC or hinge.SVC; got {type(model).__name__}."
        )
        raise InvalidParameterError(message)
    graph, feature_names = _graph(onnx, model, _input_type(dtype))
    made = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="hinge",
        producer_version=importlib.metadata.version("hinge"),
    )
    if feature_names is not None:
        names = json.dumps(feature_names.tolist())
        onnx.helper.set_model_props(made, {"feature_names": names})
    onnx.checker.check_model(made, full_check=True)
    with atomic_write(path) as file:
        file.write(made.SerializeToString())


def _package() -> Any:
    try:
        import onnx  # noqa: PLC0415 - an optional package
        import onnx.checker  # noqa: PLC0415
        import onnx.helper  # noqa: PLC0415
        import onnx.numpy_helper  # noqa: PLC0415
    except ImportError as error:
        message = "Writing ONNX needs the package onnx; install it with: pip install 'hinge[onnx]'"
        raise MissingDependencyError(message) from error
    return onnx


def _input_type(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        message = f"dtype must be numpy.float64 or numpy.float32; got {dtype!r}."
        raise InvalidParameterError(message)
    return kind


def _graph(onnx: Any, model: LinearSVC | SVC, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """Return the graph, and the names of the features: scores, their winner, and its label."""
    parts = GraphParts(onnx)
    types, helper = parts.types, onnx.helper
    if dtype == np.float32:
        parts.node("Cast", ["X"], "rows", to=types.DOUBLE)
    else:
        parts.node("Identity", ["X"], "rows")
    if isinstance(model, SVC):
        per_class = model.decision_function_shape == "ovr"
        fitted: Any = fitted_machine(model)
        per_class = per_class or fitted.is_against_rest
        _require_size(machine_size(fitted))
        add_machine(parts, fitted, per_class)
        n_values = len(fitted.classes) if per_class else len(fitted.intercept)
    else:
        linear_objective(model)
        fitted = fitted_weights(model)
        _require_size(fitted.coef.nbytes)
        _add_linear(parts, fitted)
        n_values = len(fitted.classes)
    parts.constant("classes", _labels(fitted.classes))
    parts.node("Gather", ["classes", "winner"], "label", axis=0)
    shape = ["rows"] if len(fitted.classes) == 2 else ["rows", n_values]
    input_type = types.FLOAT if dtype == np.float32 else types.DOUBLE
    label_type = parts.constants["classes"].data_type
    graph = helper.make_graph(
        parts.nodes,
        f"hinge.{type(model).__name__}",
        [helper.make_tensor_value_info("X", input_type, ["rows", fitted.n_features])],
        [
            helper.make_tensor_value_info("label", label_type, ["rows"]),
            helper.make_tensor_value_info("decision", types.DOUBLE, shape),
        ],
        list(parts.constants.values()),
    )
    return graph, fitted.feature_names


def _require_size(size: int) -> None:
    if size > _MOST_BYTES:
        message = (
            f"The model has {size} bytes of weights; a file of ONNX holds {_MOST_BYTES}. Save it "
            "in hinge's own format."
        )
        raise UnsupportedError(message)


def _add_linear(parts: GraphParts, weights: LinearWeights) -> None:
    """Add what makes ``decision`` and ``winner`` of ``rows``."""
    is_binary = len(weights.classes) == 2
    # A vector for two classes, so that the decision is one too.
    parts.constant("coef", weights.coef[0] if is_binary else np.ascontiguousarray(weights.coef.T))
    parts.constant("intercept", weights.intercept[0] if is_binary else weights.intercept)
    parts.node("MatMul", ["rows", "coef"], "products")
    parts.node("Add", ["products", "intercept"], "decision")
    if is_binary:
        parts.constant("zero", 0.0)
        parts.node("Greater", ["decision", "zero"], "is_second")
        parts.node("Cast", ["is_second"], "winner", to=parts.types.INT64)
    else:
        parts.node("ArgMax", ["decision"], "winner", axis=1, keepdims=0)


def _labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the labels in a type that ONNX has."""
    kind = classes.dtype.kind
    if kind in "UO":
        try:
            for label in classes:
                str(label).encode("utf-8")
        except UnicodeEncodeError as error:
            message = f"ONNX holds text as UTF-8, which the label {str(error.object)!r} is not."
            raise InvalidParameterError(message) from error
        return classes.astype(object)
    if kind == "b":
        return classes
    if kind in "mM":
        message = f"ONNX has no type for labels of dtype {classes.dtype}; use text or numbers."
        raise InvalidParameterError(message)
    target = np.dtype(np.float64 if kind == "f" else np.int64)
    converted = classes.astype(target)
    if not np.array_equal(converted.astype(classes.dtype), classes) or np.any(
        converted[1:] <= converted[:-1]
    ):
        message = f"ONNX runtimes hold labels as {target}, in which those of the model do not fit."
        raise InvalidParameterError(message)
    return converted
