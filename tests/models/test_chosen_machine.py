"""Kernel machines with their cross-validation: saved, loaded, verified, exported, forged."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.model_file.parts import join, split
from tests.models.machines import labels, rows

import hinge
from hinge.estimators.svc import SVC
from hinge.estimators.svc_cv import SVCCV
from hinge.models import inspect, load, read_libsvm, save, verify, write_libsvm, write_onnx
from hinge.models.chosen_kernel_file import _check_choice


def chosen(n_classes: int = 3, **options: Any) -> tuple[SVCCV, Any, Any]:
    """Return a fitted estimator and what it was fitted on."""
    X, y = rows("rbf", "dense"), labels(n_classes)
    return SVCCV(**{"Cs": [0.1, 1.0], "cv": 2, **options}).fit(X, y), X, y


@pytest.mark.parametrize("proof", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gammas": [0.01, 0.3], "scoring": "f1_macro"},
        {"Cs": 3, "kernel": "poly", "gamma": 0.5, "class_weight": "balanced"},
    ],
)
def test_round_trip(options: dict[str, Any], proof: bool, tmp_path: Path) -> None:
    model, X, _ = chosen(**options)
    save(model, tmp_path / "m", proof)
    found = load(tmp_path / "m")
    assert isinstance(found, SVCCV)
    assert inspect(tmp_path / "m").kind == "chosen-kernel-classifier"
    np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
    assert (found.C_, found.gamma_) == (model.C_, model.gamma_)
    for name in ("Cs_", "gammas_", "scores_", "gaps_", "violations_", "seconds_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(model, name))
    assert found.get_params() == model.get_params()
    save(found, tmp_path / "again", proof)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_it_is_taken_wherever_a_machine_is(tmp_path: Path) -> None:
    model, X, y = chosen()
    assert verify(model, X, y).truthful
    write_libsvm(model, tmp_path / "m.model")
    found = read_libsvm(tmp_path / "m.model")
    np.testing.assert_array_equal(found.predict(X), model.predict(X))
    write_onnx(model, tmp_path / "m.onnx")


def test_what_cannot_be_saved_is_told(tmp_path: Path) -> None:
    model, X, y = chosen(gammas=[0.1], refit=False)
    with pytest.raises(hinge.InvalidParameterError, match=r"this SVCCV was fitted with refit=Fa"):
        save(model, tmp_path / "m")
    with pytest.raises(hinge.InvalidParameterError, match=r"Fit SVC\(C=.*, gamma=0.1\) to all"):
        verify(model, X, y)
    model, _, _ = chosen(scoring=lambda *_: 0.5)
    with pytest.raises(hinge.UnsupportedError, match="scoring is a function, which no file can"):
        save(model, tmp_path / "m")
    model, _, _ = chosen()
    model.Cs = [0.2, 1.0]
    with pytest.raises(hinge.InvalidParameterError, match="Cs was changed after the fit"):
        save(model, tmp_path / "m")
    model, _, _ = chosen()
    model.intercept_ = model.intercept_ + 1.0
    with pytest.raises(hinge.InvalidParameterError, match="intercept_ was changed after the fit"):
        save(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


FORGED = [
    ("selection.scores", lambda v: v * 0.0, "not of the values that the scores choose"),
    ("selection.scores", lambda v: v * np.nan, "not of the values that the scores choose"),
    ("selection.Cs", lambda v: -v, "a value of C is not a number greater than 0"),
    ("selection.Cs", lambda v: v * 2.0, "not of the values that the scores choose"),
    ("selection.gammas", lambda v: -v, "a value of gamma is not a number of at least 0"),
    ("selection.gammas", lambda v: v * 2.0, "not of the values that the scores choose"),
    ("selection.gaps", lambda v: v - 9e9, "a gap, a violation or a time that cannot be"),
    ("selection.violations", lambda v: v * np.nan, "a gap, a violation or a time that cannot be"),
    ("selection.seconds", lambda v: v + np.inf, "a gap, a violation or a time that cannot be"),
]


def _forgeable(folder: Path) -> Any:
    """Return the parts of a file whose best values are not those that come first."""
    model, _, _ = chosen(gammas=[0.3, 0.01], Cs=[3.0, 0.001])
    assert model.C_ == 3.0
    model.gaps_ = np.ones_like(model.gaps_)
    save(model, folder / "sound")
    return split((folder / "sound").read_bytes())


@pytest.mark.parametrize(("name", "change", "message"), FORGED)
def test_forged_tables(name: str, change: Any, message: str, tmp_path: Path) -> None:
    parts = _forgeable(tmp_path)
    start, stop = parts.header[name]["data_offsets"]
    values = change(np.frombuffer(parts.data[start:stop]))
    parts.data = parts.data[:start] + values.tobytes() + parts.data[stop:]
    (tmp_path / "forged").write_bytes(join(parts, repair=True))
    with pytest.raises(hinge.ModelFileError, match=message):
        load(tmp_path / "forged")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("has_gammas", False, "its tensors are not those of a chosen-kernel-classifier"),
        ("has_gammas", 1, "its tensors are not those of a chosen-kernel-classifier"),
        ("gamma", None, "selection.gamma must be a number of at least 0 or the name of a rule"),
        ("gamma", "nan", "selection.gamma must be a number of at least 0 or the name of a rule"),
        ("gamma", -1.0, "selection.gamma must be a number of at least 0 or the name of a rule"),
        ("cv", 1, "selection.cv must be a whole number"),
        ("Cs", 2, "the 2 values of C are not those that Cs=2 stands for"),
        ("scoring", "os.system", "selection.scoring must be null or the name of a score"),
        ("refit", 0, "selection.refit must be true or false"),
        ("more", 0, "selection has fields that this format does not know: 'more'"),
    ],
)
def test_forged_fields(name: str, value: Any, message: str, tmp_path: Path) -> None:
    parts = _forgeable(tmp_path)
    parts.description["selection"][name] = value
    (tmp_path / "forged").write_bytes(join(parts, repair=True))
    with pytest.raises(hinge.ModelFileError, match=message):
        load(tmp_path / "forged")


def test_of_equal_scores_the_least_values_are_the_model(tmp_path: Path) -> None:
    model, _, _ = chosen(gammas=[0.3, 0.01], Cs=[3.0, 0.001])
    model.scores_ = np.ones_like(model.scores_)
    with pytest.raises(hinge.UnsupportedError, match="not of the values that the scores choose"):
        save(model, tmp_path / "m")
    model, X, _ = chosen(gammas=[0.3, 0.01], Cs=[3.0, 0.001], scoring=lambda *_: 0.5)
    assert (model.C_, model.gamma_) == (0.001, 0.01)
    model.scoring = None
    save(model, tmp_path / "m")
    np.testing.assert_array_equal(load(tmp_path / "m").predict(X), model.predict(X))


def test_a_table_of_many_values_is_read_within_bounded_memory() -> None:
    count = 200_000
    scores = np.zeros((1, 1, count))
    scores[0, 0, 7] = 1.0
    Cs = np.arange(1.0, count + 1)
    machine = SVC(C=8.0, gamma=0.5)
    tracemalloc.start()
    try:
        _check_choice(machine, "scale", Cs, np.array([0.5]), scores)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 40 * count  # the file has 40 bytes for each value
