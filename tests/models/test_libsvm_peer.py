"""Machines go to LIBSVM and come from it: the same labels, decision values up to rounding."""

from __future__ import annotations

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.suite.environments import find
from benchmarks.suite.peers.libsvm import PEER
from tests.models import libsvm_peer
from tests.models.machines import pair_values, rounding

from hinge.estimators.svc import SVC
from hinge.models import read_libsvm, verify, write_libsvm

KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")


@pytest.fixture(scope="module")
def python() -> str:
    """Return the interpreter that has LIBSVM."""
    environment = find(PEER)
    if environment.python is None:
        pytest.skip(f"LIBSVM is {environment.reason}")
    return environment.python


def _rows(folder: Path) -> Any:
    rows = np.random.default_rng(3).normal(size=(100, 5))
    np.save(folder / "rows.npy", rows)
    return rows


def _call(python: str, *arguments: str) -> str:
    command = [python, libsvm_peer.__file__, *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _agrees(python: str, folder: Path, name: str, model: SVC, X: Any) -> None:
    """Compare LIBSVM's labels and decision values with hinge's."""
    answer = json.loads(_call(python, "predict", str(folder), name))
    order, theirs = answer["order"], np.asarray(answer["values"])
    own = pair_values(model, X)
    if len(order) == 2:
        own = -own
    place = {pair: k for k, pair in enumerate(itertools.combinations(order, 2))}
    for number, (first, second) in enumerate(itertools.combinations(sorted(order), 2)):
        turned = (first, second) not in place
        values = theirs[:, place[(second, first) if turned else (first, second)]]
        difference = np.abs((-values if turned else values) - own[:, number]).max()
        assert difference <= rounding(model, X)
    # Of classes with equally many votes each program has a choice of its own.
    is_tied = np.zeros(len(X), dtype=bool)
    if len(order) > 2:
        votes = np.zeros((len(X), len(order)))
        for number, (i, j) in enumerate(itertools.combinations(range(len(order)), 2)):
            votes[:, i] += own[:, number] > 0
            votes[:, j] += own[:, number] <= 0
        is_tied = (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert is_tied.mean() < 0.2
    np.testing.assert_array_equal(model.predict(X)[~is_tied], np.array(answer["labels"])[~is_tied])


@pytest.mark.slow
def test_machines_from_libsvm(python: str, tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    _call(python, "train", str(tmp_path))
    for name, (kernel, n_classes) in libsvm_peer.KINDS.items():
        X = rows @ rows.T if kernel == 4 else rows
        model = read_libsvm(tmp_path / f"{name}.txt", n_features=X.shape[1])
        _agrees(python, tmp_path, f"{name}.txt", model, X)
        y = np.asarray([4, -1, 9, 2])[rows[:, :n_classes].argmax(axis=1)]
        found = verify(model, X, y)
        assert found.violation < 2e-3
        if KERNELS[kernel] in ("linear", "poly", "rbf"):
            assert found.relative_gap < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_machines_for_libsvm(kernel: str, n_classes: int, python: str, tmp_path: Path) -> None:
    rows = _rows(tmp_path)
    X = rows @ rows.T if kernel == "precomputed" else rows
    y = np.asarray([4, -1, 9, 2])[rows[:, :n_classes].argmax(axis=1)]
    model = SVC(kernel=kernel, coef0=0.5 if kernel in ("poly", "sigmoid") else 0.0).fit(X, y)
    write_libsvm(model, tmp_path / "model.txt")
    _agrees(python, tmp_path, "model.txt", model, X)
