"""Machines with a sigmoid kernel end where scikit-learn's do, whatever the scale of the rows."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from hinge import SVC


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
@pytest.mark.parametrize("coef0", [0.0, -1.0])
def test_raw_features_are_no_reason_to_stall(load, coef0: float) -> None:
    """All kernel values are 1 or -1 there, and what rounding does to products does not matter."""
    X, y = load(return_X_y=True)
    for C in (1.0, 100.0, 1e4):
        model = SVC(kernel="sigmoid", gamma=1.0, coef0=coef0, C=C, tol=1e-5)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)


def test_unequal_features_of_overlapping_classes() -> None:
    rng = np.random.default_rng(13)
    X = rng.normal(size=(400, 20)) * 10.0 ** rng.uniform(-1.5, 1.5, size=20)
    y = X[:, 0] / X[:, 0].std() + 0.7 * rng.normal(size=400) > 0.0
    for gamma, coef0 in ((0.1, -2.0), (0.05, 0.0), (2.0, 1.0)):
        model = SVC(kernel="sigmoid", gamma=gamma, coef0=coef0, C=5e4, tol=1e-5).fit(X, y)
        assert model.certificate_.kkt <= 1e-5
