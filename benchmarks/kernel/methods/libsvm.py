"""LIBSVM through its own Python package."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.kernel.method import KernelMethod, Machine, Setting
from benchmarks.kernel.methods.class_order import in_sorted_order


class LibSvm(KernelMethod):
    """``svm-train -s 0 -t 2``; of the fit only the call of ``svm_train`` is timed."""

    name = "LIBSVM"
    peer = "libsvm"
    thread_counts = (1,)
    note = "conversion to its nodes is not timed in the fit; predict is its Python svm_predict"

    def prepare(self, X: Any, y: Any) -> Any:
        """Convert to LIBSVM's nodes."""
        library = importlib.import_module("libsvm.svm")
        return library.svm_problem(y.astype(np.float64), sp.csr_matrix(X, dtype=np.float64))

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Call ``svm_train``."""
        library = importlib.import_module("libsvm.svm")
        options = f"-s 0 -t 2 -q -m {setting.cache_mb} -c {setting.C!r} -g {setting.gamma!r}"
        parameter = library.svm_parameter(f"{options} -e {setting.tol!r}")
        # The nodes of the support vectors are those of the problem, which must outlive the model.
        return library.toPyModel(library.libsvm.svm_train(prepared, parameter)), prepared

    def predict(self, model: Any, X: Any) -> Any:
        """Predict."""
        tools = importlib.import_module("libsvm.svmutil")
        rows = sp.csr_matrix(X, dtype=np.float64)
        return np.asarray(tools.svm_predict([], rows, model[0], "-q")[0])

    def machine(self, model: Any) -> Machine:
        """Return what was fitted, in the order of sorted labels.

        LIBSVM numbers classes as they come in the data, and rho is subtracted.
        """
        fitted = model[0]
        support = np.asarray(fitted.get_sv_indices()) - 1
        dual = np.asarray([pair[: fitted.nr_class - 1] for pair in fitted.get_sv_coef()]).T
        labels = fitted.get_labels()
        rho = [float(fitted.rho[k]) for k in range(len(labels) * (len(labels) - 1) // 2)]
        counts = [int(fitted.nSV[k]) for k in range(len(labels))]
        owners = np.repeat(np.arange(len(labels)), counts)
        return in_sorted_order(support, dual, -np.asarray(rho), labels, owners)


LIBSVM = LibSvm()
