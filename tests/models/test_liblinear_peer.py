"""Models go to LIBLINEAR and come from it: the same labels, decision values up to rounding."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.suite.environments import find
from benchmarks.suite.peers.liblinear import PEER
from tests.models import liblinear_peer
from tests.models.kinds import KINDS, Kind, largest_difference

from hinge import LinearSVC
from hinge.models import read_liblinear, write_liblinear

WRITTEN = [kind for kind in KINDS if kind.loss != "huber"]


@pytest.fixture(scope="module")
def python() -> str:
    """Return the interpreter that has LIBLINEAR."""
    environment = find(PEER)
    if environment.python is None:
        pytest.skip(f"LIBLINEAR is {environment.reason}")
    return environment.python


def _rows(folder: Path) -> Any:
    rows = np.random.default_rng(3).normal(size=(100, 5))
    np.save(folder / "rows.npy", rows)
    return rows


def _call(python: str, *arguments: str) -> str:
    command = [python, liblinear_peer.__file__, *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _theirs(python: str, folder: Path, name: str, n_classes: int) -> tuple[Any, Any]:
    """Return LIBLINEAR's labels, and its decision values in hinge's order and sign."""
    answer = json.loads(_call(python, "predict", str(folder), name))
    order, values = answer["order"], np.asarray(answer["values"])
    if n_classes == 2:
        return answer["labels"], values[:, 0] * (1.0 if order[0] > order[1] else -1.0)
    return answer["labels"], values[:, np.argsort(order)]


def _agree(model: LinearSVC, rows: Any, labels: Any, values: Any) -> None:
    assert model.predict(rows).tolist() == labels
    assert np.all(np.abs(model.decision_function(rows) - values) <= largest_difference(model, rows))


@pytest.mark.slow
def test_models_from_liblinear(python: str, tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    _call(python, "train", str(tmp_path))
    for name, (_, n_classes, bias) in liblinear_peer.KINDS.items():
        model = read_liblinear(tmp_path / f"{name}.txt")
        assert model.fit_intercept is (bias > 0)
        _agree(model, rows, *_theirs(python, tmp_path, f"{name}.txt", n_classes))


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITTEN, ids=str)
def test_models_for_liblinear(kind: Kind, python: str, tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    model, _ = kind.fitted()
    write_liblinear(model, tmp_path / "model.txt", labels=range(kind.n_classes))
    model.classes_ = np.arange(kind.n_classes)
    if kind.has_names:
        del model.feature_names_in_
    _agree(model, rows, *_theirs(python, tmp_path, "model.txt", kind.n_classes))
