r"""Probabilities from decision values: Platt's sigmoid for a pair, coupled for several classes.

For the scores f of a pair of classes, p = 1 / (1 + exp(A f + B)) is fitted by maximum likelihood,

.. math:: \min_{A \le 0,\, B}\; \sum_i s_i \bigl(t_i\, z_i + \log(1 + e^{-z_i})\bigr),
          \qquad z_i = A f_i + B,

to targets t that keep away from 0 and 1 as Platt (1999) has them: (N_+ + 1) / (N_+ + 2) for rows
of the class and 1 / (N_- + 2) for the others, N counting rows by weight. The constraint A <= 0 is
ours: the probability never falls as the score rises. The problem is convex in two variables;
Newton's method with backtracking solves it, on scores scaled to size 1.

For k classes, r_ij being the probability of i in the pair (i, j), the vector p on the simplex
minimises the sum over pairs of (r_ji p_i - r_ij p_j)^2 (Wu, Lin and Weng 2004, their second
approach). Its optimality conditions are one linear system of k + 1 equations per row, and the
solution is positive for r inside (0, 1), so that no iteration is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_SHORTEST_STEP = 1e-10
_FLAT = 1e-9  # gradient, by weight, at which the likelihood is at its maximum
_SUFFICIENT = 1e-4
_NEAREST = 1e-7  # a probability of a pair keeps this far from 0 and 1
_ROWS_AT_A_TIME = 4096


@dataclass(frozen=True)
class Sigmoid:
    """The function ``1 / (1 + exp(slope * score + offset))``.

    Parameters
    ----------
    slope : float
        Not positive: the function does not fall.
    offset : float
        Where it is a half.
    """

    slope: float
    offset: float

    def __call__(self, scores: Floats) -> Floats:
        """Return the probabilities of scores."""
        return logistic(-(self.slope * scores + self.offset))


def logistic(x: Floats) -> Floats:
    """Return ``1 / (1 + exp(-x))`` without overflow.

    Parameters
    ----------
    x : ndarray
        Any numbers.
    """
    small = np.exp(-np.abs(x))
    return np.where(x >= 0.0, 1.0, small) / (1.0 + small)


def fit_sigmoid(scores: Floats, positive: NDArray[np.bool_], weights: Floats) -> Sigmoid:
    """Return the sigmoid of greatest likelihood.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Decision values of rows that the machine was not trained on.
    positive : ndarray of bool of shape (n,)
        Which rows belong to the class whose probability it is.
    weights : ndarray of shape (n,)
        How often each row counts.
    """
    pros, cons = float(weights[positive].sum()), float(weights[~positive].sum())
    targets = np.where(positive, (pros + 1.0) / (pros + 2.0), 1.0 / (cons + 2.0))
    size = float(np.max(np.abs(scores), initial=0.0)) or 1.0
    mean = float(weights @ targets) / (pros + cons)
    start = np.array([0.0, np.log((1.0 - mean) / mean)])
    problem = (scores / size, targets, weights / (pros + cons))
    slope, offset = _newton(start, *problem)
    if slope > 0.0:
        slope, offset = start  # the best that does not fall: the share of the class, everywhere
    return Sigmoid(float(slope) / size, float(offset))


def _newton(start: Floats, f: Floats, targets: Floats, weights: Floats) -> Floats:
    """Minimise the mean of ``t z + log(1 + exp(-z))``, ``z = A f + B``."""
    point = start
    value = _value(point, f, targets, weights)
    for _ in range(_STEPS):
        p = logistic(-(point[0] * f + point[1]))
        pull = weights * (targets - p)
        gradient = np.array([pull @ f, pull.sum()])
        if np.max(np.abs(gradient)) < _FLAT:
            break
        curve = weights * p * (1.0 - p)
        cross = curve @ f
        hessian = np.array([[curve @ (f * f), cross], [cross, curve.sum()]])
        hessian += 1e-12 * np.eye(2)
        direction = -np.linalg.solve(hessian, gradient)
        slope, step = float(gradient @ direction), 1.0
        while step >= _SHORTEST_STEP:
            candidate = point + step * direction
            lower = _value(candidate, f, targets, weights)
            if lower <= value + _SUFFICIENT * step * slope:
                break
            step *= 0.5
        else:
            break
        point, value = candidate, lower
    return point


def _value(point: Floats, f: Floats, targets: Floats, weights: Floats) -> float:
    z = point[0] * f + point[1]
    return float(weights @ (targets * z + np.logaddexp(0.0, -z)))


def coupled(pairwise: Floats, n_classes: int) -> Floats:
    """Return probabilities of classes from those of pairs.

    Parameters
    ----------
    pairwise : ndarray of shape (n_samples, n_pairs)
        The probability of the first class of every pair (0, 1), (0, 2), ...
    n_classes : int
        How many classes there are.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Probabilities, each row adding up to 1.
    """
    inside = np.clip(pairwise, _NEAREST, 1.0 - _NEAREST)
    probabilities = np.empty((len(pairwise), n_classes))
    for start in range(0, len(pairwise), _ROWS_AT_A_TIME):
        rows = slice(start, start + _ROWS_AT_A_TIME)
        probabilities[rows] = _coupled_rows(inside[rows], n_classes)
    return probabilities


def _coupled_rows(pairwise: Floats, k: int) -> Floats:
    """Solve the optimality conditions of every row."""
    r = np.zeros((len(pairwise), k, k))
    first, second = np.triu_indices(k, 1)
    r[:, first, second] = pairwise
    r[:, second, first] = 1.0 - pairwise
    system = np.zeros((len(pairwise), k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    system[:, diagonal, diagonal] = np.sum(np.square(r), axis=1)
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((len(pairwise), k + 1, 1))
    right[:, k] = 1.0
    p = np.linalg.solve(system, right)[:, :k, 0]
    p = np.clip(p, 0.0, 1.0)  # what rounding may have left beyond the simplex
    return np.asarray(p / p.sum(axis=1, keepdims=True))
