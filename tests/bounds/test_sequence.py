"""Errors of many machines: those that predict makes, with most rows looked at once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.data import two_clouds

from hinge import LinearSVC, Problem, path
from hinge.bounds import LabelSequence, count_errors
from hinge.errors import InvalidDataError, InvalidLabelsError, UnsupportedError
from hinge.result import Point


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_path_of_machines(container: type) -> None:
    X, y = two_clouds(2000, 6, noise=2.0)
    rows = container(X)
    solutions = path(Problem(rows, y), np.logspace(-3, 0, 15))
    found = count_errors(solutions, rows, np.where(y == 1, 1, -1))
    for solution, errors in zip(solutions, found, strict=True):
        wrong = (X @ solution.coef + solution.intercept > 0.0) != (y == 1)
        assert errors.wrong == np.count_nonzero(wrong)
    assert sum(errors.examined for errors in found) < 0.7 * 15 * 2000


def test_estimators_with_words_for_labels() -> None:
    X, labels = two_clouds(300, 4)
    y = np.where(labels == 1, "yes", "no")
    models = [LinearSVC(C=C).fit(X, y) for C in (0.01, 0.02, 1.0)]
    found = count_errors(models, X, y)
    assert [e.wrong for e in found] == [np.count_nonzero(m.predict(X) != y) for m in models]


def test_ties_follow_predict() -> None:
    (found,) = count_errors([Point([1.0], 0.0)], [[0.0], [0.0]], [1, -1])
    assert found.wrong == 1


def test_what_is_refused() -> None:
    three = SimpleNamespace(coef_=np.eye(3), intercept_=np.zeros(3), classes_=np.arange(3))
    with pytest.raises(UnsupportedError, match="got one of 3 classes"):
        count_errors([three], np.eye(3), [0, 1, 2])
    other = SimpleNamespace(coef_=np.ones((1, 1)), intercept_=[0.0], classes_=np.array([0, 1]))
    with pytest.raises(InvalidLabelsError, match=r"got \[0, 1\] after \[-1, 1\]"):
        count_errors([Point([1.0]), other], [[1.0]], [1])
    with pytest.raises(InvalidLabelsError, match=r"classes, \[-1, 1\]; got label 2"):
        count_errors([Point([1.0])], [[1.0]], [2])
    with pytest.raises(InvalidLabelsError, match=r"got shape \(1, 1\)"):
        count_errors([Point([1.0])], [[1.0]], [[1]])


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_are_those_of_predict(container: type, dtype: type) -> None:
    X, labels = two_clouds(3000, 5, noise=2.0)
    rows, y = container(X.astype(dtype)), np.where(labels == 1, "yes", "no")
    sequence = LabelSequence(rows)
    examined = 0
    for C in np.geomspace(1e-3, 1.0, 12):
        model = LinearSVC(C=C).fit(rows, y)
        assert sequence.predict(model).tolist() == model.predict(rows).tolist()
        examined += sequence.examined
    assert examined < 0.7 * 12 * 3000


def test_a_score_of_zero_is_of_the_first_class() -> None:
    sequence = LabelSequence([[0.0], [1.0], [-1.0]])
    for _ in range(3):
        assert sequence.predict(Point([1.0], 0.0)).tolist() == [-1, 1, -1]
    assert sequence.predict(Point([1.0], -1.0)).tolist() == [-1, -1, -1]
    assert sequence.predict(Point([-1.0], 0.0)).tolist() == [-1, -1, 1]


def test_decision_values_that_overflow() -> None:
    sequence = LabelSequence([[1.0], [1e150]])
    with pytest.raises(InvalidDataError, match="value of row 1 overflows"):
        sequence.predict(Point([1e200], 0.0))
    with pytest.raises(UnsupportedError, match="LabelSequence takes machines of two classes"):
        sequence.predict(
            SimpleNamespace(coef_=np.eye(3), intercept_=np.zeros(3), classes_=np.arange(3))
        )
