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
from hinge.models._chosen_model import chosen_model
from hinge.models.linear_weights import LinearWeights, fitted_weights

# Old enough for runtimes of several years ago, and the operators have not changed since.
_OPSET = 13
_IR_VERSION = 7
_MOST_BYTES = 2**31 - 2**20  # a protobuf message ends at 2 GiB


def write_onnx(
    model: LinearSVC, path: str | os.PathLike[str], *, dtype: DTypeLike = np.float64
) -> None:
    """Write a fitted model as an ONNX graph that gives labels and decision values.

    The graph has the input ``X`` of shape ``(rows, n_features)`` and the outputs ``label``, of the
    type of the classes, and ``decision``, as ``decision_function`` returns it.

    Parameters
    ----------
    model : LinearSVC or LinearSVCCV
        A fitted model of hinge.
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
        If the weights do not fit in one ONNX file.
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

    Feature names, if there are any, are in the file's metadata under ``feature_names``. ONNX has
    no place for a certificate; the file format of hinge has (``hinge.save``).
    """
    onnx = _package()
    model = chosen_model(model)
    if not isinstance(model, LinearSVC):
        message = f"model must be a fitted hinge.LinearSVC; got {type(model).__name__}."
        raise InvalidParameterError(message)
    linear_objective(model)
    weights = fitted_weights(model)
    graph = _graph(onnx, weights, _input_type(dtype))
    made = onnx.helper.make_model(
        graph,
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="hinge",
        producer_version=importlib.metadata.version("hinge"),
    )
    if weights.feature_names is not None:
        names = json.dumps(weights.feature_names.tolist())
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


def _graph(onnx: Any, weights: LinearWeights, dtype: np.dtype[Any]) -> Any:
    """Return the graph: scores, their winner, and its label."""
    helper, types = onnx.helper, onnx.TensorProto
    classes = _labels(weights.classes)
    size = weights.coef.nbytes + classes.nbytes
    if size > _MOST_BYTES:
        message = (
            f"The model has {size} bytes of weights; a file of ONNX holds {_MOST_BYTES}. Save it "
            "in hinge's own format."
        )
        raise UnsupportedError(message)
    is_binary = len(classes) == 2
    # A vector for two classes, so that the decision is one too.
    coef = weights.coef[0] if is_binary else np.ascontiguousarray(weights.coef.T)
    intercept = weights.intercept[0] if is_binary else weights.intercept
    arrays = {"coef": coef, "intercept": np.asarray(intercept), "classes": classes}
    nodes = [helper.make_node("MatMul", ["rows", "coef"], ["products"])]
    if dtype == np.float32:
        nodes.insert(0, helper.make_node("Cast", ["X"], ["rows"], to=types.DOUBLE))
    else:
        nodes.insert(0, helper.make_node("Identity", ["X"], ["rows"]))
    nodes.append(helper.make_node("Add", ["products", "intercept"], ["decision"]))
    if is_binary:
        arrays["zero"] = np.asarray(0.0)
        nodes.append(helper.make_node("Greater", ["decision", "zero"], ["is_second"]))
        nodes.append(helper.make_node("Cast", ["is_second"], ["winner"], to=types.INT64))
    else:
        nodes.append(helper.make_node("ArgMax", ["decision"], ["winner"], axis=1, keepdims=0))
    nodes.append(helper.make_node("Gather", ["classes", "winner"], ["label"], axis=0))
    tensors = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    label_type = next(tensor.data_type for tensor in tensors if tensor.name == "classes")
    shape = ["rows"] if is_binary else ["rows", len(classes)]
    input_type = types.FLOAT if dtype == np.float32 else types.DOUBLE
    return helper.make_graph(
        nodes,
        "hinge.LinearSVC",
        [helper.make_tensor_value_info("X", input_type, ["rows", weights.n_features])],
        [
            helper.make_tensor_value_info("label", label_type, ["rows"]),
            helper.make_tensor_value_info("decision", types.DOUBLE, shape),
        ],
        tensors,
    )


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
