"""The one inequality, and the bounds on rounding that go with it, against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor, score_bounds, score_rounding


def _exact_dot(a: np.ndarray, b: np.ndarray) -> Fraction:
    return sum(
        (Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a, b, strict=True)), Fraction(0)
    )


@pytest.mark.parametrize("terms", [1, 2, 7, 64, 1000])
def test_rounding_of_scores_is_bounded(terms: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    largest = 0.0
    for _ in range(30):
        # Cancelling terms of very different sizes.
        w = rng.normal(size=terms) * 10.0 ** rng.uniform(-3, 3, terms)
        x = rng.normal(size=terms) * 10.0 ** rng.uniform(-3, 3, terms)
        error = abs(Fraction(float(w @ x)) - _exact_dot(w, x))
        norm = float(np.linalg.norm(w))
        bound = score_rounding(norm, np.asarray([np.linalg.norm(x)]), terms)[0]
        assert error <= Fraction(float(bound))
        largest = max(largest, float(error) / float(bound))
    # Not vacuous: the bound is within some orders of magnitude of what happens.
    assert largest > 1e-5


def test_the_rounding_factor_is_the_classical_bound() -> None:
    for terms in (1, 10, 10**6, 10**12):
        n = Fraction(terms)
        u = Fraction(UNIT_ROUNDOFF)
        classical = n * u / (1 - n * u)
        factor = Fraction(rounding_factor(terms))
        assert classical <= factor <= 4 * classical


def test_bounds_hold_every_vector_of_the_ball(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(200):
        d = int(rng.integers(1, 6))
        centre, rows = rng.normal(size=d), rng.normal(size=(5, d)) * 10.0 ** rng.uniform(-3, 3)
        radius = 10.0 ** rng.uniform(-6, 1)
        norms = np.linalg.norm(rows, axis=1)
        rounding = score_rounding(float(np.linalg.norm(centre)), norms, d)
        lower, upper = score_bounds(rows @ centre, norms, radius, rounding)
        for row, low, high in zip(rows, lower, upper, strict=True):
            # The worst vectors of the ball, and a random one inside it.
            worst = radius * 0.999999999 * row / np.linalg.norm(row)
            inside = rng.normal(size=d)
            inside *= radius * rng.random() / np.linalg.norm(inside)
            for change in (worst, -worst, inside):
                value = _exact_dot(row, centre + change)
                assert Fraction(float(low)) <= value <= Fraction(float(high))


def test_bounds_are_tight() -> None:
    lower, upper = score_bounds(np.asarray([3.0]), np.asarray([2.0]), 0.25)
    assert lower[0] == pytest.approx(2.5, rel=1e-14)
    assert upper[0] == pytest.approx(3.5, rel=1e-14)
    assert lower[0] < 2.5
    assert upper[0] > 3.5
