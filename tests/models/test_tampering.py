"""Attributes of a fitted model set to anything: a typed error or the right answer."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from tests.models.fitted import data, fit

import hinge


def broken_sparse():
    matrix = sp.csr_array(np.ones((3, 4)))
    matrix.indices[5] = 9
    return matrix


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
    "sparse": sp.csr_array((np.ones(2), np.array([0, 3]), np.array([0, 1, 2, 2])), (3, 4)),
    "broken sparse": broken_sparse(),
    "nan sparse": sp.csr_array(np.full((3, 4), np.nan)),
    "dict": {},
}
ATTRIBUTES = (
    *("coef_", "intercept_", "classes_", "n_features_in_", "feature_names_in_"),
    *("certificates_", "solutions_", "n_jobs"),
)
WEIGHTS = ("coef_", "intercept_")
TYPED = (hinge.HingeError, NotFittedError)


def plain_copy(value):
    """Return the numbers of a value in the form that a fit would leave them in."""
    dense = value.toarray() if sp.issparse(value) else value
    return np.array(dense, dtype=np.float64, order="C")


@pytest.mark.parametrize("attribute", ATTRIBUTES)
@pytest.mark.parametrize("kind", HOSTILE)
def test_any_attribute_may_be_anything(attribute, kind):
    X, y = data()
    model, clean = fit(X, y), fit(X, y)
    setattr(model, attribute, HOSTILE[kind])
    for method in ("predict", "decision_function", "settled"):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answer = getattr(model, method)(X)
        except TYPED:
            continue
        if attribute in WEIGHTS:
            setattr(clean, attribute, plain_copy(HOSTILE[kind]))
        assert np.array_equal(answer, getattr(clean, method)(X))


@pytest.mark.parametrize("kind", ["big-endian", "strided", "broadcast", "bool array", "sparse"])
def test_weights_in_another_form_are_used(kind):
    X, y = data()
    model = fit(X, y)
    model.coef_ = HOSTILE[kind]
    expected = X @ plain_copy(HOSTILE[kind]).T + model.intercept_
    assert model.decision_function(X) == pytest.approx(expected)


@pytest.mark.parametrize("attribute", WEIGHTS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["predict", "decision_function", "settled"])
def test_weights_that_are_not_finite_are_refused(attribute, value, method):
    X, y = data()
    model = fit(X, y)
    getattr(model, attribute).flat[-1] = value
    with pytest.raises(hinge.InvalidParameterError, match=f"{attribute} holds a number that is no"):
        getattr(model, method)(X)


@pytest.mark.parametrize("method", ["predict", "decision_function", "settled"])
def test_decision_values_that_overflow_are_refused(method):
    X, y = data()
    model = fit(X, y)
    model.coef_ = np.full((3, 4), 1e308)
    with (
        np.errstate(over="ignore", invalid="ignore"),
        pytest.raises(hinge.InvalidDataError, match=r"the decision values of row \d+ overflow"),
    ):
        getattr(model, method)(X)


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
        ("intercept_", [1, [2, 3]], "intercept_ cannot be read as an array"),
        ("classes_", None, r"classes_ must be a list; got shape \(\)"),
        ("n_features_in_", 4.0, r"n_features_in_ must be a whole number; got 4\.0"),
    ],
)
def test_what_does_not_belong_together_is_named(attribute, value, sentence):
    X, y = data()
    model = fit(X, y)
    setattr(model, attribute, value)
    with pytest.raises(hinge.InvalidParameterError, match=sentence):
        model.predict(X)


@pytest.mark.parametrize("value", [None, [], [1, 2, 3]])
def test_certificates_that_are_none_are_refused(value):
    X, y = data()
    model = fit(X, y)
    model.certificates_ = value
    with pytest.raises(hinge.InvalidParameterError, match="must be a list of 3 certificates"):
        model.settled(X)
