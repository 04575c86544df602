"""scikit-learn's ``SVC``, and oneDAL's under the same name in the extension for scikit-learn."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from benchmarks.kernel.method import KernelMethod, Machine, Setting


def machine_of(model: Any, claims: dict[str, Any]) -> Machine:
    """Return the machine of an estimator with scikit-learn's attributes.

    With two classes its decision value is positive for the second, with more for the first of a
    pair, or for the class that is against the rest.
    """
    dual = model.dual_coef_
    dense = np.asarray(dual.toarray() if hasattr(dual, "toarray") else dual, dtype=np.float64)
    intercept = np.ravel(np.asarray(model.intercept_, dtype=np.float64))
    is_of_pairs = len(dense) < len(model.classes_) > 2
    sign = -1.0 if is_of_pairs else 1.0
    return Machine(np.asarray(model.support_), dense, sign * intercept, claims)


class ScikitLearn(KernelMethod):
    """``sklearn.svm.SVC``."""

    name = "scikit-learn SVC"
    peer = "scikit_learn"
    thread_counts = (1,)
    note = "LIBSVM inside, one thread; its objective at its default tol is the accuracy to reach"

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Fit the estimator."""
        svm = importlib.import_module("sklearn.svm")
        model = svm.SVC(
            C=setting.C, gamma=setting.gamma, tol=setting.tol, cache_size=setting.cache_mb
        )
        return model.fit(*prepared)

    def predict(self, model: Any, X: Any) -> Any:
        """Predict."""
        return model.predict(X)

    def machine(self, model: Any) -> Machine:
        """Return what was fitted."""
        return machine_of(model, {"iterations": int(np.sum(model.n_iter_))})


class Intelex(KernelMethod):
    """``sklearnex.svm.SVC`` on arrays of one precision."""

    peer = "intelex"
    tolerances = (1e-3, 5e-4, 2e-4, 1e-4)
    note = "oneDAL; given the same rows in this precision, its thread pool set to the threads"

    def __init__(self, dtype: str) -> None:
        self.dtype = dtype
        self.name = f"intelex SVC {dtype}"

    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Fit the estimator with a pool of as many threads."""
        importlib.import_module("daal4py").daalinit(setting.threads)
        svm = importlib.import_module("sklearnex.svm")
        model = svm.SVC(
            C=setting.C, gamma=setting.gamma, tol=setting.tol, cache_size=setting.cache_mb
        )
        return model.fit(*prepared)

    def predict(self, model: Any, X: Any) -> Any:
        """Predict."""
        return model.predict(X)

    def machine(self, model: Any) -> Machine:
        """Return what was fitted, and whether oneDAL has fitted it."""
        claims = {"by_onedal": hasattr(model, "_onedal_estimator")}
        return machine_of(model, claims)


SCIKIT_LEARN = ScikitLearn()
INTELEX = (Intelex("float32"), Intelex("float64"))
