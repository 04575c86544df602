r"""The nearest points of hulls, by an active set: the small problem inside a hard margin.

.. math:: \min_a \tfrac12 \Bigl\|\sum_i a_i z_i\Bigr\|^2, \qquad a \ge 0, \qquad
          \sum_{i \in g} a_i = 1 \text{ for every group } g,

where :math:`z_i = y_i x_i`. With one group this is the point of a hull that is nearest to the
origin; with a group for each class, the shortest line between two hulls. Rows with ``a > 0`` are
the *support*. A step takes the rows that the present shortest vector v violates most into the
support (one, or some if it is large) and minimises over the flat through it; while that leaves the
hull, it stops where it does and drops what has become zero. The vector gets shorter with every
step, so no support comes back.

Matrices are kept as a Cholesky factor of ``Z Z' + s A'A`` over the support, A being the sums of the
groups, which is positive definite where the support is affinely independent. Errors of that
squared matrix are taken out again by residuals of Z itself.

Reference: P. Wolfe, Finding the nearest point in a polytope, 1976; A. Bjorck, Numerical methods for
least squares problems, 1996, section 6.6 (corrected seminormal equations). Ours: several groups.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.inequality import rounding_factor

Floats = NDArray[np.float64]

_ENOUGH = 1e-12  # a violation this small, in squares of v, is none
_FLAT = 1e-13  # a row this near, in the largest norm, to the flat of the others is on it
_ZERO = 1e-14  # a vector this short, in the largest norm, is zero: the hulls meet
_REFINEMENTS = 2
_NO_NUMBERS = "the rows of the support have left the range of floating point"
_SHARE = 16  # of the support, the part that may enter or leave at once


class NearestPoints:
    """The nearest points of the hulls of some rows, improved step by step.

    Parameters
    ----------
    rows : ndarray or sparse array of shape (k, d)
        The vectors z.
    groups : ndarray of shape (k,)
        The group of every row, numbered from 0.
    weights : ndarray of shape (k,)
        Where to begin: weights that are not negative and sum up to 1 in every group; changed in
        place.

    Raises
    ------
    LinAlgError
        If numbers have left the range of floating point; the steps raise it as well.
    """

    def __init__(self, rows: Any, groups: NDArray[np.int64], weights: Floats) -> None:
        self.rows = rows
        self.groups = groups
        self.weights = weights
        products = rows.multiply(rows) if sp.issparse(rows) else np.square(rows)
        squares = np.asarray(products.sum(axis=1))
        self._largest = float(np.sqrt(np.max(squares))) or 1.0
        self.rejected = np.zeros(len(groups), dtype=bool)
        self._noise = 4.0 * rounding_factor(rows.shape[1]) * self._largest
        self._sums = np.zeros((int(groups.max()) + 1, len(groups)))
        self._sums[groups, np.arange(len(groups))] = 1.0
        self.support = np.flatnonzero(weights > 0.0)
        self._is_careful = False
        self._factorise()
        self._settle()

    @property
    def is_zero(self) -> bool:
        """Whether the hulls meet, so far as rounding can tell."""
        return float(np.linalg.norm(self.vector)) <= _ZERO * self._largest

    def improve(self) -> bool:
        """Do one step; return whether there was one to do."""
        if self.is_zero:
            return False
        scores = np.asarray(self.rows @ self.vector)
        levels = self._sums @ (self.weights * scores)
        violations = levels[self.groups] - scores
        violations[self.rejected] = -np.inf
        violations[self.support] = -np.inf
        square = float(self.vector @ self.vector)
        enough = _ENOUGH * square + self._noise * np.sqrt(square)
        count = 1 if self._is_careful else 1 + len(self.support) // _SHARE
        worst = np.argsort(-violations, kind="stable")[:count]
        worst = worst[violations[worst] > enough]
        if not len(worst):
            return False
        for row in worst:
            self.rejected[row] = not self._append(int(row))
        self._settle()
        # Of several rows some may be in the way of the others; of one this is rounding.
        is_shorter = float(self.vector @ self.vector) < square
        if not is_shorter and len(worst) == 1:
            self.rejected[worst] = True
        self._is_careful = not is_shorter and len(worst) > 1
        return True

    def _factorise(self) -> None:
        """Factorise the matrix of the support; rows that hardly count give way where it fails."""
        while True:
            self._part = self.rows[self.support]
            gram = self._part @ self._part.T
            matrix = np.asarray(gram.toarray() if sp.issparse(gram) else gram)
            same = self.groups[self.support][:, None] == self.groups[self.support][None, :]
            matrix = matrix + self._largest**2 * same
            try:
                factor = scipy.linalg.cholesky(matrix, lower=False, check_finite=False)
            except scipy.linalg.LinAlgError:
                weights = self._replaceable()
                if not np.min(weights) < np.inf:
                    raise np.linalg.LinAlgError(_NO_NUMBERS) from None
                self._drop(int(np.argmin(weights)))
                continue
            if not np.isfinite(factor).all():
                raise np.linalg.LinAlgError(_NO_NUMBERS)
            self._factor = np.asfortranarray(factor)
            return

    def _replaceable(self) -> Floats:
        """Return the weights of the support; infinity where a group has no other row."""
        counts = np.bincount(self.groups[self.support])
        alone = counts[self.groups[self.support]] == 1
        return np.where(alone, np.inf, self.weights[self.support])

    def _drop(self, place: int) -> None:
        """Take a row out of the support and share its weight out in its group."""
        row = self.support[place]
        self.rejected[row] = True
        self.weights[row] = 0.0
        self.support = np.delete(self.support, place)
        mates = self.support[self.groups[self.support] == self.groups[row]]
        self.weights[mates] /= self.weights[mates].sum()

    def _solve(self, right: Floats) -> Floats:
        """Solve with the matrix of the support; the factor is used in place, without a copy."""
        if right.ndim > 1:
            return np.stack([self._solve(column) for column in right.T], axis=1)
        half = scipy.linalg.blas.dtrsv(self._factor, right, trans=1)
        return np.asarray(scipy.linalg.blas.dtrsv(self._factor, half))

    def _append(self, row: int) -> bool:
        """Take a row into the support; return False if it lies in the flat of the others."""
        part, k = self._part, len(self.support)
        sums, groups, scale = self._sums[:, self.support], self.groups[self.support], self._largest
        # What is left of the row, and of its group's entry, beyond the span of the support's.
        left = np.asarray(self.rows[[row]].T @ np.ones(1))
        left_group = scale * self._sums[:, row]
        column = np.zeros(k)
        for _ in range(_REFINEMENTS):
            shares = self._solve(np.asarray(part @ left) + scale * left_group[groups])
            left = left - np.asarray(part.T @ shares)
            left_group = left_group - scale * (sums @ shares)
            column += self._factor @ shares
        height = float(np.sqrt(left @ left + left_group @ left_group))
        if not height > _FLAT * scale:
            return False
        grown = np.zeros((k + 1, k + 1), order="F")
        grown[:k, :k] = self._factor
        grown[:k, k] = column
        grown[k, k] = height
        self._factor = grown
        self.support = np.append(self.support, row)
        self._part = self.rows[self.support]
        return True

    def _settle(self) -> None:
        """Go to the shortest vector of the support's flat, dropping rows on the way there."""
        while True:
            aim = self._shortest()
            if not np.isfinite(aim).all():
                raise np.linalg.LinAlgError(_NO_NUMBERS)
            now = self.weights[self.support]
            if np.min(aim) > 0.0:
                self.weights[self.support] = aim
                self.vector = self._vector(aim)
                return
            falling = aim <= 0.0
            lengths = np.where(falling, now / np.where(falling, now - aim, 1.0), np.inf)
            lengths[falling & (now <= 0.0)] = 0.0
            length = float(np.min(lengths))
            moved = np.maximum(now + length * (aim - now), 0.0)
            moved[int(np.argmin(lengths))] = 0.0
            self.weights[self.support] = moved
            self._keep((moved > 0.0) | ((now <= 0.0) & ~falling))

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        """Leave only some rows in the support; few are taken out of the factor, many make it anew.

        A factor without one of its columns is made triangular again by rotations.
        """
        places = np.flatnonzero(~kept)
        self.support = self.support[kept]
        if len(places) > 1 + len(self.support) // _SHARE:
            self._factorise()
            return
        for place in places[::-1]:
            k = len(self._factor)
            rotated = scipy.linalg.qr_delete(
                np.eye(k), self._factor, int(place), which="col", check_finite=False
            )[1]
            self._factor = np.asfortranarray(rotated[: k - 1])
        self._part = self.rows[self.support]

    def _shortest(self) -> Floats:
        """Return the weights of the shortest vector in the flat of the support."""
        sums, part = self._sums[:, self.support], self._part
        self._to_sums = self._solve(sums.T)
        weights = self._to_sums @ np.linalg.solve(sums @ self._to_sums, np.ones(len(sums)))
        for _ in range(_REFINEMENTS):
            lack = 1.0 - sums @ weights
            weights = weights + self._correction(np.asarray(part @ (part.T @ weights)), lack)
        return np.asarray(weights / (sums @ weights)[self.groups[self.support]])

    def _vector(self, weights: Floats) -> Floats:
        """Return the sum of the weighted rows, corrected until its scores agree in every group.

        A short vector is a small difference of long ones: what their rounding leaves of it is
        put right in the vector, where a correction is exact, not in the weights.
        """
        part, none = self._part, np.zeros(len(self._sums))
        vector = np.asarray(part.T @ weights)
        for _ in range(_REFINEMENTS):
            vector = vector + np.asarray(part.T @ self._correction(part @ vector, none))
        return vector

    def _correction(self, scores: Floats, lack: Floats) -> Floats:
        """Return the change of weights, of the sums asked for, that makes scores equal by group."""
        sums, groups = self._sums[:, self.support], self.groups[self.support]
        means = (sums @ scores) / sums.sum(axis=1)
        change = -self._solve(scores - means[groups])
        lack = lack - sums @ change
        return np.asarray(change + self._to_sums @ np.linalg.solve(sums @ self._to_sums, lack))
