"""Stages: bounds on decision values, at growing cost, for queries that are still open.

A stage looks at the open queries of a panel and reports intervals of their decision values to
``settle``, which says which of them stay open; a stage of several steps leaves the others out from
then on. Intervals hold the true values; what the rounding of the full evaluation may add is the
business of ``settle``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.embedding import Embedding, kernel_block
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries
from hinge.anytime.sides import magnitudes, value_errors
from hinge.inequality import rounding_factor, score_bounds

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
# Takes numbers of queries, lower and upper bounds, and the kernel values that each has cost since
# the last report; returns which of them stay open.
Settle = Callable[[Ids, Floats, Floats, int], NDArray[np.bool_]]


class Stage(Protocol):
    """One way to bound decision values."""

    @property
    def name(self) -> str:
        """What it is called."""

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound the values of some queries, reporting to ``settle`` after every step.

        Parameters
        ----------
        queries : Queries
            The batch.
        ids : ndarray of int64
            Numbers of the open queries.
        settle : callable
            Where to report.
        terms_left : int
            How many kernel values a query may still cost.
        """


@dataclass(frozen=True)
class EmbeddingStage:
    """The Cholesky embedding: an interval after every exit, most queries out after the first.

    Parameters
    ----------
    functions : Functions
        The functions.
    embedding : Embedding
        Their embedding.
    exits : tuple of int
        Which of the embedding's exits are used, by position.
    n_coordinates : int
        For how many points coordinates of the queries are computed; beyond them the part of a
        query outside the span is not looked at again.
    """

    functions: Functions
    embedding: Embedding
    exits: tuple[int, ...]
    n_coordinates: int
    name: str = "embedding"

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound values exit by exit."""
        embedding = self.embedding
        points = queries.side(np.float64)
        terms = queries.terms("basis", embedding.basis, np.float64)
        relative, absolute = value_errors(points.part(ids), terms)
        own = points.diagonal[ids]
        with np.errstate(invalid="ignore", over="ignore"):
            computed = (magnitudes(points.part(ids), terms) + absolute) * (1.0 + 2.0 * relative)
        exits = [embedding.exits[k] for k in self.exits if embedding.exits[k].count <= terms_left]
        most = exits[-1].count if exits else 0
        values = np.empty((most, len(ids)))
        squares = np.zeros(len(ids))
        outside = own.copy()
        done = coordinates = 0
        for one in exits:
            numbers = np.arange(done, one.count)
            values[done : one.count] = kernel_block(points, terms, numbers, ids, len(ids))
            cost, done = one.count - done, one.count
            last = min(done, self.n_coordinates)
            # What rounding does to one kernel value and to its part in a sum, at the most.
            error = (relative + rounding_factor(done + 4)) * computed + absolute
            if last > coordinates:
                q = embedding.triangle[coordinates:last, :last] @ values[:last]
                squares += np.einsum("ij,ij->j", q, q)
                coordinates = last
                outside = self._outside(squares, own, error, last)
            f = values[:done].T @ one.coef + self.functions.intercept
            rounding = error[:, None] * one.total + np.sqrt(own)[:, None] * one.slack
            lower, upper = _intervals(f, np.sqrt(outside), one.residual, rounding)
            open_ones = settle(ids, lower, upper, cost)
            if not open_ones.any():
                return
            if one is not exits[-1] and not open_ones.all():
                ids = ids[open_ones]
                kept = np.empty((most, len(ids)))
                np.compress(open_ones, values[:done], axis=1, out=kept[:done])
                values = kept
                squares, outside, own = squares[open_ones], outside[open_ones], own[open_ones]
                relative, absolute = relative[open_ones], absolute[open_ones]
                computed = computed[open_ones]

    def _outside(self, squares: Floats, own: Floats, error: Floats, last: int) -> Floats:
        """Return bounds on the squared part of every query outside the span."""
        held = np.sqrt(squares) * (1.0 - rounding_factor(last + 8))
        with np.errstate(invalid="ignore"):
            held = np.maximum(held - error * self.embedding.spread[last - 1] * 1.0001, 0.0)
        held = np.where(np.isfinite(held), held, 0.0)
        outside = own - held**2 / (1.0 + self.embedding.defect[last - 1]) * (1.0 - 1e-14)
        return np.asarray(np.maximum(outside, 0.0) + 1e-15 * own)


def _intervals(
    f: Floats, reach: Floats, residual: Floats, rounding: Floats
) -> tuple[Floats, Floats]:
    """Return bounds on every function's values, by the one inequality; infinite if unknown."""
    lower, upper = np.empty_like(f), np.empty_like(f)
    with np.errstate(invalid="ignore", over="ignore"):
        for k in range(f.shape[1]):
            bounds = score_bounds(f[:, k], reach, float(residual[k]), rounding[:, k])
            lower[:, k], upper[:, k] = bounds
    return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
