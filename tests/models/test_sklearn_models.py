"""Fitted models of scikit-learn are taken over bit by bit, or refused with a reason."""

from __future__ import annotations

import copy
import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.models.kinds import largest_difference

import hinge
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.models import from_sklearn


def data(n_classes: int = 2, names: Any = None) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, :n_classes].argmax(axis=1)
    return X, y if names is None else np.asarray(names)[y]


def fitted(n_classes: int = 2, **parameters: Any) -> ScikitLinearSVC:
    return ScikitLinearSVC(**{"random_state": 0, **parameters}).fit(*data(n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "hinge", "C": 0.25, "tol": 1e-3, "max_iter": 5000},
        {"fit_intercept": False, "dual": False},
        {"intercept_scaling": 3.0, "class_weight": "balanced"},
        {"class_weight": {0: 2.0}, "verbose": 0, "random_state": 7},
    ],
)
def test_weights_and_parameters_are_the_same(n_classes: int, parameters: Any) -> None:
    theirs = fitted(n_classes, **parameters)
    ours = from_sklearn(theirs)
    assert isinstance(ours, hinge.LinearSVC)
    assert ours.coef_.tobytes() == theirs.coef_.tobytes()
    assert np.array_equal(ours.intercept_, theirs.intercept_)
    assert type(ours.intercept_) is type(theirs.intercept_)
    assert np.array_equal(ours.classes_, theirs.classes_)
    assert ours.n_features_in_ == 4
    expected = theirs.get_params()
    assert {name: ours.get_params()[name] for name in expected} == expected
    X = np.random.default_rng(1).normal(size=(200, 4))
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    differences = np.abs(ours.decision_function(X) - theirs.decision_function(X))
    assert np.all(differences <= largest_difference(ours, X))


@pytest.mark.parametrize(
    "names",
    [
        ["no", "yes"],
        [True, False],
        [1.0, -1.0],
        np.asarray(["a", "b"], dtype=object),
        np.asarray(["2024-01-31", "1999-12-31"], dtype="M8[D]"),
    ],
)
def test_labels_of_every_kind(names: Any) -> None:
    X, y = data(names=names)
    theirs = ScikitLinearSVC().fit(X, y)
    ours = from_sklearn(theirs)
    assert ours.classes_.dtype == theirs.classes_.dtype
    assert ours.predict(X).tolist() == theirs.predict(X).tolist()


def test_names_of_features_are_kept_and_checked() -> None:
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = from_sklearn(ScikitLinearSVC().fit(frame, y))
    assert ours.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        ours.predict(frame[["b", "a", "c", "d"]])


def test_sparse_weights_are_read() -> None:
    theirs = fitted(3)
    dense = theirs.coef_.copy()
    assert np.array_equal(from_sklearn(theirs.sparsify()).coef_, dense)


def test_nothing_is_shared_with_the_original() -> None:
    theirs = fitted(3)
    ours = from_sklearn(theirs)
    theirs.coef_[:] = 0.0
    theirs.intercept_[:] = 0.0
    theirs.classes_[:] = 0
    assert ours.coef_.all()
    assert ours.intercept_.all()
    assert ours.classes_.tolist() == [0, 1, 2]


def test_nothing_is_claimed() -> None:
    X, y = data(3)
    ours = from_sklearn(fitted(3))
    assert [solution.status for solution in ours.solutions_] == ["imported"] * 3
    assert {certificate.status for certificate in ours.certificates_} == {"imported"}
    assert ours.certificate_.status == "imported"
    assert ours.certificate_.relative_gap == math.inf
    assert math.isnan(ours.certificate_.primal)
    assert "imported from scikit-learn" in ours.certificate_.notes[0]
    assert len(ours.certificates_) == 3
    assert not ours.settled(X).any()
    assert ours.n_iter_ == 0
    trained = copy.deepcopy(ours).fit(X, y)
    assert trained.solution_.status == "solved"


