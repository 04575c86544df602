"""Sparse attributes have the form that scikit-learn gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn import svm
from tests.estimators.data import three_classes, two_classes

import hinge

ATTRIBUTES = ("support_vectors_", "dual_coef_", "coef_")


@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("data", [two_classes, three_classes])
def test_the_form_is_that_of_scikit_learn(form: Any, data: Any, tmp_path: Path) -> None:
    X, y = data()
    rows = form(X)
    theirs = svm.SVC(kernel="linear").fit(rows, y)
    ours = hinge.SVC(kernel="linear").fit(rows, y)
    hinge.save(ours, tmp_path / "model.hinge")
    chosen = hinge.SVCCV([1.0], kernel="linear", cv=3).fit(rows, y)
    for model in (ours, hinge.load(tmp_path / "model.hinge"), chosen):
        for name in ATTRIBUTES:
            assert type(getattr(model, name)) is type(getattr(theirs, name)), name
        np.testing.assert_array_equal(model.predict(rows), theirs.predict(rows))
    product = ours.support_vectors_ * ours.coef_.T  # of matrices, as in scikit-learn
    assert product.shape == (len(ours.support_), len(ours.coef_.toarray()))
    taken_over = hinge.from_sklearn(theirs)
    assert type(taken_over.support_vectors_) is type(theirs.support_vectors_)


@pytest.mark.skipif("sparse_interface" not in sklearn.get_config(), reason="scikit-learn < 1.9")
def test_arrays_where_scikit_learn_is_told_to_give_them() -> None:
    X, y = two_classes()
    with sklearn.config_context(sparse_interface="sparray"):
        model = hinge.SVC(kernel="linear").fit(sp.csr_matrix(X), y)
        assert all(isinstance(getattr(model, name), sp.csr_array) for name in ATTRIBUTES)
