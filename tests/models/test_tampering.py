"""Attributes of a fitted model set to anything: a typed error or an answer, never a crash."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from tests.models.fitted import data, fit

import hinge

HOSTILE = {
    "none": None,
    "number": 7,
    "nan": float("nan"),
    "text": "coef",
    "list": [1, [2, 3]],
    "empty": np.zeros(0),
    "empty rows": np.zeros((0, 4)),
    "one": np.zeros((1, 1)),
    "wide": np.zeros((3, 1000)),
    "tall": np.zeros((1000, 4)),
    "cube": np.zeros((3, 4, 2)),
    "nan array": np.full((3, 4), np.nan),
    "inf array": np.full((3, 4), np.inf),
    "huge array": np.full((3, 4), 1e308),
    "object array": np.array([[object()] * 4] * 3),
    "text array": np.array([["a"] * 4] * 3),
    "complex array": np.full((3, 4), 1j),
    "bool array": np.ones((3, 4), dtype=bool),
    "big-endian": np.ones((3, 4), dtype=">f8"),
    "strided": np.ones((6, 8))[::2, ::-2],
    "broadcast": np.broadcast_to(np.float64(1.0), (3, 4)),
    "broken sparse": sp.csr_array((np.ones(2), np.array([0, 3]), np.array([0, 1, 2, 2])), (3, 4)),
    "dict": {},
}
ATTRIBUTES = (
    *("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_"),
    *("certificates_", "solutions_", "n_jobs"),
)
# What an estimator in the hands of a tamperer may raise; a crash is none of them.
TYPED = (ValueError, TypeError, AttributeError, IndexError, KeyError, NotImplementedError)


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_any_attribute_may_be_anything(attribute, kind):
    X, y = data()
    model = fit(X, y)
    setattr(model, attribute, HOSTILE[kind])
    for method in (model.predict, model.decision_function, model.settled):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = method(X)
        except TYPED:
            continue
        assert isinstance(answer, np.ndarray)
        assert len(answer) == len(X)


def test_a_sparse_matrix_that_lies_about_its_indices_is_refused():
    X, y = data()
    model = fit(X, y).sparsify()
    model.coef_.indices[0] = 1_000_000
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="1000000"):
            method(X)
    model.coef_ = sp.csr_array(np.ones((3, 4)))
    model.coef_.indptr[1] = 1_000_000
    with pytest.raises(ValueError, match="row pointers of the sparse matrix"):
        model.predict(X)


@pytest.mark.parametrize(
    ("attribute", "value", "sentence"),
    [
        ("coef_", np.ones((3, 5)), r"coef_ must hold numbers in shape \(3, 4\)"),
        ("coef_", np.full((3, 4), 1j), "got complex128 in shape"),
        ("classes_", np.array(["a", "b"]), r"in shape \(1, 4\), for 2 classes_"),
        ("intercept_", np.ones(4), "intercept_ must hold 3 numbers"),
        ("intercept_", "zero", "intercept_ must hold 3 numbers"),
    ],
)
def test_what_does_not_belong_together_is_named(attribute, value, sentence):
    X, y = data()
    model = fit(X, y)
    setattr(model, attribute, value)
    with pytest.raises(hinge.InvalidParameterError, match=sentence):
        model.predict(X)
