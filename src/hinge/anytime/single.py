r"""All distinct support vectors in float32, whose rounding leaves few signs open.

With computed kernel values that are within :math:`\rho |\hat k| + \alpha` of the true ones,

.. math:: \Bigl|\hat f(x) - \sum_i c_i k(z_i, x)\Bigr|
          \le (\rho + m u)\, g(x) + \alpha \sum_i |c_i| , \qquad
          g(x) = \sum_i |c_i|\,|\hat k(z_i, x)| ,

where m counts the roundings of a coefficient, a product and its sum. g is summed along with f. It
is far below :math:`\sum |c_i|` where kernel values fall off, which is where that sum is large. Of
several functions the largest :math:`|c_i|` counts, so that one g serves them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries
from hinge.anytime.sides import SINGLE_ROUNDOFF, Side, magnitudes, value_errors
from hinge.anytime.stages import Settle
from hinge.inequality import rounding_factor
from hinge.machines import Team
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

# Of one sum: a coefficient and a product are rounded, eight of these are added in a lane, the lanes
# in three steps, and the bound itself is rounded.
_ROUNDINGS = 16
_LOST = 1e-43  # what a product below the normal numbers of float32 may lose, a few times over
_BYTES = 1 << 28  # of packed support vectors
_PANEL_ROWS = 64
_MOST_DIRECT_FEATURES = 4096  # beyond it the compiled core keeps a number for every feature


def packed_bytes(terms: Rows) -> float:
    """Return how much memory packed support vectors take, at the most.

    Parameters
    ----------
    terms : Rows
        The support vectors.
    """
    panels = -(-terms.n_rows // _PANEL_ROWS)
    if terms.n_features <= _MOST_DIRECT_FEATURES:
        return 4.0 * _PANEL_ROWS * panels * terms.n_features
    kept = min(terms.n_features, _PANEL_ROWS * terms.longest_row)
    return 4.0 * panels * (terms.n_features + _PANEL_ROWS * kept)


@dataclass(frozen=True)
class SingleSums:
    """Some functions over some terms, in float32.

    Parameters
    ----------
    name : str
        What the terms are called among those that are kept.
    terms : Rows
        The terms, all distinct.
    coef : ndarray of shape (n_terms, n_functions)
        Their coefficients.
    total : ndarray of shape (n_functions,)
        Upper bounds on the sums of the absolute values of all coefficients, before any were added
        up.
    n_merged : int
        How many coefficients there were then.
    intercept : ndarray of shape (n_functions,)
        Intercepts.
    """

    name: str
    terms: Rows
    coef: Floats
    total: Floats
    n_merged: int
    intercept: Floats

    @staticmethod
    def of(functions: Functions) -> SingleSums:
        """Return all functions of a machine over all of its terms.

        Parameters
        ----------
        functions : Functions
            The functions.
        """
        merged = len(functions.machine.coefficients)
        return SingleSums(
            "terms",
            functions.terms,
            functions.coef,
            functions.total,
            merged,
            functions.intercept,
        )

    def intervals(
        self, queries: Queries, ids: Ids, team: Team | None = None
    ) -> tuple[Floats, Floats]:
        """Return bounds on the true decision values of some queries.

        Parameters
        ----------
        queries : Queries
            The batch.
        ids : ndarray of int64
            Which of them.
        team : Team or None, default=None
            Threads that share them out; None is the calling one.

        Returns
        -------
        lower, upper : ndarray of shape (n, n_functions)
            The bounds; infinite where nothing is proven.
        """
        terms = queries.terms(self.name, self.terms, np.float32)
        kept = queries.made(
            f"packed {self.name}", self.coef, lambda: core.KeptTerms(terms.rows, self._functions())
        )
        points = queries.side(np.float32)
        sums = np.empty((len(ids), self.coef.shape[1] + 1))
        everyone = len(ids) == queries.rows.n_rows

        def add_up(first: int, stop: int, threads: int) -> None:
            some = None if everyone else ids[first:stop]
            kept.sums(points.rows, first if everyone else 0, some, sums[first:stop], threads)

        (team or Team(check=queries.check)).over_columns(add_up, self.terms.n_rows, len(ids))
        part = points if everyone else points.part(ids)
        return self._bounds(sums, part, terms)

    def _functions(self) -> Floats:
        return np.ascontiguousarray(self.coef.T)

    def _bounds(self, sums: Floats, points: Side, terms: Side) -> tuple[Floats, Floats]:
        """Return the sums, less and plus what may be wrong with them."""
        with np.errstate(invalid="ignore", over="ignore"):
            values = sums[:, :-1] + self.intercept
            errors = self.errors(sums, points, terms) + 1e-15 * np.abs(values)
            lower, upper = values - errors, values + errors
        return np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)

    def errors(self, sums: Floats, points: Side, terms: Side) -> Floats:
        """Return what may be wrong with sums, before an intercept was added to them.

        Parameters
        ----------
        sums : ndarray of shape (n, n_functions + 1)
            The sums, and last the sizes that were summed.
        points, terms : Side
            The rows.

        Returns
        -------
        ndarray of shape (n, n_functions)
            The bounds; they grow with the norms of the points, and with the sizes as a line does.
        """
        relative, absolute = value_errors(points, terms)
        panels = -(-self.terms.n_rows // _PANEL_ROWS)
        with np.errstate(invalid="ignore", over="ignore"):
            factor = relative + _ROUNDINGS * SINGLE_ROUNDOFF + rounding_factor(panels)
            size = sums[:, -1:] * (1.0 + _ROUNDINGS * SINGLE_ROUNDOFF)
            lost = absolute[:, None] + _LOST
            # The coefficients of equal support vectors were added up, with as many roundings.
            merging = 2.0 * rounding_factor(self.n_merged) * magnitudes(points, terms)[:, None]
            errors = (factor * 1.001)[:, None] * size + (lost * 1.001 + merging) * self.total
            errors += 1e-15 * np.abs(self.intercept) + self.terms.n_rows * _LOST
        return np.asarray(errors)


@dataclass(frozen=True)
class SingleStage:
    """All functions over all terms.

    Parameters
    ----------
    functions : Functions
        The functions.
    """

    functions: Functions
    name: str = "float32"

    @property
    def is_possible(self) -> bool:
        """Whether there is memory for the packed terms."""
        return packed_bytes(self.functions.terms) <= _BYTES

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound values by one evaluation in float32."""
        functions = self.functions
        if functions.terms.n_rows > terms_left or not self.is_possible:
            return
        sums: Any = queries.made("sums", functions, lambda: SingleSums.of(functions))
        lower, upper = sums.intervals(queries, ids)
        settle(ids, lower, upper, functions.terms.n_rows)
