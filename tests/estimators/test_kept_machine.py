"""Scores of a few rows by what is kept of a model: the same bits, and never those of another."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from hinge import SVC
from hinge.errors import HingeError
from hinge.estimators import _kept_machine, _kernel_model
from hinge.kernels import Laplacian, Normalised, Polynomial
from hinge.rows import Rows

X, Y = load_iris(return_X_y=True)


def fitted(**options: Any) -> SVC:
    return SVC(**{"C": 5.0, **options}).fit(X, Y)


@pytest.mark.parametrize(
    "kernel", ["rbf", "linear", "poly", "sigmoid", Laplacian(0.3), Normalised(Polynomial(2))]
)
@pytest.mark.parametrize("is_sparse", [False, True])
def test_few_rows_have_the_bits_of_many(kernel: Any, is_sparse: bool) -> None:
    make = sp.csr_array if is_sparse else np.asarray
    model = SVC(kernel=kernel, decision_function_shape="ovo").fit(make(X), Y)
    in_full = _kernel_model.machine_of(model).values(Rows(make(X)))
    for other in (np.asarray, sp.csr_array):
        if other is not make and not is_sparse:
            continue  # dense rows are measured from their mean, sparse ones are not
        np.testing.assert_array_equal(model.decision_function(other(X[:1])), in_full[:1])
    np.testing.assert_array_equal(model.decision_function(make(X[3:90])), in_full[3:90])
    np.testing.assert_array_equal(model.decision_function(make(X)), in_full)
    every = [model.predict(make(X[k : k + 1]))[0] for k in range(0, 150, 10)]
    np.testing.assert_array_equal(every, model.predict(make(X))[::10])


def test_attributes_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, calls = fitted(), []
    real = _kernel_model.machine_of
    monkeypatch.setattr(_kernel_model, "machine_of", lambda m: calls.append(m) or real(m))
    for _ in range(3):
        model.predict(X[:1])
        model.decision_function(X)
    assert len(calls) == 1


@pytest.mark.parametrize("is_sparse", [False, True])
def test_what_is_changed_is_seen(is_sparse: bool) -> None:
    make = sp.csr_array if is_sparse else np.asarray
    model = SVC(C=5.0).fit(make(X), Y)
    before = model.decision_function(X[:2])
    values = model.dual_coef_.data if is_sparse else model.dual_coef_
    values[...] *= 2.0
    changed = model.decision_function(X[:2])
    assert not np.array_equal(before, changed)
    model.dual_coef_ = model.dual_coef_ * 0.5
    np.testing.assert_array_equal(model.decision_function(X[:2]), before)
    model.intercept_[0] += 1.0
    assert not np.array_equal(model.decision_function(X[:2]), before)
    model.intercept_[0] = np.nan
    with pytest.raises(HingeError, match="intercept_ holds a number that is not finite"):
        model.decision_function(X[:2])


@pytest.mark.parametrize("small", [0, 1 << 16])
def test_a_number_that_is_changed_is_seen_in_arrays_of_any_size(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_kept_machine, "_SMALL", small)
    model = fitted()
    before = model.decision_function(X[:2])
    np.testing.assert_array_equal(model.decision_function(X[:2]), before)
    model.intercept_[0] += 1.0
    assert not np.array_equal(model.decision_function(X[:2]), before)


def test_models_that_are_no_longer_fitted_are_refused() -> None:
    model = fitted()
    model.predict(X[:1])
    for name in [name for name in vars(model) if name.endswith("_")]:
        delattr(model, name)
    with pytest.raises(NotFittedError):
        model.predict(X[:1])


def test_other_support_vectors_are_seen() -> None:
    model = fitted()
    before = model.decision_function(X[:2])
    model.support_vectors_ = np.array(model.support_vectors_)
    np.testing.assert_array_equal(model.decision_function(X[:2]), before)
    model.support_vectors_[:] += 0.5
    assert not np.array_equal(model.decision_function(X[:2]), before)
    model.support_vectors_ = model.support_vectors_[1:]
    with pytest.raises(HingeError, match="support_vectors_ must have shape"):
        model.decision_function(X[:2])


def test_broken_structure_is_refused() -> None:
    model = SVC(C=5.0).fit(sp.csr_array(X), Y)
    model.decision_function(X[:2])
    indices = np.array(model.support_vectors_.indices)
    model.support_vectors_.indices = indices
    model.decision_function(X[:2])
    indices[0] = 1 << 20
    with pytest.raises(HingeError):
        model.decision_function(X[:2])


def test_lists_are_read_in_every_call() -> None:
    model = fitted()
    before = model.decision_function(X[:2])
    model.intercept_ = list(model.intercept_)
    np.testing.assert_array_equal(model.decision_function(X[:2]), before)
    model.intercept_[0] += 1.0
    assert not np.array_equal(model.decision_function(X[:2]), before)


def test_nothing_is_kept_in_the_model() -> None:
    model = fitted()
    names, size = set(model.__dict__), len(pickle.dumps(model))
    before = model.decision_function(X[:2])
    assert set(model.__dict__) == names
    assert len(pickle.dumps(model)) == size
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.decision_function(X[:2]), before)
    last = weakref.ref(model)
    assert model in _kept_machine._kept
    del model
    gc.collect()
    assert last() is None
