r"""Errors of many kernel machines on the same rows, most of which are decided by a bound.

Machines along a path, or during training, differ little. With the function f' of the *reference*
machine, whose values at all rows are known, and the function f of another with coefficients
:math:`a = a' + d` of the same training rows,

.. math:: |f(x) - f'(x)| \le \|w - w'\| \sqrt{k(x, x)}, \qquad \|w - w'\|^2 = d'Kd
          \le \Big(\sum_i |d_i| \sqrt{k_{ii}}\Big)^2 .

Rows whose side this decides are not looked at. For the others the terms :math:`d_i k(x_i, x)` are
added, the largest first, until what is left of them cannot change the side; those that rounding
alone could move are evaluated in full. The square is summed over the changes: the difference of
two squared norms, which are nearly the same, would be rounding. When too many rows are open the
machine becomes the new reference.

For machines that come one at a time. Where all of them are known beforehand one pass over the rows
with a column of coefficients for each is faster (``docs/user_guide/evaluate_often.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.inequality import UNIT_ROUNDOFF, rounding_factor, score_bounds
from hinge.kernels import Kernel
from hinge.machines.block import kernel_block
from hinge.machines.decision import decision_values
from hinge.machines.source import source
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_TERMS = 128  # kernel functions that are added between two looks at what is open
_ROWS_A_CALL = 4096
_TOO_MANY = 0.5  # share of open rows, weighed by their terms, that makes a new reference
_VALUES_A_CALL = 1 << 22


@dataclass(frozen=True)
class Errors:
    """How many rows a machine gets wrong.

    Parameters
    ----------
    count : int
        Rows on the wrong side; a value of zero is on the side of the first class.
    computed : int
        Kernel values that it took.
    examined : int
        Rows that no bound decided before a kernel value of theirs was computed.
    """

    count: int
    computed: int
    examined: int


class KernelMarginIndex:
    """Counts the errors of kernel machines over the same training rows.

    Parameters
    ----------
    kernel : Kernel
        A resolved kernel, positive semidefinite.
    training : Rows
        The rows whose kernel functions the machines are sums of.
    X : Rows
        The rows to classify.
    signs : ndarray of shape (n_rows,)
        Their classes, -1 or 1.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    """

    def __init__(
        self,
        kernel: Kernel,
        training: Rows,
        X: Rows,
        signs: NDArray[Any],
        check: Check | None = None,
    ) -> None:
        self.kernel, self.training, self.X = kernel, training, X
        self.positive = np.asarray(signs) > 0
        self._check = check
        self._source = source(kernel, training)
        self._source.check = check
        self._norms = np.sqrt(kernel.training_diagonal_above(training))
        self._lengths = np.sqrt(_diagonal_above(kernel, X))
        self._relative = _relative_error(kernel, training, X)
        self._coef: Floats | None = None
        self._values = np.zeros(X.n_rows)

    def errors(self, coef: Floats, intercept: float) -> Errors:
        """Return how many rows a machine gets wrong, the same number as by evaluating all.

        Parameters
        ----------
        coef : ndarray of shape (n_training,)
            Its coefficients times signs, zero for rows that are no support vectors.
        intercept : float
            Its intercept.
        """
        if self._coef is None:
            return self._refer(coef, intercept, 0)
        change = coef - self._coef
        changed = np.flatnonzero(change)
        sizes = np.abs(change[changed]) * self._norms[changed]
        order = np.argsort(-sizes, kind="stable")
        changed, sizes = changed[order], sizes[order]
        slack = self._slack(coef)
        radius, computed = self._distance(changed, change[changed], float(np.sum(sizes)))
        values = self._values + intercept
        open_rows = self._open(values, radius, slack)
        n_support = int(np.count_nonzero(coef))
        if len(open_rows) * len(changed) > _TOO_MANY * self.X.n_rows * max(1, n_support):
            return self._refer(coef, intercept, computed)
        is_positive = values > 0.0
        examined = len(open_rows)
        rest = np.append(np.cumsum(sizes[::-1])[::-1], 0.0)
        partial = values[open_rows]
        for first in range(0, len(changed), _TERMS):
            if len(open_rows) == 0:
                break
            some = changed[first : first + _TERMS]
            partial = partial + self._sums(some, change[some], open_rows)
            computed += len(some) * len(open_rows)
            left = min(float(rest[min(first + _TERMS, len(changed))]), math.inf)
            lower, upper = score_bounds(partial, self._lengths[open_rows], left, slack[open_rows])
            decided = (lower > 0.0) | (upper < 0.0)
            is_positive[open_rows[decided]] = partial[decided] > 0.0
            open_rows, partial = open_rows[~decided], partial[~decided]
        if len(open_rows):  # rounding could move them: they are evaluated as everywhere
            exact = self._evaluate(coef, open_rows) + intercept
            computed += n_support * len(open_rows)
            is_positive[open_rows] = exact > 0.0
        return Errors(int(np.count_nonzero(is_positive != self.positive)), computed, examined)

    def _refer(self, coef: Floats, intercept: float, computed: int) -> Errors:
        """Evaluate all rows and make the machine the reference."""
        everything = np.arange(self.X.n_rows)
        self._coef = coef.copy()
        self._values = self._evaluate(coef, everything)
        wrong = (self._values + intercept > 0.0) != self.positive
        computed += int(np.count_nonzero(coef)) * self.X.n_rows
        return Errors(int(np.count_nonzero(wrong)), computed, self.X.n_rows)

    def _evaluate(self, coef: Floats, rows: Ids) -> Floats:
        """Return decision values without intercept, with the bits that they have everywhere."""
        ids = np.flatnonzero(coef)
        support = self.training.take(ids) if self.kernel.knows_new_rows else ids
        some = self.X if len(rows) == self.X.n_rows else self.X.take(rows)
        if len(ids) == 0:
            return np.zeros(len(rows))
        return decision_values(self.kernel, support, coef[ids], some, check=self._check)

    def _sums(self, ids: Ids, coef: Floats, rows: Ids) -> Floats:
        """Return what some kernel functions add up to at some rows."""
        support = self.training.take(ids) if self.kernel.knows_new_rows else ids
        found = np.empty(len(rows))
        for first in range(0, len(rows), _ROWS_A_CALL):
            if self._check is not None:
                self._check()
            some = rows[first : first + _ROWS_A_CALL]
            block = kernel_block(self.kernel, support, self.X.take(some))
            found[first : first + len(some)] = np.sum(coef[:, None] * block, axis=0)
        return found

    def _distance(self, ids: Ids, change: Floats, total: float) -> tuple[float, int]:
        """Return an upper bound on the distance of two machines, and the values it took.

        The square costs a value for every pair of changes; where these are more than the rows to
        classify have, the sum of their sizes must do.
        """
        m = len(ids)
        if m == 0 or m > self.X.n_rows:
            return total * (1.0 + rounding_factor(m + 2)), 0
        square = 0.0
        size = max(64, _VALUES_A_CALL // m)
        for first in range(0, m, size):
            some = slice(first, first + size)
            out = np.zeros(m)
            self._source.add(ids[some], change[some], out, ids, exact=True)
            square += float(change @ out)
        square = max(square * self._source.unit, 0.0)
        rounding = (2.0 * rounding_factor(m + 4) + self._relative) * total * total
        return min(total, math.sqrt(square + rounding)) * (1.0 + 8.0 * UNIT_ROUNDOFF), m * m

    def _open(self, values: Floats, radius: float, slack: Floats) -> Ids:
        """Return the rows whose side a distance of machines leaves open."""
        lower, upper = score_bounds(values, self._lengths, radius, slack)
        return np.flatnonzero(~((lower > 0.0) | (upper < 0.0)))

    def _slack(self, coef: Floats) -> Floats:
        """Return bounds on the rounding of values, those of the reference included."""
        assert self._coef is not None
        total = float(np.abs(coef) @ self._norms) + float(np.abs(self._coef) @ self._norms)
        unit = 4.0 * rounding_factor(len(coef) + 16) + 4.0 * self._relative
        return unit * total * self._lengths


def _diagonal_above(kernel: Kernel, X: Rows) -> Floats:
    """Return upper bounds on the kernel of rows with themselves; infinite if it is a matrix."""
    if not kernel.knows_new_rows:
        return np.full(X.n_rows, np.inf)
    return kernel.training_diagonal_above(X)


def _relative_error(kernel: Kernel, training: Rows, X: Rows) -> float:
    """Return a bound on the error of a kernel value, in units of the lengths of its two images."""
    norms = [float(np.max(r.norm_bounds(r.squared_norms), initial=0.0)) for r in (training, X)]
    largest, terms = max(norms), max(training.longest_row, X.longest_row)
    relative, absolute = kernel.core.block_error(np.array([largest]), largest, terms)
    least = min(
        float(np.min(_diagonal_above(kernel, rows), initial=math.inf)) for rows in (training, X)
    )
    share = float(absolute[0]) / least if least > 0.0 else math.inf
    return float(relative[0]) + (share if absolute[0] > 0.0 else 0.0)