def test_it_can_be_compared_and_warm_started() -> None:
    X, y = data()
    ours = from_sklearn(fitted())
    result = hinge.compare(ours, hinge.LinearSVC(random_state=0).fit(X, y), X, y)
    assert result.labels_that_differ == 0
    assert ours.set_params(warm_start=True).fit(X, y).solution_.status == "solved"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef_", np.ones((2, 4)), r"coef_ has shape \(2, 4\); 1 decision function\(s\) over 4"),
        ("coef_", np.ones(4), r"coef_ has shape \(4,\)"),
        ("coef_", np.full((1, 4), np.nan), r"coef_\[0, 0\] is nan; every weight must be finite"),
        ("coef_", np.ones((1, 4), dtype=object), r"coef_ has dtype object"),
        ("coef_", np.ones((1, 4), dtype=complex), r"coef_ has dtype complex128"),
        ("coef_", np.ones((1, 4), dtype=np.longdouble), r"it must be float64, or narrower"),
        ("coef_", [[1.0], [1.0, 2.0]], r"coef_ cannot be read as an array"),
        ("coef_", np.ma.masked_array(np.ones((1, 4))), r"coef_ is a masked array"),
        ("intercept_", np.ones(2), r"intercept_ has shape \(2,\); it must be a number or have"),
        ("intercept_", np.ones((1, 1)), r"intercept_ has shape \(1, 1\)"),
        ("intercept_", math.inf, r"intercept_ is inf; every intercept must be finite"),
        ("intercept_", "0", r"intercept_ has dtype <U1"),
        ("classes_", np.asarray([1, 0]), r"ascending order without repetition; 0 follows 1"),
        ("classes_", np.asarray([1, 1]), r"ascending order without repetition; 1 follows 1"),
        ("classes_", np.asarray([0.0, math.nan]), r"a label that is missing or infinite"),
        ("classes_", np.asarray([0, "NaT"], dtype="M8[s]"), r"a label that is missing or"),
        ("classes_", np.asarray([1]), r"it must list at least two labels"),
        ("classes_", np.asarray([[0, 1]]), r"classes_ has shape \(1, 2\)"),
        ("classes_", np.asarray([b"a", b"b"]), r"labels must be numbers, text or dates"),
        ("classes_", np.asarray([0, "x"], dtype=object), r"holds 0 of type int; labels must be"),
        ("n_features_in_", 5, r"1 decision function\(s\) over 5 feature\(s\) have \(1, 5\)"),
        ("n_features_in_", True, r"n_features_in_ must be a whole number of at least 1; got True"),
        ("n_features_in_", None, r"n_features_in_ must be .* got None"),
        ("feature_names_in_", np.asarray(["a"]), r"it must hold 4 text\(s\), one for each feature"),
        ("feature_names_in_", np.arange(4), r"feature_names_in_ has shape \(4,\) and dtype int64"),
        ("C", -1.0, r"C must be greater than 0"),
        ("loss", "hing", r"loss must be one of .* Did you mean 'hinge'"),
        ("fit_intercept", False, r"its parameters were changed after it was fitted"),
    ],
)
def test_hostile_attributes_are_refused(name: str, value: Any, message: str) -> None:
    theirs = fitted()
    setattr(theirs, name, value)
    with pytest.raises(InvalidParameterError, match=message):
        from_sklearn(theirs)


def test_a_broken_sparse_matrix_is_refused() -> None:
    theirs = fitted()
    theirs.coef_ = sp.csr_matrix(theirs.coef_)
    theirs.coef_.indices[0] = 1_000_000
    with pytest.raises(InvalidParameterError, match=r"coef_ cannot be read: .* column index"):
        from_sklearn(theirs)


def test_other_objectives_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"penalty='l1' is not in this version"):
        from_sklearn(fitted(penalty="l1", dual=False))
    with warnings.catch_warnings():
        # scikit-learn 1.8 does not set the count of iterations that it warns by: it is any number.
        warnings.simplefilter("ignore", ConvergenceWarning)
        joint = fitted(3, multi_class="crammer_singer")
    with pytest.raises(UnsupportedError, match=r"multi_class='crammer_singer' is not in this"):
        from_sklearn(joint)


class _Louder(ScikitLinearSVC):
    """A subclass whose scores are no longer those of its weights."""

    def decision_function(self, X: Any) -> Any:
        return 2.0 * super().decision_function(X)


def test_other_models_are_refused() -> None:
    X, y = data()
    with pytest.raises(InvalidParameterError, match=r"takes a fitted .* got RidgeClassifier"):
        from_sklearn(RidgeClassifier().fit(X, y))
    with pytest.raises(InvalidParameterError, match=r"scikit-learn's own; got _Louder"):
        from_sklearn(_Louder().fit(X, y))
    with pytest.raises(InvalidParameterError, match=r"got str"):
        from_sklearn("model.pkl")
    with pytest.raises(NotFittedError):
        from_sklearn(ScikitLinearSVC())
