"""Kernel machines of scikit-learn, taken over: the same labels and decision values."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import SVR, NuSVC
from tests.models.machines import LIBSVM_KERNELS, labels, pair_values, rounding, rows

from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.models import from_sklearn, load, save
from hinge.result import Status


def fitted(kind: Any, kernel: str, n_classes: int, form: str, **options: Any) -> tuple[Any, Any]:
    """Return a machine of scikit-learn and its rows."""
    X, y = rows(kernel, form), labels(n_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return kind(kernel=kernel, **options).fit(X, y), X


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", LIBSVM_KERNELS)
@pytest.mark.parametrize("kind", [ScikitSVC, NuSVC])
def test_the_same_machine(
    kind: Any, kernel: str, n_classes: int, form: str, tmp_path: Path
) -> None:
    if kernel == "precomputed" and form == "sparse":
        pytest.skip("scikit-learn takes no sparse kernel matrix")
    options = {"nu": 0.2} if kind is NuSVC else {"C": 3.0}
    theirs, X = fitted(kind, kernel, n_classes, form, **options)
    if kind is NuSVC and kernel == "sigmoid":  # not positive semidefinite, so nu may mean nothing
        with pytest.raises(InvalidParameterError, match=r"no optimum of a machine with C"):
            from_sklearn(theirs)
        return
    ours = from_sklearn(theirs)
    theirs.decision_function_shape = "ovo"
    values = theirs.decision_function(X).reshape(X.shape[0], -1)
    allowed = rounding(ours, X) * (1e8 if form == "float32" else 1.0)
    assert np.abs(pair_values(ours, X) - values).max() <= max(allowed, 1e-9)
    theirs.decision_function_shape, theirs.break_ties = "ovr", n_classes > 2
    if form != "float32":
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.solution_.status is Status.IMPORTED
    assert ours.shape_fit_ == theirs.shape_fit_
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    save(ours, tmp_path / "m")
    found = load(tmp_path / "m")
    np.testing.assert_array_equal(found.decision_function(X), ours.decision_function(X))


def test_parameters_are_taken_over() -> None:
    X, y = rows("rbf", "dense"), labels(4)
    theirs = ScikitSVC(
        C=2.0, gamma="auto", tol=1e-2, class_weight={3: 2.0}, decision_function_shape="ovo"
    ).fit(pd.DataFrame(X, columns=list("abcde")), y)
    ours = from_sklearn(theirs)
    shared = theirs.get_params().keys() & ours.get_params().keys() - {"probability"}
    assert {name: ours.get_params()[name] for name in shared} == {
        name: theirs.get_params()[name] for name in shared
    }
    assert ours.kernel_.gamma == 1.0 / 5.0
    assert ours.feature_names_in_.tolist() == list("abcde")
    assert ours.class_weight_.tolist() == [1.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_taken_over(n_classes: int) -> None:
    theirs, X = fitted(ScikitSVC, "rbf", n_classes, "dense", probability=True)
    ours = from_sklearn(theirs)
    # scikit-learn couples them by an iteration that ends at 0.005 / k, also for two classes.
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=0.02)


def test_what_is_no_such_model_is_refused() -> None:
    X, y = rows("rbf", "dense"), labels(2)

    class Inverted(ScikitSVC):
        def predict(self, X: Any) -> Any:
            return -super().predict(X)

    for model in (SVR().fit(X, y), Inverted().fit(X, y)):
        with pytest.raises(InvalidParameterError, match=r"LinearSVC, SVC or NuSVC whose predict"):
            from_sklearn(model)
    with pytest.raises(NotFittedError):
        from_sklearn(ScikitSVC())
    with pytest.raises(UnsupportedError, match=r"has a function as its kernel, and code goes"):
        from_sklearn(ScikitSVC(kernel=lambda a, b: a @ b.T).fit(X, y))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("_gamma", float("nan"), "with parameters that it cannot have"),
        ("_gamma", None, "with parameters that it cannot have"),
        ("kernel", "cubic", "model.kernel is 'cubic', which hinge does not know"),
        ("C", -1.0, "C must be"),
        ("shape_fit_", (60, 9), "which its features contradict"),
        ("_intercept_", np.array([9.0]), "are not what scikit-learn predicts with"),
    ],
)
def test_attributes_that_contradict_each_other(name: str, value: Any, message: str) -> None:
    theirs, _ = fitted(ScikitSVC, "rbf", 2, "dense")
    setattr(theirs, name, value)
    with pytest.raises(InvalidParameterError, match=message):
        from_sklearn(theirs)
