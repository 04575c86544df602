"""ThunderSVM on processors."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.kernel.method import KernelMethod, Machine, Setting
from benchmarks.kernel.methods.class_order import in_sorted_order


class ThunderSvm(KernelMethod):
    """``thundersvm.SVC``, which computes in float32 whatever it is given."""

    name = "ThunderSVM"
    peer = "thundersvm"
    note = (
        "thundersvm-cpu 0.3.3 (the package thundersvm needs CUDA 9); float32 inside; times "
        "include what its Python wrapper converts; sparse rows are given dense, because that "
        "version takes every row of CSR for a class of its own"
    )

    def prepare(self, X: Any, y: Any) -> Any:
        """Give it dense rows."""
        return (X.toarray() if sp.issparse(X) else X), y

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Fit the estimator."""
        library = importlib.import_module("thundersvm")
        model = library.SVC(
            C=setting.C, gamma=setting.gamma, tol=setting.tol, n_jobs=setting.threads
        )
        model.fit(*prepared)
        return model, prepared[1]

    def predict(self, model: Any, X: Any) -> Any:
        """Predict."""
        return model[0].predict(X.toarray() if sp.issparse(X) else X)

    def machine(self, model: Any) -> Machine:
        """Return what was fitted; support vectors come class by class, and rho is subtracted."""
        fitted, y = model
        dual = np.asarray(fitted.dual_coef_, dtype=np.float64)
        own = y[fitted.support_]
        labels = list(dict.fromkeys(own.tolist()))
        owners = [labels.index(label) for label in own.tolist()]
        return in_sorted_order(fitted.support_, dual, -fitted.intercept_, labels, owners)


THUNDERSVM = ThunderSvm()
