"""ONNX graphs give the labels of the model, and its decision values within the stated error."""

from __future__ import annotations

import builtins
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError
from tests.models.kinds import KINDS, Kind, largest_difference

from hinge import LinearSVC
from hinge.errors import InvalidParameterError, MissingDependencyError, UnsupportedError
from hinge.models import onnx_export, write_onnx


def run(path: Path, X: Any) -> tuple[Any, Any]:
    """Return what the graph says of the rows: labels and decision values."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    labels, values = session.run(["label", "decision"], {"X": X})
    return labels, values


def near_ties(model: LinearSVC, rows: Any) -> Any:
    """Return rows moved on to the boundary between the two best classes, and around it."""
    coef = np.atleast_2d(model.coef_)
    values = model.decision_function(rows)
    if values.ndim == 1:
        normals, gaps = np.broadcast_to(coef[0], rows.shape), values
    else:
        second, first = np.argsort(values, axis=1)[:, -2:].T
        normals = coef[first] - coef[second]
        gaps = np.take_along_axis(values, np.stack([first, second], 1), 1) @ [1.0, -1.0]
    at_zero = rows - (gaps / (normals**2).sum(axis=1))[:, None] * normals
    return np.concatenate([at_zero, np.nextafter(at_zero, np.inf), np.nextafter(at_zero, -np.inf)])


def undecided(values: Any, bounds: Any) -> Any:
    """Return which rows the stated error leaves open."""
    if values.ndim == 1:
        return np.abs(values) <= bounds
    ordered = np.sort(values, axis=1)
    return ordered[:, -1] - ordered[:, -2] <= 2.0 * bounds.max(axis=1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_round_trip(kind: Kind, dtype: Any, tmp_path: Path) -> None:
    model, rows = kind.fitted()
    write_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    X = np.asarray(rows, dtype=dtype)
    labels, values = run(tmp_path / "model.onnx", X)
    model = _without_names(model)
    expected = model.decision_function(X)
    assert values.dtype == np.float64
    assert values.shape == expected.shape
    assert np.all(np.abs(values - expected) <= largest_difference(model, X))
    assert labels.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_near_ties_are_decided_alike_beyond_the_stated_error(
    n_classes: int, tmp_path: Path
) -> None:
    model, rows = Kind("int", n_classes, "augmented").fitted()
    X = near_ties(model, np.asarray(rows))
    write_onnx(model, tmp_path / "model.onnx")
    labels, values = run(tmp_path / "model.onnx", X)
    expected = model.decision_function(X)
    bounds = largest_difference(model, X)
    assert np.all(np.abs(values - expected) <= bounds)
    open_rows = undecided(expected, bounds)
    assert open_rows.any()  # the rows are as near as intended
    assert np.array_equal(labels[~open_rows], model.predict(X)[~open_rows])
    # Where the runtime's own values are tied or on a side, its label is hinge's rule for them.
    winners = (values > 0).astype(int) if n_classes == 2 else values.argmax(axis=1)
    assert np.array_equal(labels, model.classes_[winners])


def test_the_stated_error_holds_for_the_exact_value(tmp_path: Path) -> None:
    model, rows = Kind("int", 2, "augmented").fitted()
    X = near_ties(model, np.asarray(rows))
    write_onnx(model, tmp_path / "model.onnx")
    _, values = run(tmp_path / "model.onnx", X)
    weights = [Fraction(float(weight)) for weight in model.coef_[0]]
    bounds = largest_difference(model, X)
    for row, value, bound in zip(X, values, bounds, strict=True):
        products = (w * Fraction(float(x)) for w, x in zip(weights, row, strict=True))
        exact = sum(products, Fraction(float(model.intercept_[0])))
        assert abs(Fraction(float(value)) - exact) <= Fraction(float(bound)) / 2


def test_exact_ties_go_to_the_first_class(tmp_path: Path) -> None:
    X = np.zeros((1, 5))
    for n_classes in (2, 3):
        model, _ = Kind("str", n_classes, "none").fitted()
        write_onnx(model, tmp_path / "model.onnx")
        labels, values = run(tmp_path / "model.onnx", X)
        assert not values.any()
        assert labels.tolist() == model.predict(X).tolist() == [model.classes_[0]]


def test_the_file_names_its_maker_and_the_features(tmp_path: Path) -> None:
    model, rows = Kind("str", 3, "free", has_names=True).fitted()
    write_onnx(model, tmp_path / "model.onnx")
    made = onnx.load(tmp_path / "model.onnx")
    assert made.producer_name == "hinge"
    (property_,) = made.metadata_props
    assert (property_.key, json.loads(property_.value)) == ("feature_names", list(rows.columns))


def test_another_number_of_features_is_refused_by_the_runtime(tmp_path: Path) -> None:
    model, _ = Kind("int", 2, "augmented").fitted()
    write_onnx(model, tmp_path / "model.onnx")
    with pytest.raises(Exception, match="invalid dimensions"):
        run(tmp_path / "model.onnx", np.zeros((1, 6)))


@pytest.mark.parametrize("dtype", [np.int64, "float16", "nonsense", None.__class__])
def test_other_input_types_are_refused(dtype: Any, tmp_path: Path) -> None:
    model, _ = Kind("int", 2, "augmented").fitted()
    with pytest.raises(InvalidParameterError, match=r"dtype must be numpy.float64 or"):
        write_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    assert list(tmp_path.iterdir()) == []


def test_labels_without_a_type_in_onnx_are_refused(tmp_path: Path) -> None:
    model, _ = Kind("str", 2, "augmented").fitted()
    model.classes_ = np.asarray(["a", "\udc80"])
    with pytest.raises(InvalidParameterError, match=r"ONNX holds text as UTF-8, which the label"):
        write_onnx(model, tmp_path / "model.onnx")
    model.classes_ = np.asarray([1, 2], dtype="M8[ns]")
    with pytest.raises(InvalidParameterError, match=r"no type for labels of dtype datetime64"):
        write_onnx(model, tmp_path / "model.onnx")
    model.classes_ = np.asarray([1, 2**64 - 1], dtype=np.uint64)
    with pytest.raises(InvalidParameterError, match=r"hold labels as int64, in which those of"):
        write_onnx(model, tmp_path / "model.onnx")


def test_what_is_no_fitted_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"a fitted hinge.LinearSVC or hinge.SVC; got str"
    ):
        write_onnx("model", tmp_path / "model.onnx")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        write_onnx(LinearSVC(), tmp_path / "model.onnx")
    model, _ = Kind("int", 2, "augmented").fitted()
    model.coef_[0, 1] = np.nan
    with pytest.raises(InvalidParameterError, match=r"coef_\[0, 1\] is nan"):
        write_onnx(model, tmp_path / "model.onnx")


def test_too_large_a_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = Kind("int", 2, "augmented").fitted()
    monkeypatch.setattr(onnx_export, "_MOST_BYTES", 10)
    with pytest.raises(UnsupportedError, match=r"bytes of weights; a file of ONNX holds 10"):
        write_onnx(model, tmp_path / "model.onnx")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = Kind("int", 2, "augmented").fitted()
    imported = builtins.__import__

    def without_onnx(name: str, *arguments: Any, **options: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "onnx":
            raise ImportError(name)
        return imported(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_onnx)
    with pytest.raises(MissingDependencyError, match=r"pip install 'hinge\[onnx\]'"):
        write_onnx(model, tmp_path / "model.onnx")


def _without_names(model: LinearSVC) -> LinearSVC:
    """Return the model as one that takes plain arrays."""
    if hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return model
