r"""Problems that are built from their own optimum.

An optimum is chosen first: slopes :math:`t_i = \alpha_i / c_i`, margins :math:`m_i` and an
intercept that satisfy the optimality conditions

.. math:: m_i = p - \kappa t_i \ (0 < t_i < u), \quad m_i \ge p \ (t_i = 0), \quad
          m_i \le p - \kappa u \ (t_i = u),

and the balance of the intercept (:math:`\sum y_i \alpha_i` is 0 if it is free,
:math:`b / \text{scale}^2` if it is augmented). They determine
:math:`\|w\|^2 = \sum_i \alpha_i (m_i - y_i b)`; a vector of that norm is found by writing the
number as a sum of squares. Then the rows are made to fit: one column of each row sets its margin,
and the last row closes :math:`\sum_i y_i \alpha_i x_i = w`.

Every number is a small multiple of a power of two, so all of this is exact in floating point and
the optimal value is known as a rational number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.kernels import Precomputed
from hinge.losses import Loss, get_loss
from hinge.problem import Intercept, Problem
from hinge.result import Point

Floats = NDArray[np.float64]

_STEP = 0.25  # every chosen number is a multiple of it
_C = 2.0
_SCALE = 0.5  # of the constant feature of an augmented intercept


@dataclass(frozen=True)
class KnownOptimum:
    """A problem with its optimum.

    Parameters
    ----------
    problem : Problem
        The problem.
    point : Point
        Its optimum, without any rounding error; the weights are unique.
    value : Fraction
        Its optimal value, exact.
    """

    problem: Problem
    point: Point
    value: Fraction


@dataclass
class _Optimum:
    """What is chosen before any row exists."""

    signs: Floats
    weights: Floats
    slopes: Floats
    margins: Floats
    intercept: float

    @property
    def alpha(self) -> Floats:
        return self.slopes * self.weights * _C

    @property
    def squared_norm(self) -> float:
        return float(np.sum(self.alpha * (self.margins - self.signs * self.intercept)))


def known_optimum(
    loss: str | Loss = "hinge",
    intercept: str = "free",
    *,
    sparse: bool = False,
    dtype: Any = np.float64,
    weighted: bool = False,
    n_pairs: int = 12,
    seed: int = 0,
    kernel: str | None = None,
) -> KnownOptimum:
    """Return a random problem whose optimum is known exactly.

    Parameters
    ----------
    loss : str or Loss, default="hinge"
        A loss; the h of a Huber loss must be a power of two.
    intercept : {"free", "augmented", "none"}, default="free"
        How the intercept enters the objective.
    sparse : bool, default=False
        Whether the rows are CSR.
    dtype : dtype, default=numpy.float64
        Type of the rows, float32 or float64.
    weighted : bool, default=False
        Whether rows have weights, two of them 0.
    n_pairs : int, default=12
        Pairs of rows, one of each class; at least 3.
    seed : int, default=0
        Seed of the choice.
    kernel : {"linear", "precomputed"} or None, default=None
        Give the same problem as a kernel machine, by its rows or by their inner products.

    Returns
    -------
    KnownOptimum
        The problem, its optimum and its optimal value.
    """
    rng = np.random.default_rng(seed)
    chosen = get_loss(loss)
    kind = Intercept(intercept)
    optimum = _choose(rng, chosen, kind, weighted, n_pairs)
    while optimum.squared_norm <= _STEP:
        optimum = _choose(rng, chosen, kind, weighted, n_pairs)
    coef, pivot = _vector_of_squared_norm(rng, optimum.squared_norm)
    rows = _rows(rng, optimum, coef, pivot)
    order = rng.permutation(len(rows))
    stored = rows[order].astype(dtype)
    if not np.array_equal(stored, rows[order]):
        message = f"the rows of seed {seed} are not exact in {np.dtype(dtype)}; take fewer pairs."
        raise ValueError(message)
    if kernel == "precomputed":
        stored = stored @ stored.T  # exact: multiples of a power of two, and few digits
    problem = Problem(
        sp.csr_array(stored) if sparse else stored,
        optimum.signs[order].astype(int),
        loss=chosen,
        C=_C,
        intercept=kind,
        intercept_scale=_SCALE,
        kernel=Precomputed(psd=True) if kernel == "precomputed" else kernel,
        sample_weight=optimum.weights[order] if weighted else None,
    )
    point = Point(coef if kernel is None else np.zeros(0), optimum.intercept, optimum.alpha[order])
    return KnownOptimum(problem, point, _value(chosen, kind, optimum))


def _choose(
    rng: np.random.Generator, loss: Loss, kind: Intercept, weighted: bool, n_pairs: int
) -> _Optimum:
    """Choose slopes and margins in pairs that balance, so that only extra rows unbalance them."""
    signs, weights, slopes, margins = [], [], [], []

    def add(sign: float, weight: float, slope: float) -> None:
        signs.append(sign)
        weights.append(weight)
        slopes.append(slope)
        margins.append(_margin(rng, loss, slope))

    for number in range(n_pairs):
        weight = float(rng.choice([0.5, 1.0, 2.0])) if weighted else 1.0
        slope = _slope(rng, loss, number)
        add(1.0, weight, slope)
        add(-1.0, weight, slope)
    intercept = 0.0
    if kind is Intercept.FREE:
        intercept = _STEP * float(rng.integers(-6, 7))
    else:
        sign = float(rng.choice([-1.0, 1.0]))
        add(sign, 1.0, _STEP)
        if kind is Intercept.AUGMENTED:
            intercept = _SCALE**2 * sign * _STEP * _C
    if weighted:
        add(1.0, 0.0, 0.0)
        add(-1.0, 0.0, 0.0)
    # The closing row is the last; its coefficient is divided by, so it is a power of two.
    add(1.0, 1.0, 2 * _STEP)
    add(-1.0, 1.0, 2 * _STEP)
    columns = np.asarray([signs, weights, slopes, margins])
    return _Optimum(columns[0], columns[1], columns[2], columns[3], intercept)


def _slope(rng: np.random.Generator, loss: Loss, number: int) -> float:
    """Return a slope: in turn inside its interval, at the upper end, and at zero."""
    inside = _STEP * float(rng.integers(1, 4))
    at_the_top = loss.dual_upper if math.isfinite(loss.dual_upper) else 4 * inside
    return (inside, at_the_top, 0.0)[number % 3]


def _margin(rng: np.random.Generator, loss: Loss, slope: float) -> float:
    """Return a margin at which the loss has this slope."""
    margin = loss.dual_linear - loss.dual_curvature * slope
    room = _STEP * float(rng.integers(0, 7))
    if slope == 0.0:
        return margin + room
    return margin - room if slope == loss.dual_upper else margin


def _vector_of_squared_norm(rng: np.random.Generator, squared_norm: float) -> tuple[Floats, int]:
    """Return a vector of that squared norm, and a column in which it is a power of two."""
    exact = Fraction(squared_norm)
    unit = 1
    while (exact * unit * unit).denominator != 1:
        unit *= 2
    first = Fraction(1)
    while first * first * 2 > exact:
        first /= 2
    unit = max(unit, first.denominator)
    rest = int((exact - first * first) * unit * unit)
    roots = [Fraction(root, unit) for root in _four_squares(rest)]
    entries = np.asarray([float(entry) for entry in (first, *roots, 0, 0)])
    order = rng.permutation(len(entries))
    coef = (entries * rng.choice([-1.0, 1.0], len(entries)))[order]
    return coef, int(np.flatnonzero(order == 0)[0])


def _four_squares(number: int) -> tuple[int, int, int, int]:
    """Return four integers whose squares sum to the number (Lagrange: there always are)."""
    top = math.isqrt(number)
    for a in range(top, -1, -1):
        left = number - a * a
        for b in range(min(a, math.isqrt(left)), -1, -1):
            remainder = left - b * b
            for c in range(min(b, math.isqrt(remainder)), -1, -1):
                d = math.isqrt(remainder - c * c)
                if d * d == remainder - c * c:
                    return a, b, c, d
    message = f"{number} is negative"
    raise ValueError(message)


def _rows(rng: np.random.Generator, optimum: _Optimum, coef: Floats, pivot: int) -> Floats:
    """Return rows with the chosen margins whose weighted sum is the chosen vector."""
    shape = (len(optimum.signs), len(coef))
    rows = _STEP * rng.integers(-8, 9, shape) * (rng.random(shape) < 0.6)
    wanted = optimum.signs * optimum.margins - optimum.intercept
    rows[:, pivot] = 0.0
    rows[:, pivot] = (wanted - rows @ coef) / coef[pivot]
    pulls = optimum.signs * optimum.alpha
    rows[-1] = (coef - pulls[:-1] @ rows[:-1]) / pulls[-1]
    return np.asarray(rows)


def _value(loss: Loss, kind: Intercept, optimum: _Optimum) -> Fraction:
    """Return the optimal value, from the dual, in rational arithmetic."""
    value = -Fraction(optimum.squared_norm) / 2
    if kind is Intercept.AUGMENTED:
        value -= Fraction(optimum.intercept) ** 2 / (2 * Fraction(_SCALE) ** 2)
    for slope, weight in zip(optimum.slopes, optimum.weights, strict=True):
        t, c = Fraction(float(slope)), Fraction(float(weight)) * Fraction(_C)
        value += c * (Fraction(loss.dual_linear) * t - Fraction(loss.dual_curvature) * t * t / 2)
    return value
