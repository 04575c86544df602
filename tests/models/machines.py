"""Fitted kernel machines of every sort that a file must hold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from hinge.estimators.svc import SVC
from hinge.kernels import Laplacian, Normalised, Polynomial, Precomputed

KERNELS: dict[str, dict[str, Any]] = {
    "linear": {"kernel": "linear"},
    "rbf": {"kernel": "rbf"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.25},
    "laplacian": {"kernel": "laplacian", "gamma": "auto"},
    "chi2": {"kernel": "chi2", "gamma": 0.5},
    "precomputed": {"kernel": "precomputed"},
    "object": {"kernel": Laplacian(0.25)},
    "normalised": {"kernel": Normalised(Polynomial(2, 0.5, 1.0))},
    "psd": {"kernel": Precomputed(psd=True)},
}
LIBSVM_KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed")


@dataclass(frozen=True)
class Machine:
    """A fitted machine and what it was fitted on."""

    model: SVC
    X: Any
    y: Any


@cache
def rows(kernel: str, form: str, n_rows: int = 60) -> Any:
    """Return rows for a kernel: dense, sparse or of float32."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, 5)) * (rng.random((n_rows, 5)) < 0.8)
    if kernel == "chi2":
        X = np.abs(X)
    if kernel in ("precomputed", "psd"):
        X = X @ X.T
    if form == "sparse":
        return sp.csr_array(X)
    return X.astype(np.float32) if form == "float32" else X


def labels(n_classes: int, n_rows: int = 60) -> Any:
    """Return labels of so many classes, none of them easy to tell apart from all others."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, 5))
    return np.array([3, -1, 8, 20])[X[:, :n_classes].argmax(axis=1)]


def machine(
    kernel: str = "rbf", n_classes: int = 2, form: str = "dense", **options: Any
) -> Machine:
    """Return a fitted machine, converged or not."""
    X, y = rows(kernel, form), labels(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return Machine(SVC(**{**KERNELS[kernel], **options}).fit(X, y), X, y)


def pair_values(model: SVC, X: Any) -> Any:
    """Return the decision values of pairs, whatever the model shows."""
    shape, model.decision_function_shape = model.decision_function_shape, "ovo"
    values = model.decision_function(X)
    model.decision_function_shape = shape
    return values.reshape(X.shape[0], -1)


def rounding(model: SVC, X: Any) -> float:
    """Return a generous bound on what another order of sums does to decision values."""
    dual = model.dual_coef_.toarray() if sp.issparse(model.dual_coef_) else model.dual_coef_
    largest = max(1.0, float(np.abs(pair_values(model, X)).max()))
    return 1e-11 * (float(np.abs(dual).sum()) * largest + 1.0)
