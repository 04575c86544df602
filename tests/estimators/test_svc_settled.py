"""Labels that no further training can change, of kernel machines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import svm
from tests.estimators.data import three_classes, two_classes

import hinge
from hinge import SVC, SVCCV, InvalidParameterError


@pytest.mark.parametrize("multiclass", ["ovo", "ovr"])
@pytest.mark.parametrize("tol", [1.0, 0.3, 1e-2])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_settled_labels_are_those_of_the_optimum(data: Any, tol: float, multiclass: str) -> None:
    X, y = data()
    parameters: dict[str, Any] = {"C": 3.0, "gamma": 0.2, "multiclass": multiclass}
    rough = SVC(tol=tol, **parameters).fit(X, y)
    exact = SVC(tol=1e-9, **parameters).fit(X, y)
    grid = np.random.default_rng(0).normal(size=(500, X.shape[1]))
    settled = rough.settled(grid)
    assert settled.shape == (500,)
    np.testing.assert_array_equal(rough.predict(grid)[settled], exact.predict(grid)[settled])
    if tol <= 1e-2:
        assert np.count_nonzero(settled) > 250
    assert np.count_nonzero(exact.settled(grid)) > 490


def test_two_classes_are_those_of_the_certificate() -> None:
    X, y = two_classes()
    model = SVC(tol=0.1).fit(X, y)
    np.testing.assert_array_equal(model.settled(X), model.certificate_.settled(X))


def test_nothing_is_settled_where_nothing_is_proven() -> None:
    X, y = three_classes()
    matrix = hinge.kernels.RBF(0.2).block(X, X)
    assert not SVC(kernel="precomputed").fit(matrix, y).settled(matrix).any()
    assert not SVC(kernel="sigmoid", coef0=-0.5).fit(X, y).settled(X).any()
    assert not SVC(approximation=20).fit(X, y).settled(X).any()
    assert not hinge.from_sklearn(svm.SVC().fit(X, y)).settled(X).any()


def test_a_chosen_model_has_it_too() -> None:
    X, y = three_classes()
    model = SVCCV(Cs=[0.1, 1.0], cv=3).fit(X, y)
    np.testing.assert_array_equal(model.settled(X), model.best_estimator_.settled(X))


def test_certificates_that_do_not_belong_are_refused() -> None:
    X, y = three_classes()
    model = SVC().fit(X, y)
    model.certificates_ = model.certificates_[:2]
    with pytest.raises(InvalidParameterError, match=r"certificates_ must be a list of 3 cert"):
        model.settled(X)
