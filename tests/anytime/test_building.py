"""How far the building of a predictor is: told to callbacks, and shown."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hinge
from hinge.anytime.build import EMBEDDING, POINTS, REDUCED, STAGES, VALUES
from hinge.kernels import RBF


@pytest.fixture(scope="module")
def fitted() -> tuple[hinge.SVC, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] * X[:, 1] > 0.0
    return hinge.SVC(kernel=RBF(0.5)).fit(X, y), X, y


def test_a_callback_hears_of_every_part(fitted) -> None:
    heard: list[tuple[str, int, int]] = []
    fast = hinge.accelerate(
        fitted[0], n_points=16, reduced_set=4, callback=lambda *told: heard.append(told)
    )
    parts = list(dict.fromkeys(part for part, _, _ in heard))
    assert parts == [VALUES, REDUCED, POINTS, EMBEDDING, STAGES]
    assert [done for part, done, _ in heard if part == POINTS] == list(range(16))
    assert [(done, total) for part, done, total in heard if part == REDUCED] == [
        (k, 4) for k in range(4)
    ]
    assert heard[-1] == (STAGES, 1, 1)
    np.testing.assert_array_equal(fast.predict(fitted[1]), fitted[0].predict(fitted[1]))


def test_a_callback_may_end_the_building(fitted) -> None:
    def enough(part: str, done: int, _total: int) -> None:
        if part == POINTS and done == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        hinge.accelerate(fitted[0], callback=enough)


@pytest.mark.parametrize("has_rich", [True, False])
def test_verbose_shows_the_parts(fitted, has_rich: bool, monkeypatch, capfd) -> None:
    if not has_rich:
        monkeypatch.setitem(sys.modules, "rich.console", None)
        monkeypatch.setitem(sys.modules, "rich.progress", None)
    heard: list[str] = []
    model = hinge.AnytimeClassifier(hinge.SVC(kernel=RBF(0.5)), n_points=8, verbose=True)
    model.fit(fitted[1], fitted[2])
    hinge.accelerate(
        fitted[0], n_points=8, verbose=True, callback=lambda part, *_: heard.append(part)
    )
    assert heard[-1] == STAGES
    shown = capfd.readouterr().err
    assert POINTS in shown
    assert STAGES in shown
    assert ("accelerate, basis points: 0 of 8" in shown) is not has_rich


def test_a_classifier_takes_points_of_the_whole_space(fitted, tmp_path) -> None:
    _, X, y = fitted
    model = hinge.AnytimeClassifier(hinge.SVC(kernel=RBF(0.5)), n_points=16, reduced_set=5)
    model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.estimator_.predict(X))
    hinge.save(model, tmp_path / "model")
    assert hinge.load(tmp_path / "model").reduced_set == 5
