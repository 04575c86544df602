"""A rule settles a label only where every value inside the intervals gives it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge.anytime import LargestRule, SignRule, VoteRule


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(3, 5))
def test_votes_that_are_settled_do_not_change_inside_the_intervals(
    seed: int, n_classes: int
) -> None:
    rng = np.random.default_rng(seed)
    rule = VoteRule(n_classes)
    pairs = n_classes * (n_classes - 1) // 2
    middle = rng.choice([-1.0, 0.0, 0.5, 2.0], size=(40, pairs)) * rng.random((40, pairs))
    width = rng.choice([0.0, 0.1, 1.0], size=(40, pairs))
    settled, codes = rule.settled(middle - width, middle + width)
    for _ in range(20):
        share = rng.choice([-1.0, 1.0, 0.0, rng.uniform(-1, 1)], size=(40, pairs))
        inside = rule.codes(middle + share * width)
        np.testing.assert_array_equal(inside[settled], codes[settled])


def test_votes_between_losers_need_not_be_known() -> None:
    # Class 0 beats all others for certain; the pair (1, 2) is wide open.
    lower, upper = np.array([[1.0, 1.0, -9.0]]), np.array([[2.0, 2.0, 9.0]])
    settled, codes = VoteRule(3).settled(lower, upper)
    assert settled.tolist() == [True]
    assert codes.tolist() == [0]


@pytest.mark.parametrize(("is_strict", "code"), [(False, 1), (True, 0)])
def test_zero_has_a_side(is_strict: bool, code: int) -> None:
    zero = np.zeros((1, 1))
    assert SignRule(is_strict).codes(zero).tolist() == [code]
    assert SignRule(is_strict).settled(zero - 1e-300, zero + 1e-300)[0].tolist() == [False]


def test_equal_largest_values_are_not_settled() -> None:
    values = np.array([[1.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    settled, codes = LargestRule().settled(values, values)
    assert settled.tolist() == [False, True]
    assert codes.tolist() == [0, 0]
    assert LargestRule().codes(values).tolist() == [0, 0]


@pytest.mark.parametrize("rule", [SignRule(), SignRule(is_strict=True), LargestRule(), VoteRule(3)])
def test_what_is_no_number_proves_nothing(rule) -> None:
    width = 1 if isinstance(rule, SignRule) else 3
    with np.errstate(invalid="ignore"):
        for lower, upper in ((np.nan, np.nan), (-np.inf, np.inf)):
            settled, _ = rule.settled(np.full((2, width), lower), np.full((2, width), upper))
            assert not settled.any()
        if width == 3:
            low, high = np.ones((1, 3)), 2.0 * np.ones((1, 3))
            low[0, 0] = high[0, 0] = np.nan
            assert not rule.settled(low, high)[0].any()
