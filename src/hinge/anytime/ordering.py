r"""Orders of basis points: which points tell most about a machine, one after the other.

Every order but the given one is greedy, through one column of a pivoted Cholesky factorisation a
step. For a candidate c with residual :math:`r_c` of its own image outside the span so far, and the
residual of W at it, :math:`f_c = \langle W_\perp, \Phi(c) \rangle`, choosing c would take
:math:`f_c^2 / r_c` off :math:`\|W_\perp\|^2`: all candidates are compared at once, and a step costs
one kernel column and the product of it with those before.

- ``given``: as the candidates come;
- ``sgma``: what takes most off the trace of the candidates' kernel matrix, of 59 drawn a step;
- ``minwz``: what leaves least of W (eq. 25, of all :math:`i \le k`; of several functions, of the
  sum of their shares);
- ``meanlh``: what leaves least of the wrong side of sample queries between their bounds (eq. 26);
- ``hybrid``: of those within a hundredth of the best of ``minwz``, the best of ``meanlh``.

Support vectors are always candidates; of the others 59 are drawn a step, of which the best is among
the best twentieth with probability 0.95.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.embedding import kernel_block
from hinge.anytime.functions import Check, Functions
from hinge.errors import InvalidParameterError, unknown_name
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

ORDERINGS = ("given", "sgma", "minwz", "meanlh", "hybrid")
DRAWN = 59
_TIE = 1.01  # costs within a hundredth are the same
_DEPENDENT = 1e-9  # of its squared length: what is left of an image that the span nearly holds
_COLUMN_BYTES = 1 << 28  # memory for the columns of the factorisation
_CHECKED_VALUES = 1 << 22


@dataclass(frozen=True)
class Candidates:
    """Points to choose from.

    Parameters
    ----------
    rows : Rows
        The points, the distinct support vectors first.
    n_always : int
        How many of them are looked at in every step.
    """

    rows: Rows
    n_always: int


def ordered(
    name: str,
    functions: Functions,
    candidates: Candidates,
    count: int,
    queries: Rows | None = None,
    seed: int = 0,
    check: Check | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Ids:
    """Return which candidates to take as basis points, in their order.

    Parameters
    ----------
    name : {"given", "sgma", "minwz", "meanlh", "hybrid"}
        The order.
    functions : Functions
        The machine's functions.
    candidates : Candidates
        The points to choose from.
    count : int
        How many to choose; fewer where the others depend on them.
    queries : Rows or None, default=None
        Sample queries, which ``meanlh`` and ``hybrid`` need.
    seed : int, default=0
        Of the draws.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    report : callable or None, default=None
        Called before every step with how many points there are, and how many there may be.

    Returns
    -------
    ndarray of int64
        Numbers of candidates.
    """
    if name not in ORDERINGS:
        raise unknown_name(name, "ordering", ORDERINGS)
    if name in ("meanlh", "hybrid") and queries is None:
        message = f"the ordering {name!r} is tuned on sample queries; give queries."
        raise InvalidParameterError(message)
    room = max(2, _COLUMN_BYTES // (8 * max(1, candidates.rows.n_rows)))
    most = min(count, candidates.rows.n_rows, room)
    run = _Greedy(functions, candidates, most, check, report)
    sample = None
    if queries is not None and name in ("meanlh", "hybrid"):
        sample = _Sample(functions, candidates.rows, queries)
    generator = np.random.default_rng(seed)
    return run.chosen(name, sample, generator)


class _Greedy:
    """A pivoted Cholesky factorisation of the candidates' kernel matrix, as far as it has gone."""

    def __init__(
        self,
        functions: Functions,
        candidates: Candidates,
        count: int,
        check: Check | None,
        report: Callable[[int, int], None] | None,
    ) -> None:
        rows, self.report = candidates.rows, report
        self.functions, self.candidates, self.check = functions, candidates, check
        self.side = functions.side(rows, rows, np.float64)
        self.columns = np.zeros((count, rows.n_rows))
        self.own = self.side.diagonal.copy()
        self.least = _DEPENDENT * self.own
        self.left = functions.values(rows, check)
        self.squares = np.maximum(np.sum(functions.coef * functions.at_terms, axis=0), 0.0)
        self.weights = np.divide(
            1.0, self.squares, out=np.zeros_like(self.squares), where=self.squares > 0.0
        )

    def chosen(self, name: str, sample: _Sample | None, generator: np.random.Generator) -> Ids:
        """Return the points, in their order."""
        found: list[int] = []
        open_ones = self.own > 0.0
        for step in range(len(self.columns)):
            if self.check is not None:
                self.check()
            if self.report is not None:
                self.report(step, len(self.columns))
            open_ones &= self.own > self.least
            looked_at = self._looked_at(name, open_ones, generator)
            if len(looked_at) == 0:
                break
            best = self._best(name, looked_at, step, sample)
            gain = self._take(best, step)
            open_ones[best] = False
            if sample is not None:
                sample.take(self, best, step, gain)
            found.append(best)
        return np.asarray(found, dtype=np.int64)

    def _looked_at(
        self, name: str, open_ones: NDArray[np.bool_], generator: np.random.Generator
    ) -> Ids:
        """Return the candidates of a step."""
        n = self.candidates.n_always
        if name == "given":
            return np.flatnonzero(open_ones)[:1]
        if name == "sgma":
            return _drawn(np.flatnonzero(open_ones), generator)
        others = n + np.flatnonzero(open_ones[n:])
        return np.concatenate((np.flatnonzero(open_ones[:n]), _drawn(others, generator)))

    def _best(self, name: str, looked_at: Ids, step: int, sample: _Sample | None) -> int:
        """Return the candidate that the order prefers; the first of equals."""
        if name == "given":
            return int(looked_at[0])
        if name == "sgma":
            residual = self._residual_columns(looked_at, step)
            return int(looked_at[np.argmax(np.sum(residual**2, axis=1) / self.own[looked_at])])
        gains = self.left[looked_at] ** 2 / self.own[looked_at, None]
        costs = np.sqrt(np.maximum((self.squares - gains) @ self.weights, 0.0))
        if sample is None:
            return int(looked_at[np.argmin(costs)])
        if name == "hybrid":
            tied = costs <= _TIE * costs.min()
            looked_at = looked_at[tied]
        return int(looked_at[np.argmin(sample.costs(self, looked_at))])

    def _residual_columns(self, numbers: Ids, step: int) -> Floats:
        """Return what is left of the kernel columns of some candidates."""
        values = kernel_block(self.side, self.side, numbers, None, len(self.side))
        values -= self.columns[:step, numbers].T @ self.columns[:step]
        return np.asarray(values)

    def _take(self, best: int, step: int) -> Floats:
        """Add a point to the span; return its coordinate of every W."""
        length = np.sqrt(self.own[best])
        column = self._residual_columns(np.array([best]), step)[0] / length
        gain = self.left[best] / length
        self.columns[step] = column
        self.left -= column[:, None] * gain
        self.own -= column**2
        self.own[best] = 0.0
        self.squares = np.maximum(self.squares - gain**2, 0.0)
        return np.asarray(gain)


