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
solution is positive for r inside (0, 1), so that no iteration is needed. Where every class has a
machine against the rest, the probabilities of the classes are divided by their sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_SHORTEST_STEP = 1e-10
_FLAT = 1e-9  # gradient, by weight, at which the likelihood is at its maximum
_SUFFICIENT = 1e-4
_RIDGE = 1e-12  # on second derivatives, for scores that are all the same
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
    return fit_sigmoids([Scored(scores, positive, weights)])[0]


@dataclass(frozen=True)
class Scored:
    """Decision values of rows that a machine was not trained on.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        The decision values.
    positive : ndarray of bool of shape (n,)
        Which rows belong to the class whose probability it is.
    weights : ndarray of shape (n,)
        How often each row counts.
    """

    scores: Floats
    positive: NDArray[np.bool_]
    weights: Floats


def fit_sigmoids(machines: Sequence[Scored]) -> list[Sigmoid]:
    """Return the sigmoids of greatest likelihood of several machines, each for itself.

    All are found at once: for hundreds of rows one by one would be calls and little else.

    Parameters
    ----------
    machines : sequence of Scored
        At least one, each with at least one row.
    """
    lengths = [len(machine.scores) for machine in machines]
    starts = np.cumsum([0, *lengths[:-1]])
    positive = np.concatenate([machine.positive for machine in machines])
    weights = np.concatenate([machine.weights for machine in machines])
    scores = np.concatenate([machine.scores for machine in machines])

    def spread(numbers: Floats) -> Floats:
        return np.repeat(numbers, lengths)

    pros = np.add.reduceat(np.where(positive, weights, 0.0), starts)
    cons = np.add.reduceat(np.where(positive, 0.0, weights), starts)
    high, low = (pros + 1.0) / (pros + 2.0), 1.0 / (cons + 2.0)
    targets = np.where(positive, spread(high), spread(low))
    size = np.maximum.reduceat(np.abs(scores), starts)
    size[size == 0.0] = 1.0
    shares = weights / spread(pros + cons)
    mean = np.add.reduceat(shares * targets, starts)
    begin = np.stack((np.zeros(len(mean)), np.log((1.0 - mean) / mean)))
    task = _Likelihood(scores / spread(size), targets, shares, starts, np.asarray(lengths))
    found = _newton(begin, task)
    falls = found[0] > 0.0
    found[:, falls] = begin[:, falls]  # the best that does not fall: the share of the class
    return [Sigmoid(*map(float, each)) for each in zip(found[0] / size, found[1], strict=True)]


@dataclass(frozen=True)
class _Likelihood:
    """Means of ``t z + log(1 + exp(-z))``, ``z = A f + B``, over the rows of every machine."""

    f: Floats
    targets: Floats
    weights: Floats
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def mean(self, values: Floats) -> Floats:
        """Return the weighted sum of each machine."""
        return np.add.reduceat(self.weights * values, self.starts)

    def arguments(self, points: Floats) -> Floats:
        """Return z."""
        slope, offset = np.repeat(points, self.lengths, axis=1)
        return np.asarray(slope * self.f + offset)

    def value(self, points: Floats) -> Floats:
        """Return what is to be as small as possible."""
        z = self.arguments(points)
        softplus = np.maximum(-z, 0.0) + np.log1p(np.exp(-np.abs(z)))
        return self.mean(self.targets * z + softplus)

    def derivatives(self, points: Floats) -> tuple[Floats, Floats]:
        """Return gradients, and second derivatives: by A twice, by A and B, by B twice."""
        p = logistic(-self.arguments(points))
        pull, curve = self.targets - p, p * (1.0 - p)
        gradient = np.stack((self.mean(pull * self.f), self.mean(pull)))
        cross = curve * self.f
        return gradient, np.stack((self.mean(cross * self.f), self.mean(cross), self.mean(curve)))


def _newton(points: Floats, task: _Likelihood) -> Floats:
    """Minimise for every machine; one that is at its minimum stays there."""
    points, values = points.copy(), task.value(points)
    moving = np.ones(len(values), dtype=bool)
    for _ in range(_STEPS):
        gradient, (aa, ab, bb) = task.derivatives(points)
        moving &= np.max(np.abs(gradient), axis=0) >= _FLAT
        if not moving.any():
            break
        aa, bb = aa + _RIDGE, bb + _RIDGE
        direction = np.stack(
            (ab * gradient[1] - bb * gradient[0], ab * gradient[0] - aa * gradient[1])
        )
        direction /= aa * bb - ab * ab
        slopes, steps = np.sum(gradient * direction, axis=0), np.where(moving, 1.0, 0.0)
        while True:
            candidates = points + steps * direction
            lower = task.value(candidates)
            too_high = moving & ~(lower <= values + _SUFFICIENT * steps * slopes)
            steps[too_high] *= 0.5
            # One whose steps have become too short is as good as it gets.
            ends = too_high & (steps < _SHORTEST_STEP)
            moving &= ~ends
            steps[ends] = 0.0
            if not (too_high & ~ends).any():
                break
        points[:, moving], values[moving] = candidates[:, moving], lower[moving]
    return points


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


def shared_out(against_rest: Floats) -> Floats:
    """Return probabilities of classes from those of every class against the rest.

    Parameters
    ----------
    against_rest : ndarray of shape (n_samples, n_classes)
        The probability of each class for itself.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        The same in proportion, each row adding up to 1.
    """
    inside = np.clip(against_rest, _NEAREST, 1.0)
    return np.asarray(inside / inside.sum(axis=1, keepdims=True))


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
