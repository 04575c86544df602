"""Small problems that the estimator's tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import StandardScaler

Floats = NDArray[np.float64]


def two_classes(seed: int = 0, n: int = 60, d: int = 5) -> tuple[Floats, NDArray[np.int64]]:
    """Return rows of two classes that overlap."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = random.normal(size=(n, d)) + 0.7 * y[:, None]
    return X, y


def three_classes() -> tuple[Floats, NDArray[Any]]:
    """Return the iris data, scaled."""
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def cancer(scaled: bool = True) -> tuple[Floats, NDArray[Any]]:
    """Return the breast cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y