def _drawn(numbers: Ids, generator: np.random.Generator) -> Ids:
    """Return at most 59 of the numbers, in rising order."""
    if len(numbers) <= DRAWN:
        return numbers
    return np.sort(generator.choice(numbers, size=DRAWN, replace=False))


class _Sample:
    """Sample queries: what the candidates' images have in common with what is left of theirs."""

    def __init__(self, functions: Functions, candidates: Rows, queries: Rows) -> None:
        points = functions.side(queries, queries, np.float64)
        terms = functions.side(candidates, queries, np.float64)
        numbers = np.arange(candidates.n_rows)
        self.common = kernel_block(points, terms, numbers, None, queries.n_rows)
        self.own = points.diagonal.copy()
        self.values = np.tile(functions.intercept, (queries.n_rows, 1))
        full = functions.values(queries) + functions.intercept
        self.signs = np.where(full >= 0.0, 1.0, -1.0)

    def costs(self, run: _Greedy, numbers: Ids) -> Floats:
        """Return eq. 26 for every candidate, summed over the functions."""
        costs = np.zeros(len(numbers))
        size = max(1, _CHECKED_VALUES // max(1, len(self.own)))
        for first in range(0, len(numbers), size):
            some = numbers[first : first + size]
            lengths = np.sqrt(run.own[some])[:, None]
            q = self.common[some] / lengths
            reach = np.sqrt(np.maximum(self.own - q**2, 0.0))
            for f, weight in enumerate(run.weights):
                gain = run.left[some, f][:, None] / lengths
                outside = np.sqrt(np.maximum(run.squares[f] - gain**2, 0.0))
                worst = self.signs[:, f] * (self.values[:, f] + gain * q) - outside * reach
                costs[first : first + size] -= np.sqrt(weight) * np.minimum(worst, 0.0).sum(axis=1)
        return costs

    def take(self, run: _Greedy, best: int, step: int, gain: Floats) -> None:
        """Take a point into the span."""
        length = run.columns[step, best]
        q = self.common[best] / length
        self.common -= run.columns[step][:, None] * q
        self.own = np.maximum(self.own - q**2, 0.0)
        self.values += q[:, None] * gain
