"""Rows and labels of every kind that users have, and the same bits whatever they come in."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.utils.fixes import parse_version
from tests.estimators.data import three_classes, two_classes

from hinge import (
    SVC,
    SVCCV,
    InvalidDataError,
    InvalidLabelsError,
    InvalidWeightsError,
    LinearSVC,
    LinearSVCCV,
    Problem,
)
from hinge.estimators._data import rows_to_score

NAMES = ["a", "b", "c", "d", "e"]


def as_arrow(X: Any) -> Any:
    return pa.table({name: X[:, k] for k, name in enumerate(NAMES)})


FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": as_arrow,
}


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_data_frames(kind: str, dtype: Any) -> None:
    X, y = two_classes()
    X = X.astype(dtype)
    expected = LinearSVC().fit(X, y)
    frame = FRAMES[kind](X)
    model = LinearSVC().fit(frame, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.decision_function(frame), expected.decision_function(X))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_feature_names(kind: str) -> None:
    X, y = two_classes()
    frame = FRAMES[kind](X)
    if kind == "polars" and parse_version(sklearn.__version__) < parse_version("1.9"):
        pytest.skip("scikit-learn reads the names of polars 2 from 1.9 on")
    model = LinearSVC().fit(frame, y)
    assert model.feature_names_in_.tolist() == NAMES
    other = frame[NAMES[::-1]]
    with pytest.raises(ValueError, match="Feature names must be in the same order"):
        model.predict(other)


@pytest.mark.parametrize("estimator", [LinearSVC, SVC])
def test_arrays_meet_the_features_of_the_fit(estimator: Any) -> None:
    X, y = two_classes()
    model = estimator().fit(FRAMES["pandas"](X), y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == X.shape[1]
    with pytest.raises(ValueError, match="X has 1 features"):
        model.predict(X[:, :1].copy())
    del model.n_features_in_
    model.n_features_in_ = np.int64(X.shape[1])
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize(
    "labels",
    [
        lambda y: y.tolist(),
        lambda y: y.astype(bool),
        lambda y: y.astype(float),
        lambda y: y.astype(np.int8),
        lambda y: np.where(y == 1, "yes", "no"),
        lambda y: np.where(y == 1, "yes", "no").astype(object),
        pd.Series,
        lambda y: pd.Categorical(np.where(y == 1, "yes", "no")),
        pl.Series,
        lambda y: pa.chunked_array([y[:20], y[20:]]),
        pa.array,
        lambda y: y * 1000 - 7,
    ],
)
def test_labels(labels: Any) -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, labels(y))
    np.testing.assert_array_equal(model.coef_, LinearSVC().fit(X, y).coef_)
    assert set(model.predict(X)) <= set(model.classes_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_and_read_only(tmp_path: Path, dtype: Any) -> None:
    X, y = two_classes()
    X = X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frozen = X.copy()
    frozen.flags.writeable = False
    expected = LinearSVC().fit(X, y)
    for data in (mapped, frozen):
        model = LinearSVC().fit(data, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(model.predict(data), expected.predict(X))


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.coo_array])
@pytest.mark.parametrize("index_type", [np.int32, np.int64])
def test_sparse(make: Any, index_type: Any) -> None:
    X, y = two_classes()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    expected = LinearSVC().fit(sp.csr_array(X), y)
    data = make(X)
    if data.format == "csr":
        data.indices = data.indices.astype(index_type)
        data.indptr = data.indptr.astype(index_type)
    model = LinearSVC().fit(data, y)
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_allclose(
        model.decision_function(data), model.decision_function(X), atol=1e-13
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_not_copied(dtype: Any) -> None:
    X, y = two_classes()
    X = X.astype(dtype)
    seen = []

    def note(event: Any) -> None:
        seen.append(np.shares_memory(event.problem.rows.values, X))

    LinearSVC(callback=note).fit(X, y)
    assert seen
    assert all(seen)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ">f8", np.int64, bool])
@pytest.mark.parametrize("shape", [(1, 1), (5000, 3), (4096, 64), (300, 200)])
def test_other_orders_and_types_have_the_bits_of_a_plain_copy(dtype: Any, shape: Any) -> None:
    values = np.random.default_rng(0).normal(size=shape) * 3
    X = np.asfortranarray(values.astype(dtype))
    held = rows_to_score(LinearSVC(), X).values
    assert held.flags.c_contiguous
    np.testing.assert_array_equal(held, X)
    assert held.dtype == (np.float32 if X.dtype.itemsize < 8 else np.float64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (np.nan, r"contains NaN in row 3, column 1"),
        (np.inf, r"contains infinity \(inf\) in row 3, column 1"),
        (1e200, r"squared norm of row 3 of X is infinity"),
    ],
)
def test_values_that_cannot_be_used(change: float, message: str) -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    X[3, 1] = change
    with pytest.raises(InvalidDataError, match=message):
        LinearSVC().fit(X, y)
    if np.isfinite(change):
        assert np.isfinite(model.decision_function(X)).all()  # which needs no norm
    else:
        with pytest.raises(InvalidDataError, match=message):
            model.predict(X)


def _with_a_word(X: Any) -> Any:
    values = X.astype(object)
    values[3, 1] = "blue"
    return values


@pytest.mark.parametrize(
    "table",
    [
        _with_a_word,
        lambda X: _with_a_word(X).tolist(),
        lambda X: _with_a_word(X).astype(str),
        lambda X: pd.DataFrame(_with_a_word(X), columns=NAMES),
        lambda X: pd.DataFrame(X, columns=NAMES).assign(b=["blue"] * len(X)),
    ],
)
@pytest.mark.parametrize("estimator", [LinearSVC(), SVC()])
def test_words_are_refused_with_their_place(table: Any, estimator: Any) -> None:
    X, y = two_classes()
    words = table(X)
    named = FRAMES["pandas"] if isinstance(words, pd.DataFrame) else np.asarray
    message = r"X holds 'blue' in row [03], column 1: not a usable number"
    with pytest.raises(InvalidDataError, match=message):
        estimator.fit(words, y)
    with pytest.raises(InvalidDataError, match=message):
        clone(estimator).fit(named(X), y).predict(words)


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC()])
def test_numbers_as_text_are_refused(estimator: Any) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidDataError, match=r"X has dtype <U.*; hinge takes numbers"):
        estimator.fit(X.astype(str), y)


@pytest.mark.parametrize("take", [lambda X: X, sp.csr_array, lambda X: X.tolist()])
def test_complex_numbers_are_refused_without_showing_them_all(take: Any) -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    for call in (lambda X: LinearSVC().fit(X, y), lambda X: SVC().fit(X, y), model.predict):
        with pytest.raises(InvalidDataError) as caught:
            call(take(X.astype(complex)))
        assert str(caught.value) == (
            f"Complex data not supported: X has dtype complex128 and shape {X.shape}. Split it in "
            "real columns."
        )


def test_lazy_frames_are_refused() -> None:
    X, y = two_classes()
    model = LinearSVC().fit(X, y)
    message = r"X is a LazyFrame of polars, whose rows are not in memory; collect\(\) it first\."
    calls = (lambda X: LinearSVC().fit(X, y), lambda X: Problem(X, y), model.predict)
    for call in calls:
        with pytest.raises(InvalidDataError, match=message):
            call(pl.LazyFrame(X))


def test_masked_arrays_are_refused() -> None:
    X, y = two_classes()
    masked = np.ma.masked_array(X, mask=X > 1)
    with pytest.raises(InvalidDataError, match="X is a masked array"):
        LinearSVC().fit(masked, y)
    with pytest.raises(InvalidDataError, match="X is a masked array"):
        LinearSVC().fit(X, y).predict(masked)


def test_one_class() -> None:
    X, _ = two_classes()
    with pytest.raises(InvalidLabelsError, match=r"y contains only one class: 0\.0\."):
        LinearSVC().fit(X, np.zeros(len(X)))


@pytest.mark.filterwarnings("ignore:LinearSVC stopped at max_iter=0")
def test_labels_of_a_regression() -> None:
    X, _ = two_classes()
    numbers = np.arange(len(X))
    numbers[-1] = 0  # before 1.8 scikit-learn says nothing of rows that are all different
    expected: Any = pytest.warns(UserWarning, match="could represent a regression")
    if parse_version(sklearn.__version__) < parse_version("1.7"):
        expected = contextlib.nullcontext()  # it says nothing of any
    with expected:
        LinearSVC(max_iter=0, tol=0.0).fit(X, numbers)
    message = r"Unknown label type: continuous\. y holds 0\.5 in row 3, which is no class; use"
    for model in (LinearSVC(), SVC(), LinearSVCCV(), SVCCV()):
        with pytest.raises(InvalidLabelsError, match=message):
            model.fit(X, np.r_[0.0, 1.0, 2.0, np.linspace(0.5, 0.6, len(X) - 3)])


@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # of 1e300, by scikit-learn
@pytest.mark.parametrize("odd", [0.5, 1e300, np.inf, np.nan])
def test_floats_that_are_no_labels_are_refused(odd: float) -> None:
    X, y = two_classes()
    labels = (y == y[0]).astype(float)
    model = LinearSVC().fit(X, labels)
    assert model.classes_.dtype == np.float64
    labels[3] = odd
    with pytest.raises(ValueError, match=r"Unknown label type: continuous|NaN|infinity"):
        LinearSVC().fit(X, labels)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_and_labels_of_other_lengths_are_refused(sparse: bool) -> None:
    X, y = two_classes()
    data = sp.csr_array(X) if sparse else X
    codes = (y == y[0]).astype(np.int64)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LinearSVC().fit(data, codes[1:])
    model = LinearSVC().fit(data, codes)
    with pytest.raises(ValueError, match=r"X has 4 features, but LinearSVC is expecting 5"):
        model.predict(data[:, :4])


def test_labels_of_several_types() -> None:
    X, _ = two_classes()
    with pytest.raises(InvalidLabelsError, match="text and other labels together"):
        LinearSVC().fit(X, [0, "one"] * 30)
    with pytest.raises(InvalidLabelsError, match="cannot be put in order"):
        LinearSVC().fit(X, np.array([0, "one"] * 30, dtype=object))


@pytest.mark.parametrize("values", [["no", "yes"], [False, True], [3, 7]])
@pytest.mark.parametrize(
    "column",
    [
        pa.array,
        lambda values: pa.chunked_array([values[:20], values[20:]]),
        lambda values: pa.array(values).dictionary_encode(),
        pl.Series,
    ],
)
def test_label_columns(column: Any, values: list[Any]) -> None:
    X, y = two_classes()
    labels = [values[int(label)] for label in y == y.max()]
    model = LinearSVC().fit(X, column(labels))
    assert model.classes_.tolist() == values
    np.testing.assert_array_equal(model.coef_, LinearSVC().fit(X, labels).coef_)


@pytest.mark.parametrize("column", [pa.array, pl.Series])
def test_label_columns_with_a_hole(column: Any) -> None:
    X, _ = two_classes()
    with pytest.raises(
        InvalidLabelsError, match="y holds None in row 1; labels must not be missing"
    ):
        LinearSVC().fit(X, column(["no", None, *["yes"] * 58]))


def test_masked_labels_and_weights_are_refused() -> None:
    X, y = two_classes()
    with pytest.raises(InvalidLabelsError, match="y is a masked array"):
        LinearSVC().fit(X, np.ma.masked_array(y, mask=y == 1))
    with pytest.raises(InvalidWeightsError, match="sample_weight is a masked array"):
        LinearSVC().fit(X, y, np.ma.masked_array(np.ones(60), mask=y == 1))


@pytest.mark.parametrize("missing", [np.nan, None])
def test_missing_labels_are_refused(missing: Any) -> None:
    X, y = two_classes()
    labels = y.astype(object)
    labels[3] = missing
    with pytest.raises((ValueError, TypeError), match=r"(?i)nan|label|unknown"):
        LinearSVC().fit(X, labels)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(60, -1.0), r"sample_weight holds -1.0 in row 0; weights must be finite"),
        (np.full(60, np.nan), r"sample_weight holds nan in row 0"),
        (np.ones(59), r"sample_weight.shape == \(59,\), expected \(60,\)!"),
        (np.ones((60, 1)), r"sample_weight must be 1D array or scalar, got 2D array"),
        (np.zeros(60), r"all of them are zero"),
        (["heavy"] * 60, r"sample_weight cannot be read as numbers"),
        (np.arange(60) % 2, r"^class 0 has no row of positive weight"),
    ],
)
def test_weights_that_cannot_be_used(weights: Any, message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidWeightsError, match=message):
        LinearSVC().fit(X, y, weights)


def test_classes_count_rows_without_weight_where_another_has_some() -> None:
    X, y = three_classes()
    weights = np.ones(len(y))
    weights[y == 2] = 0.0
    weights[-1] = 1.0
    assert LinearSVC().fit(X, y, weights).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_a_weight_of_zero_is_an_absent_row(loss: str) -> None:
    X, y = two_classes()
    weights = np.ones(60)
    weights[::7] = 0.0
    kept = weights > 0
    with_zeros = LinearSVC(loss=loss, max_iter=100_000).fit(X, y, weights)
    without = LinearSVC(loss=loss, max_iter=100_000).fit(X[kept], y[kept], weights[kept])
    np.testing.assert_array_equal(with_zeros.coef_, without.coef_)
    np.testing.assert_array_equal(with_zeros.intercept_, without.intercept_)


def test_a_number_weighs_every_row() -> None:
    X, y = two_classes()
    model = LinearSVC(C=1.0, tol=0, max_iter=100_000).fit(X, y, sample_weight=2.0)
    other = LinearSVC(C=2.0, tol=0, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=0, atol=1e-9)
