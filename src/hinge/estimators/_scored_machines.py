"""Fitted machines of any maker as sums of kernel functions, with the rule that makes their labels.

What an object carries is not believed: shapes, types and finiteness are looked at before native
code reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as gp
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import NuSVC, OneClassSVM
from sklearn.utils.validation import check_is_fitted

from hinge.anytime import LargestRule, Rule, SignRule, VoteRule
from hinge.errors import InvalidDataError, InvalidParameterError, UnsupportedError
from hinge.estimators._kernel_machine import pair_coefficients
from hinge.estimators._kernel_model import KernelClassifier, machine_of, rule_of
from hinge.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid, get_kernel
from hinge.machines import Machine
from hinge.parameters import real_number
from hinge.rows import Rows

Floats = NDArray[np.float64]

_PARTS = ("support_vectors", "dual_coef", "intercept", "kernel")


@dataclass(frozen=True)
class ScoredMachine:
    """A machine and how its decision values become labels.

    Parameters
    ----------
    machine : Machine
        What decision values are computed from.
    rule : Rule
        What makes codes of them.
    classes : ndarray
        The labels.
    n_features : int
        Number of features of a query.
    """

    machine: Machine
    rule: Rule
    classes: NDArray[Any]
    n_features: int


def scored_machine(model: Any, threshold: float = 0.0) -> ScoredMachine:
    """Return the parts of a fitted machine.

    Parameters
    ----------
    model : object
        See ``accelerate``.
    threshold : float, default=0.0
        What the mean of a Gaussian process is compared with.
    """
    level = real_number(threshold, "threshold")
    if isinstance(model, (tuple, list)) and len(model) == len(_PARTS):
        return _of_arrays(*model)
    if isinstance(model, Mapping):
        missing = [name for name in _PARTS if name not in model]
        if missing:
            message = f"a machine in a mapping needs {', '.join(_PARTS)}; {missing[0]} is missing."
            raise InvalidParameterError(message)
        return _of_arrays(*(model[name] for name in _PARTS))
    if isinstance(model, KernelClassifier):
        check_is_fitted(model)
        machine, rule = machine_of(model), rule_of(model)
        return ScoredMachine(machine, rule, np.asarray(model.classes_), int(model.n_features_in_))
    if isinstance(model, (ScikitSVC, NuSVC)):
        return _of_scikit(model)
    if isinstance(model, OneClassSVM):
        return _of_one_class(model)
    if isinstance(model, OneVsRestClassifier):
        return _of_one_vs_rest(model)
    if isinstance(model, GaussianProcessRegressor):
        return _of_process(model, level)
    message = (
        "accelerate takes a fitted hinge.SVC, SVCCV, scikit-learn SVC, NuSVC, OneClassSVM, "
        "OneVsRestClassifier of them or GaussianProcessRegressor, or the tuple "
        f"({', '.join(_PARTS)}); got {type(model).__name__}."
    )
    raise UnsupportedError(message)


def _of_pairs(machine: Machine, classes: NDArray[Any], n_features: int) -> ScoredMachine:
    rule: Rule = SignRule() if len(classes) == 2 else VoteRule(len(classes))
    return ScoredMachine(machine, rule, classes, n_features)


def _of_scikit(model: Any) -> ScoredMachine:
    """Return a classifier of scikit-learn by its public attributes."""
    check_is_fitted(model)
    classes = np.asarray(model.classes_)
    counts = np.asarray(model.n_support_, dtype=np.int64)
    if counts.shape != (len(classes),) or np.any(counts < 0):
        message = f"n_support_ must hold a number for each class; got shape {counts.shape}."
        raise InvalidParameterError(message)
    dual = _matrix("dual_coef_", model.dual_coef_, (len(classes) - 1, int(counts.sum())))
    n_pairs = len(classes) * (len(classes) - 1) // 2
    machine = Machine(
        scikit_kernel(model),
        _support(model, int(counts.sum())),
        pair_coefficients(dual, counts),
        _matrix("intercept_", model.intercept_, (n_pairs,)),
    )
    return _of_pairs(machine, classes, int(model.n_features_in_))


def _of_one_class(model: Any) -> ScoredMachine:
    """Return a one-class machine, to which a value of zero is an outlier."""
    check_is_fitted(model)
    count = int(np.shape(model.support_)[0])
    machine = Machine(
        scikit_kernel(model),
        _support(model, count),
        _matrix("dual_coef_", model.dual_coef_, (1, count)).T.copy(),
        _matrix("intercept_", model.intercept_, (1,)),
    )
    return ScoredMachine(machine, SignRule(True), np.array([-1, 1]), int(model.n_features_in_))


def _of_one_vs_rest(model: Any) -> ScoredMachine:
    """Return one function per class over the support vectors of all of them."""
    check_is_fitted(model)
    classes = np.asarray(model.classes_)
    parts = [scored_machine(one) for one in model.estimators_]
    if len(parts) < 3 or any(not isinstance(part.rule, SignRule) for part in parts):
        message = "OneVsRestClassifier is taken with three or more classes of binary machines only."
        raise UnsupportedError(message)
    kernels = [part.machine.kernel for part in parts]
    if any(kernel != kernels[0] for kernel in kernels) or isinstance(kernels[0], Precomputed):
        message = "the machines of OneVsRestClassifier must all have one kernel, not precomputed."
        raise UnsupportedError(message)
    matrices = [part.machine.support.matrix for part in parts]
    sizes = [matrix.shape[0] for matrix in matrices]
    coefficients = np.zeros((sum(sizes), len(parts)))
    begin = 0
    for number, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        coefficients[begin : begin + size, number] = part.machine.coefficients[:, 0]
        begin += size
    is_sparse = any(sp.issparse(matrix) for matrix in matrices)
    stacked = sp.vstack(matrices, format="csr") if is_sparse else np.concatenate(matrices)
    intercept = np.array([part.machine.intercept[0] for part in parts])
    machine = Machine(kernels[0], Rows(stacked), coefficients, intercept)
    return ScoredMachine(machine, LargestRule(), classes, parts[0].n_features)


def _of_process(model: Any, threshold: float) -> ScoredMachine:
    """Return the mean of a Gaussian process, less the threshold."""
    check_is_fitted(model)
    factor, length = _process_kernel(model.kernel_)
    if np.ndim(length) and np.size(length) > 1:
        message = "the RBF kernel of the process must have one length scale for all features."
        raise UnsupportedError(message)
    rows = Rows(model.X_train_)
    alpha = np.asarray(model.alpha_, dtype=np.float64)
    if alpha.shape not in ((rows.n_rows,), (rows.n_rows, 1)):
        message = f"the process must have one output; alpha_ has shape {alpha.shape}."
        raise UnsupportedError(message)
    scale = float(np.ravel(model._y_train_std)[0]) * factor
    offset = float(np.ravel(model._y_train_mean)[0]) - threshold
    coefficients = _matrix("alpha_", scale * alpha.reshape(-1, 1), (rows.n_rows, 1))
    gamma = 0.5 / float(np.ravel(length)[0]) ** 2
    machine = Machine(RBF(gamma), rows, coefficients, np.array([offset]))
    return ScoredMachine(machine, SignRule(), np.array([False, True]), rows.n_features)


def _process_kernel(kernel: Any) -> tuple[float, Any]:
    """Return the constant and the length scale of a kernel that is RBF on new points."""
    if type(kernel) is gp.RBF:  # of which other kernels are derived
        return 1.0, kernel.length_scale
    if isinstance(kernel, gp.Sum) and isinstance(kernel.k2, gp.WhiteKernel):
        return _process_kernel(kernel.k1)  # noise has no part in the mean
    if isinstance(kernel, gp.Product):
        for constant, other in ((kernel.k1, kernel.k2), (kernel.k2, kernel.k1)):
            if isinstance(constant, gp.ConstantKernel):
                factor, length = _process_kernel(other)
                return factor * constant.constant_value, length
    message = (
        f"the process must have an RBF kernel, with a constant and noise at most; got {kernel}."
    )
    raise UnsupportedError(message)


def _of_arrays(vectors: Any, dual_coef: Any, intercept: Any, kernel: Any) -> ScoredMachine:
    """Return a machine that was given as arrays: the sign of one function, the largest of more."""
    rows = vectors if isinstance(vectors, Rows) else Rows(vectors)
    dual = np.atleast_2d(np.asarray(dual_coef))
    coefficients = _matrix("dual_coef", dual, (len(dual), rows.n_rows)).T.copy()
    offsets = _matrix("intercept", np.atleast_1d(np.asarray(intercept)), (len(dual),))
    known = get_kernel(kernel)
    if isinstance(known, Precomputed):
        message = "a machine that is given as arrays has support vectors, not a kernel matrix."
        raise UnsupportedError(message)
    machine = Machine(known.resolved(rows), rows, coefficients, offsets)
    if len(dual) == 1:
        return ScoredMachine(machine, SignRule(), np.array([-1, 1]), rows.n_features)
    return ScoredMachine(machine, LargestRule(), np.arange(len(dual)), rows.n_features)


def scikit_kernel(model: Any) -> Kernel:
    """Return the kernel of a fitted machine of scikit-learn.

    Parameters
    ----------
    model : estimator
        Of ``sklearn.svm``.
    """
    if not isinstance(model.kernel, str):
        return get_kernel(model.kernel)
    gamma = model._gamma
    if model.kernel == "rbf":
        return RBF(gamma)
    if model.kernel == "poly":
        return Polynomial(model.degree, gamma, model.coef0)
    if model.kernel == "sigmoid":
        return Sigmoid(gamma, model.coef0)
    if model.kernel == "linear":
        return Linear()
    return get_kernel(model.kernel)


def _support(model: Any, count: int) -> Any:
    """Return the support vectors of a machine of scikit-learn, or the columns that they are."""
    n_features = int(model.n_features_in_)
    if model.kernel == Precomputed.name:
        columns = np.asarray(model.support_)
        if columns.shape != (count,) or columns.dtype.kind not in "iu":
            message = f"support_ must hold {count} numbers of rows; got shape {columns.shape}."
            raise InvalidParameterError(message)
        if count and not (columns.min() >= 0 and columns.max() < n_features):
            message = f"support_ must hold numbers from 0 to {n_features - 1}."
            raise InvalidParameterError(message)
        return columns.astype(np.int64)
    vectors = model.support_vectors_
    if np.shape(vectors) != (count, n_features):
        message = (
            f"support_vectors_ must have shape {(count, n_features)}; got {np.shape(vectors)}."
        )
        raise InvalidParameterError(message)
    try:
        return Rows(vectors) if count else None
    except InvalidDataError as error:
        message = f"support_vectors_ cannot be used: {error}"
        raise InvalidParameterError(message) from error


def _matrix(name: str, value: Any, shape: tuple[int, ...]) -> Floats:
    """Return finite numbers of that shape as float64."""
    array = np.asarray(value.toarray() if sp.issparse(value) else value)
    if array.shape != shape or array.dtype.kind not in "biuf":
        message = f"{name} must hold numbers in shape {shape}; got {array.dtype} of {array.shape}."
        raise InvalidParameterError(message)
    if not np.isfinite(array).all():
        message = f"{name} holds a number that is not finite."
        raise InvalidParameterError(message)
    return array.astype(np.float64)
