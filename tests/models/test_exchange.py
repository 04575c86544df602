"""Models of other programs in hinge's own files, and every kind of model on every way out."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from sklearn.svm import LinearSVC as ScikitLinearSVC
from tests.models.kinds import KINDS, Kind, largest_difference

from hinge import LinearSVC
from hinge.models import (
    from_sklearn,
    inspect,
    load,
    read_liblinear,
    save,
    verify,
    write_liblinear,
    write_onnx,
)


def data(n_classes: int) -> tuple[Any, Any]:
    X = np.random.default_rng(0).normal(size=(80, 4))
    return X, X[:, :n_classes].argmax(axis=1)


def imported(origin: str, n_classes: int, folder: Path) -> LinearSVC:
    """Return a model of scikit-learn, or the same out of a LIBLINEAR file."""
    model = from_sklearn(ScikitLinearSVC(loss="hinge", max_iter=100_000).fit(*data(n_classes)))
    if origin == "scikit-learn":
        return model
    write_liblinear(model, folder / "model.txt")
    return read_liblinear(folder / "model.txt")


ORIGINS = pytest.mark.parametrize("origin", ["scikit-learn", "LIBLINEAR"])
CLASSES = pytest.mark.parametrize("n_classes", [2, 3])


@ORIGINS
@CLASSES
@pytest.mark.parametrize("proof", [True, False])
def test_imported_models_are_saved_and_loaded(
    origin: str, n_classes: int, proof: bool, tmp_path: Path
) -> None:
    model = imported(origin, n_classes, tmp_path)
    save(model, tmp_path / "model.hinge", proof=proof)
    loaded = load(tmp_path / "model.hinge")
    X, _ = data(n_classes)
    assert loaded.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert loaded.classes_.dtype == model.classes_.dtype
    assert [solution.status for solution in loaded.solutions_] == ["imported"] * len(model.coef_)
    assert loaded.certificate_.relative_gap == np.inf
    assert loaded.certificate_.notes == model.certificate_.notes
    assert inspect(tmp_path / "model.hinge").n_features == 4


@ORIGINS
@CLASSES
def test_imported_models_are_verified(origin: str, n_classes: int, tmp_path: Path) -> None:
    X, y = data(n_classes)
    result = verify(imported(origin, n_classes, tmp_path), X, y)
    assert result.truthful  # it claims nothing
    assert str(result.optimality) == "unproven"
    optimum = LinearSVC(loss="hinge", tol=1e-9).fit(X, y)
    for problem, solution in zip(result.problems, optimum.solutions_, strict=True):
        assert problem.recomputed.primal >= solution.certificate.dual
        assert problem.recomputed.primal <= 1.01 * solution.certificate.primal


@ORIGINS
def test_imported_models_are_copied_and_pickled(origin: str, tmp_path: Path) -> None:
    X, _ = data(3)
    model = imported(origin, 3, tmp_path)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        assert other.solution_.status == "imported"


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_loaded_models_go_out_as_the_saved_ones_would(kind: Kind, tmp_path: Path) -> None:
    model, rows = kind.fitted()
    save(model, tmp_path / "model.hinge")
    loaded = load(tmp_path / "model.hinge")
    for number, each in enumerate((model, loaded)):
        write_onnx(each, tmp_path / f"{number}.onnx")
        if kind.loss != "huber":
            write_liblinear(each, tmp_path / f"{number}.txt", labels=range(kind.n_classes))
    endings = ["onnx"] if kind.loss == "huber" else ["onnx", "txt"]
    for ending in endings:
        files = [(tmp_path / f"{number}.{ending}").read_bytes() for number in (0, 1)]
        assert files[0] == files[1]
    session = onnxruntime.InferenceSession(tmp_path / "1.onnx", providers=["CPUExecutionProvider"])
    labels, values = session.run(["label", "decision"], {"X": np.asarray(rows)})
    assert labels.tolist() == model.predict(rows).tolist()
    differences = np.abs(values - model.decision_function(rows))
    assert np.all(differences <= largest_difference(model, rows))
