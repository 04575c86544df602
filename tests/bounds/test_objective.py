"""Evaluations that make an objective of the summed loss: scale, ridge, and an array to write to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.wandering import plain, two_clouds, wander

from hinge import InvalidDataError, InvalidParameterError, losses
from hinge.bounds import SortedMargins

LOSSES = ["hinge", "squared_hinge", losses.Huber(0.01), "zero_one"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_scale_and_ridge_make_an_objective(loss, sparse) -> None:
    X, y = two_clouds(11)
    index = SortedMargins(sp.csr_array(X) if sparse else X, y)
    scale, ridge, out = 0.37 / len(y), 0.02, np.empty(X.shape[1])
    examined = []
    for w, b in wander(12, X.shape[1], 40):
        value, gradient, gradient_b = plain(X, y, w, b, loss)
        got = index.evaluate(w, b, loss, scale=scale, ridge=ridge, out=out)
        assert got.gradient is out
        assert abs(got.value - (scale * value + 0.5 * ridge * w @ w)) <= 2 * got.bound
        want = scale * gradient + ridge * w
        assert np.linalg.norm(got.gradient - want) <= 2 * got.gradient_bound
        assert abs(got.gradient_b - scale * gradient_b) <= 2 * got.gradient_bound
        assert got.bound < 1e-9
        examined.append(got.examined)
    assert min(examined) < 0.9 * len(y)
    assert max(examined) == len(y)


def test_a_loss_that_is_new_needs_no_pass_for_its_objective() -> None:
    X, y = two_clouds(13)
    index = SortedMargins(X, y)
    w, b = next(wander(14, X.shape[1], 1))
    index.evaluate(w, b, "hinge", ridge=1.0)
    near = w * (1 + 1e-6)
    for _ in range(2):  # the sums over its linear piece are made, then kept
        got = index.evaluate(near, b, losses.Huber(0.3), scale=2.0, ridge=3.0)
        value, gradient, _ = plain(X, y, near, b, losses.Huber(0.3))
        assert got.examined < len(y) / 2
        assert abs(got.value - (2.0 * value + 1.5 * near @ near)) <= 2 * got.bound
        want = 2.0 * gradient + 3.0 * near
        assert np.linalg.norm(got.gradient - want) <= 2 * got.gradient_bound


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(3), r"of shape \(2,\); got ndarray of shape \(3,\)"),
        (np.empty(2, dtype=np.float32), "out must be a writable, contiguous array of float64"),
        (np.empty(4)[::2], "out must be a writable, contiguous array"),
        (np.broadcast_to(0.0, 2), "out must be a writable"),
        ([0.0, 0.0], "got list of shape"),
    ],
)
def test_an_array_that_cannot_hold_the_gradient_is_refused(out, message) -> None:
    index = SortedMargins([[0.0, 1.0], [1.0, 0.0]], [-1, 1])
    with pytest.raises(InvalidDataError, match=message):
        index.evaluate(np.ones(2), out=out)


def test_the_weights_are_no_place_for_the_gradient() -> None:
    index = SortedMargins([[0.0, 1.0], [1.0, 0.0]], [-1, 1])
    w = np.ones(2)
    with pytest.raises(InvalidDataError, match="out shares memory with w"):
        index.evaluate(w, out=w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scale": 0.0}, "scale must be greater than 0; got 0.0"),
        ({"scale": np.inf}, "scale must be finite"),
        ({"ridge": -1.0}, "ridge must not be negative; got -1.0"),
        ({"ridge": "1"}, "ridge must be a number"),
    ],
)
def test_other_objectives_are_refused(options, message) -> None:
    index = SortedMargins([[0.0], [1.0]], [-1, 1])
    with pytest.raises(InvalidParameterError, match=message):
        index.evaluate([1.0], **options)
