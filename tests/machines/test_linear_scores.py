"""Scores of linear machines: right, the same in any company, and proof that rows are finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import LinearSVC
from hinge.errors import InvalidDataError
from hinge.machines import linear_scores as module
from hinge.machines.linear_scores import linear_scores


def _data(n_rows: int, n_features: int, kind: str, dtype: Any = np.float64) -> Any:
    draw = np.random.default_rng(n_rows * 1000 + n_features)
    dense = draw.normal(size=(n_rows, n_features)) * (draw.random((n_rows, n_features)) < 0.4)
    dense = dense.astype(dtype)
    if kind == "dense":
        return dense
    rows = sp.csr_array(dense)
    if kind == "int64":
        rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return rows


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "int32", "int64"])
@pytest.mark.parametrize("n_machines", [1, 2, 4, 5, 11])
def test_scores_are_sums_of_products(n_machines: int, kind: str, dtype: Any) -> None:
    data = _data(37, 23, kind, dtype)
    draw = np.random.default_rng(1)
    coef, intercept = draw.normal(size=(n_machines, 23)), draw.normal(size=n_machines)
    exact = np.asarray(data.toarray() if sp.issparse(data) else data, dtype=np.longdouble)
    wanted = exact @ coef.T.astype(np.longdouble) + intercept
    scale = np.abs(exact) @ np.abs(coef.T) + np.abs(intercept)
    scores = linear_scores(data, coef, intercept)
    assert scores.shape == (37, n_machines)
    assert np.all(np.abs(scores - wanted) <= 25 * np.finfo(float).eps * scale)


@pytest.mark.parametrize("kind", ["dense", "int32"])
@pytest.mark.parametrize("n_machines", [1, 3])
def test_bits_depend_on_neither_threads_nor_batch(
    n_machines: int, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = _data(201, 19, kind)
    coef = np.random.default_rng(2).normal(size=(n_machines, 19))
    whole = linear_scores(data, coef, 0.5)
    monkeypatch.setattr(module, "_PRODUCTS_A_CALL", 300)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(linear_scores(data, coef, 0.5, threads), whole)
    for first in (0, 3, 150):
        part = linear_scores(data[first : first + 7], coef, 0.5)
        np.testing.assert_array_equal(part, whole[first : first + 7])


def test_rows_without_entries_score_the_intercept() -> None:
    empty = sp.csr_array((3, 4))
    np.testing.assert_array_equal(linear_scores(empty, np.ones((2, 4)), [1.0, 2.0]), [[1, 2]] * 3)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_a_value_that_is_not_finite_is_named_even_where_its_weight_is_zero(
    bad: float, classes: int, is_sparse: bool
) -> None:
    draw = np.random.default_rng(3)
    X = draw.normal(size=(60, 5))
    X[:, 2] = 0.0  # a feature that no class can use
    model = LinearSVC().fit(X, np.arange(60) % classes)
    np.testing.assert_array_equal(model.coef_[:, 2], 0.0)
    X[17, 2] = bad
    queries: Any = sp.csr_array(X) if is_sparse else X
    for method in (model.predict, model.decision_function):
        with pytest.raises(InvalidDataError, match="row 17, column 2"):
            method(queries)


def test_rows_too_long_to_be_squared_are_scored() -> None:
    model = LinearSVC().fit([[-1.0, 0.0], [1.0, 0.0]], [0, 1])
    np.testing.assert_array_equal(model.predict([[1e200, 1.0], [-1e200, 1.0]]), [1, 0])


def test_values_that_overflow_are_refused() -> None:
    model = LinearSVC().fit([[-1e-3, 0.0], [1e-3, 0.0]], [0, 1])
    model.coef_ = np.array([[1e200, 1.0]])
    for rows in ([[1.0, 1.0], [1e150, 1.0]], [[0.0, 1e200], [1e200, 1.0]]):
        with pytest.raises(InvalidDataError, match="decision values of row 1 overflow"):
            model.predict(rows)
