"""Votes of pairs: what predict says, what decision values say, and where scikit-learn differs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import svm
from tests.estimators.data import three_classes

from hinge import SVC
from hinge.multiclass.votes import class_values, winners


def counted(values: Any, k: int) -> Any:
    """Return the votes of every class, counted one by one."""
    votes = np.zeros((len(values), k), dtype=int)
    for row, of_row in enumerate(values):
        for value, (i, j) in zip(of_row, itertools.combinations(range(k), 2), strict=True):
            votes[row, i if value > 0 else j] += 1
    return votes


VALUES = st.floats(-1e308, 1e308) | st.sampled_from([0.0, -0.0, 1e-300, 1.0, -1.0])


@given(st.integers(3, 6).flatmap(lambda k: arrays(float, (4, k * (k - 1) // 2), elements=VALUES)))
def test_no_vote_is_ever_overruled(values: Any) -> None:
    k = round((1 + (1 + 8 * values.shape[1]) ** 0.5) / 2)
    votes = counted(values, k)
    found = class_values(values, k)
    assert np.isfinite(found).all()
    assert np.all(np.abs(found - votes) <= 0.34)
    chosen = winners(values, k)
    np.testing.assert_array_equal(chosen, found.argmax(axis=1))
    np.testing.assert_array_equal(votes[np.arange(len(votes)), chosen], votes.max(axis=1))


def test_ties_go_to_the_larger_sum() -> None:
    # 0 beats 1, 1 beats 2, 2 beats 0: a vote each, and class 2 by the greatest distance.
    values = np.array([[1.0, -9.0, 1.0]])
    assert winners(values, 3).tolist() == [2]
    assert winners(-values, 3).tolist() == [0]


def test_zero_goes_to_the_second_class_as_in_libsvm() -> None:
    X = np.array([[-1.0], [1.0]])
    ours, theirs = (m.fit(X, [0, 1]) for m in (SVC(kernel="linear"), svm.SVC(kernel="linear")))
    assert ours.decision_function([[0.0]]) == theirs.decision_function([[0.0]]) == 0.0
    assert ours.predict([[0.0]]) == theirs.predict([[0.0]]) == [1]


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_shapes(shape: str) -> None:
    X, y = three_classes()
    ours = SVC(decision_function_shape=shape, tol=1e-5).fit(X, y)
    theirs = svm.SVC(decision_function_shape=shape, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    if shape == "ovr":
        assert np.array_equal(ours.decision_function(X).argmax(axis=1), ours.predict(X))


@pytest.mark.data
def test_usps_differs_from_scikit_learn_in_ties_alone(hinge_data: Any) -> None:
    with np.load(hinge_data / "usps.npz") as archive:
        X, y, new = archive["X_train"], archive["y_train"], archive["X_test"]
    ours, theirs = (model(C=10.0, gamma=0.01).fit(X, y) for model in (SVC, svm.SVC))
    said, told = ours.predict(new), theirs.predict(new)
    np.testing.assert_array_equal(ours.decision_function(new).argmax(axis=1), said)
    theirs.decision_function_shape = "ovo"
    votes = np.sort(counted(theirs.decision_function(new), 10), axis=1)
    tied = votes[:, -1] == votes[:, -2]
    differs = said != told
    assert not np.any(differs & ~tied)
    assert np.count_nonzero(differs) == 7
    theirs.set_params(decision_function_shape="ovr", break_ties=True)
    np.testing.assert_array_equal(said, theirs.predict(new))
