"""The projection onto a box and a plane, against sorting, against halving and the theory."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from hinge.solvers.kernel.projection import project


def _by_sorting(values, lower, upper, total):
    """Return the projection by walking over all corners in their order."""
    corners = np.unique(np.concatenate((values - upper, values - lower)))
    corners = corners[np.isfinite(corners)]

    def at(tau):
        return np.clip(values - tau, lower, upper)

    before = None
    for corner in corners:
        if math.fsum(at(corner)) <= total:
            break
        before = corner
    else:
        corner = None
    some = corner if before is None else (before if corner is None else 0.5 * (before + corner))
    if before is None:
        some = some - 1.0
    elif corner is None:
        some = some + 1.0
    probe = at(some)
    inside = (probe > lower) & (probe < upper)
    if not inside.any():
        return at(corner if corner is not None else before)
    fixed = math.fsum(probe[~inside])
    tau = (math.fsum(values[inside]) + fixed - total) / np.count_nonzero(inside)
    return at(tau)


def _by_bisection(values, lower, upper, total):
    """Return the projection by halving an interval of the multiplier to its last bit."""
    low = float(np.min(values - np.minimum(upper, 1e18))) - 1.0
    high = float(np.max(values - np.maximum(lower, -1e18))) + 1.0
    for _ in range(2000):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if math.fsum(np.clip(values - middle, lower, upper)) > total:
            low = middle
        else:
            high = middle
    return np.clip(values - high, lower, upper)


def _random(rng, n):
    values = rng.normal(size=n) * 10.0 ** rng.uniform(-3, 3)
    if rng.uniform() < 0.4:
        values = np.round(values)  # ties
    sides = np.sort(rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-3, 3), axis=0)
    if rng.uniform() < 0.4:
        sides = np.round(sides)  # ties, and variables without room
    lower, upper = sides
    share = rng.choice([0.0, 1.0, rng.uniform()])
    total = float((1.0 - share) * lower.sum() + share * upper.sum())
    if rng.uniform() < 0.3:
        upper = np.where(rng.uniform(size=n) < 0.5, np.inf, upper)
    if rng.uniform() < 0.2:
        lower = np.where(rng.uniform(size=n) < 0.5, -np.inf, lower)
    return values, lower, upper, total


@pytest.mark.parametrize("reference", [_by_sorting, _by_bisection])
@pytest.mark.parametrize("number", range(40))
def test_it_is_the_nearest_point(number: int, reference) -> None:
    rng = np.random.default_rng(number)
    values, lower, upper, total = _random(rng, int(rng.integers(1, 60)))
    ours, theirs = project(values, lower, upper, total), reference(values, lower, upper, total)
    size = max(1.0, float(np.max(np.abs(values))), float(np.max(np.abs(theirs))))
    assert np.max(np.abs(ours - theirs)) <= 1e-11 * size
    assert (ours >= lower).all()
    assert (ours <= upper).all()
    assert abs(math.fsum(ours) - total) <= 1e-14 * (np.abs(ours).sum() + abs(total))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 200))
def test_no_feasible_point_is_nearer(number: int, n: int) -> None:
    """The angle condition (v - P v)'(b - P v) <= 0 holds for every feasible b."""
    rng = np.random.default_rng(number)
    values, lower, upper, total = _random(rng, n)
    nearest = project(values, lower, upper, total)
    for _ in range(5):
        other = project(nearest + rng.normal(size=n), lower, upper, total)
        angle = float((values - nearest) @ (other - nearest))
        size = np.linalg.norm(values - nearest) * np.linalg.norm(other - nearest)
        rounding = np.abs(values - nearest).max() * (np.abs(nearest).sum() + np.abs(other).sum())
        assert angle <= 1e-12 * (size + rounding)


def test_a_point_of_the_set_stays_where_it_is() -> None:
    rng = np.random.default_rng(3)
    inside = rng.uniform(size=50)
    kept = project(inside, np.zeros(50), np.ones(50), float(inside.sum()))
    assert np.max(np.abs(kept - inside)) <= 1e-15
    assert project(inside, np.zeros(50), np.ones(50)).tobytes() == inside.tobytes()


def test_only_one_point_is_feasible() -> None:
    lower, upper = np.array([0.0, -2.0, 1.0]), np.array([1.0, 3.0, 1.0])
    for total, corner in ((-1.0, lower), (5.0, upper)):
        for values in (np.zeros(3), np.array([1e9, -1e9, 4.0])):
            assert project(values, lower, upper, total).tolist() == corner.tolist()
    pinned = np.array([1.0, 2.0])
    assert project(np.zeros(2), pinned, pinned, 3.0).tolist() == [1.0, 2.0]
    assert project(np.zeros(0), np.zeros(0), np.zeros(0), 0.0).shape == (0,)


def test_ties_are_shared_out() -> None:
    nearest = project(np.full(1000, 7.0), np.zeros(1000), np.ones(1000), 10.0)
    assert np.max(np.abs(nearest - 0.01)) <= 1e-16
    assert abs(math.fsum(nearest) - 10.0) <= 1e-13


def test_ranges_over_many_decades() -> None:
    values = np.array([1e12, 1.0, -1e12, 3.0, 2.0])
    lower, upper = np.zeros(5), np.array([1e-9, 1e15, 1e15, np.inf, 1e-300])
    nearest = project(values, lower, upper, 3.0)
    assert nearest[0] == 1e-9
    assert nearest[2] == 0.0
    assert math.fsum(nearest) == pytest.approx(3.0, rel=1e-15)
    assert nearest[3] - nearest[1] == pytest.approx(2.0, rel=1e-15)
    huge = np.full(3, 1e300)
    assert project(huge, -huge, huge, 0.0).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("total", [-0.1, 3.1, math.nan, math.inf])
def test_a_sum_out_of_reach_is_refused(total: float) -> None:
    with pytest.raises(hinge.errors.InvalidParameterError, match=r"sum .* allow is 0.0 to 3"):
        project(np.zeros(3), np.zeros(3), np.ones(3), total)


def test_what_is_no_number_is_refused() -> None:
    zeros, ones = np.zeros(2), np.ones(2)
    with pytest.raises(hinge.errors.InvalidParameterError, match=r"values\[1\] is nan"):
        project(np.array([0.0, math.nan]), zeros, ones, 1.0)
    with pytest.raises(hinge.errors.InvalidParameterError, match=r"at 0 they are 1.0 and 0.0"):
        project(zeros, ones, zeros, 1.0)
    with pytest.raises(hinge.errors.InvalidParameterError, match="either end reachable; at 0"):
        project(zeros, np.full(2, np.inf), np.full(2, np.inf), None)
