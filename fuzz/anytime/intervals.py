r"""Decision values of Gaussian machines between two integers, by arithmetic that rounds outwards.

A number is a pair of whole numbers (low, high) that stands for the interval from
:math:`low \cdot 2^{-P}` to :math:`high \cdot 2^{-P}`; every operation rounds the first down and the
second up, so that the true value is inside. With P = 280 the values here are known to more than
200 bits: nothing is lost but one unit an operation, and 2^k of them in the squarings of
:math:`e^{-t} = (e^{-t / 2^k})^{2^k}`.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hinge.machines import Machine

BITS = 280
_ONE = 1 << BITS
_SMALL_BITS = 8  # the series is summed for arguments below 2^-8, where its terms fall fast
_TERMS = 36  # of the series, an even number; the next one is below 2^-(36 * 8) / 36!
_NOTHING = 400  # e^-t is below one unit from here on

Interval = tuple[int, int]


def exponential(t: Fraction) -> Interval:
    """Return an interval that holds ``exp(-t)``.

    Parameters
    ----------
    t : Fraction
        Not negative.
    """
    if t > _NOTHING:
        return 0, 1
    halvings = max(0, (t.numerator // t.denominator).bit_length() + _SMALL_BITS)
    scaled = Fraction(t.numerator << BITS, t.denominator << halvings)
    below = scaled.numerator // scaled.denominator
    above = -(-scaled.numerator // scaled.denominator)
    # Partial sums of an alternating series whose terms fall enclose it.
    low, high = _partial_sum(above, odd=True)[0], _partial_sum(below, odd=False)[1]
    for _ in range(halvings):
        low, high = (low * low) >> BITS, -((-high * high) >> BITS)
    return low, min(high, _ONE)


def _partial_sum(r: int, odd: bool) -> Interval:
    """Return bounds on a partial sum of ``exp(-r)`` that ends with an odd or an even power."""
    low = high = _ONE
    term_low = term_high = _ONE
    for n in range(1, _TERMS + (0 if odd else 1)):
        term_low = (term_low * r >> BITS) // n
        term_high = (((term_high * r + _ONE - 1) >> BITS) + n - 1) // n
        if n % 2:
            low, high = low - term_high, high - term_low
        else:
            low, high = low + term_low, high + term_high
    return low, high


def gaussian_interval(machine: Machine, x: np.ndarray, function: int = 0) -> tuple[Fraction, ...]:
    """Return two fractions with the true decision value of a Gaussian machine between them.

    Parameters
    ----------
    machine : Machine
        A machine with an RBF kernel and dense support vectors.
    x : ndarray of shape (n_features,)
        A query.
    function : int, default=0
        Which of its functions.
    """
    gamma = Fraction(float(machine.kernel.gamma))
    query = [Fraction(float(v)) for v in x]
    low = high = Fraction(float(machine.intercept[function]))
    for row, c in zip(machine.support.matrix, machine.coefficients[:, function], strict=True):
        pairs = zip(row.tolist(), query, strict=True)
        square = sum(((Fraction(a) - b) ** 2 for a, b in pairs), Fraction(0))
        below, above = exponential(gamma * square)
        factor = Fraction(float(c))
        if factor < 0:
            below, above = above, below
        low, high = low + factor * below / _ONE, high + factor * above / _ONE
    return low, high
