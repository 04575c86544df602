"""Weighted sums of kernel values in float32: within their bounds, whatever the scales."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hinge.certificates.kernel_sums import sums_above
from hinge.certificates.kernel_weights import PanelWeights, sum_error, sum_loss

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)


def _check(values: np.ndarray, weights: np.ndarray) -> float:
    """Check the sums of every row; return the largest error in parts of its bound."""
    found = PanelWeights(weights, values.dtype).sums(values)
    wide, heavy = values.astype(np.longdouble), weights.astype(np.longdouble)
    exact, size = wide @ heavy, np.abs(wide) @ np.abs(heavy)
    in_float64 = (len(weights) + 4) * np.longdouble(2.0) ** -53
    total = np.sum(heavy, axis=0)
    bound = (sum_error(values.dtype) + in_float64) * size
    bound = bound + sum_loss(values.dtype, len(weights)) * total
    error = np.abs(found - exact)
    assert found.dtype == np.float64
    assert found.shape == exact.shape
    assert (error <= bound).all()
    return float(np.max(error / np.where(bound > 0, bound, 1.0)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1,), (63,), (64,), (65,), (512,), (300, 4)])
@pytest.mark.parametrize("scale", [1e-300, 1e-44, 1e-30, 1.0, 1e30, 1e44, 1e300])
def test_sums_are_within_their_bounds(dtype, shape, scale, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(20, shape[0])).astype(dtype)
    assert _check(values, scale * rng.random(shape)) > 1e-4  # which are not all slack


@pytest.mark.parametrize("spread", [10, 29, 31, 45, 200])
def test_weights_of_very_different_sizes_are_all_summed(spread: int, seed: int) -> None:
    """Some are nothing in float32 beside others, and may still have the largest values."""
    rng = np.random.default_rng(seed)
    exponents = rng.uniform(-spread, 0.0, size=400)
    weights = 10.0**exponents
    values = rng.random((30, 400)) * 10.0 ** np.minimum(-exponents, 30.0)
    _check(values.astype(np.float32), weights)


def test_values_that_underflow_are_within_their_bounds() -> None:
    values = np.full((3, 512), 2.0**-149, dtype=np.float32)
    values[1] = 2.0**-126
    for weights in (np.full(512, 0.3), np.geomspace(1.0, 2.0**-99, 512)):
        _check(values, weights)
    found = PanelWeights(np.full(512, 0.3), np.float32).sums(values)
    assert abs(found[0] - 0.3 * 512 * 2.0**-149) > 0.1 * found[0]  # lost for the most part


def test_a_sum_in_which_every_term_is_lost_is_within_its_bound() -> None:
    values = np.full((4, 64), 2.0**-24.5, dtype=np.float32)
    values[:, 0] = 1.0
    assert _check(values, np.ones(64)) > 0.01


def test_what_overflows_is_not_taken_for_a_number() -> None:
    values = np.full((2, 8), 3e38, dtype=np.float32)
    with np.errstate(over="ignore"):
        assert not np.isfinite(PanelWeights(np.ones(8), np.float32).sums(values)).any()


def test_no_weight_is_no_sum() -> None:
    values = np.ones((2, 3), dtype=np.float32)
    assert PanelWeights(np.zeros(3), np.float32).sums(values).tolist() == [0.0, 0.0]
    assert sum_error(np.float64) == sum_loss(np.float64, 10) == 0.0


def test_bounds_on_sums_are_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = np.asarray([0, 0, 7, 400, 400, 1000, 1000])
    for scale in (1e-300, 1.0, 1e300):
        terms = scale * rng.random(1000) * 10.0 ** rng.uniform(-9, 0, size=1000)
        above = sums_above(terms, ends)
        parts = [terms[a:b].astype(np.longdouble) for a, b in itertools.pairwise(ends)]
        exact = np.asarray([np.sum(np.sort(part)) for part in parts])
        assert (above >= exact).all()
        assert (above <= exact * (1.0 + 1e-11)).all()
    assert sums_above(np.asarray([1.0, np.inf, np.nan]), np.asarray([0, 2, 3]))[0] == np.inf
    assert np.isnan(sums_above(np.asarray([1.0, np.inf, np.nan]), np.asarray([0, 2, 3]))[1])
