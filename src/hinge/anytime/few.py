"""A few queries at a time: the same bounds with next to no arithmetic in Python.

For one query the many small arrays of a stage cost more than its sums. All bounds grow with the
norm of a query; so they are computed once, for a norm beyond that of the support vectors, and hold
for every query of at most that norm. Whatever this leaves open goes the usual way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import Rule
from hinge.anytime.sides import Side
from hinge.anytime.single import SingleSums
from hinge.anytime.tabled import TabledStage, TabledSums
from hinge.kernels import RBF
from hinge.machines.native_rows import self_sums, view
from hinge.rows import Rows

Floats = NDArray[np.float64]

MOST = 16  # queries that are few
_ROOM = 1.5  # by how much a query's norm may exceed those of the support vectors


@dataclass(frozen=True)
class _Limits:
    """What holds for all queries of at most some norm, dense or sparse.

    Parameters
    ----------
    wide, narrow : float
        The squared norms, from the centres of the full evaluation and of float32.
    full : ndarray of shape (n_functions,)
        What rounding may do to the full evaluation.
    share, fixed : float, ndarray of shape (n_functions,)
        What rounding may do in float32: a share of the sizes that were summed, and so much more.
    kept : core.KeptTerms
        The packed terms.
    """

    wide: float
    narrow: float
    full: Floats
    share: float
    fixed: Floats
    kept: Any


class FewQueries:
    """Labels of a few queries.

    Parameters
    ----------
    functions : Functions
        The functions, of an RBF kernel.
    sides : Sides
        What queries meet.
    rule : Rule
        What makes labels of values.
    table : TabledStage or None
        The table of kernel values, if the plan uses it; else sums are made in float32.
    """

    def __init__(
        self, functions: Functions, sides: Sides, rule: Rule, table: TabledStage | None
    ) -> None:
        self._functions, self._sides, self._rule = functions, sides, rule
        self._table = None if table is None else TabledSums(functions, table.table)
        self._sums = SingleSums.of(functions)
        self._limits: dict[bool, _Limits] = {}

    @staticmethod
    def takes(functions: Functions) -> bool:
        """Return whether bounds grow with norms alone, and kernel values are at most 1.

        Parameters
        ----------
        functions : Functions
            The functions.
        """
        native = functions.native
        return isinstance(native.kernel, RBF) and not native.is_normalised

    def codes(self, rows: Rows) -> NDArray[np.intp] | None:
        """Return the codes of queries, if all are proven; else None.

        Parameters
        ----------
        rows : Rows
            The queries.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._codes(rows)

    def _codes(self, rows: Rows) -> NDArray[np.intp] | None:
        limits = self._limits.get(rows.is_sparse)
        if limits is None:
            limits = self._limits[rows.is_sparse] = self._measured(rows)
        wide = self._self_sums(rows, self._functions.centre(rows))
        if not wide.max() <= limits.wide:
            return None
        if self._table is not None:
            found = self._table.intervals(Queries(self._sides, rows), np.arange(rows.n_rows))
        else:
            bounds = self._single(rows, limits, wide)
            if bounds is None:
                return None
            found = bounds
        settled, codes = self._rule.settled(found[0] - limits.full, found[1] + limits.full)
        return codes if settled.all() else None

    def _single(self, rows: Rows, limits: _Limits, wide: Floats) -> tuple[Floats, Floats] | None:
        """Return bounds by sums in float32."""
        functions = self._functions
        centre = functions.centre(rows, np.float32)
        narrow = wide if centre is functions.centre(rows) else self._self_sums(rows, centre)
        if not narrow.max() <= limits.narrow:
            return None
        native = functions.native
        selfs = narrow.astype(np.float32)
        points = core.KernelRowsFloat(view(rows), native.choice, selfs, None, centre)
        sums = np.empty((rows.n_rows, len(functions.intercept) + 1))
        limits.kept.sums(points, 0, None, sums)
        values = sums[:, :-1] + functions.intercept
        errors = sums[:, -1:] * limits.share + limits.fixed + 1e-15 * np.abs(values)
        lower, upper = values - errors, values + errors
        return (lower, upper) if np.isfinite(upper - lower).all() else None

    def _self_sums(self, rows: Rows, centre: Floats | None) -> Floats:
        if centre is None:
            return rows.squared_norms
        return self_sums(self._functions.native, view(rows), centre, np.float64)

    def _measured(self, like: Rows) -> _Limits:
        """Return the limits for dense or for sparse queries, from the general bounds."""
        functions = self._functions
        support = self._sides.get("support", functions.machine.support, like, np.float64)
        terms = self._sides.get("terms", functions.terms, like, np.float32)
        one = np.array([0])
        wide, narrow = (_beyond(side.part(one), side) for side in (support, terms))
        full = functions.full_errors(wide, support)[0]
        # The bounds are an affine function of the sizes that were summed: two of them give it.
        sizes = np.zeros((1, len(functions.intercept) + 1))
        none = self._sums.errors(sizes, narrow, terms)[0]
        sizes[:, -1] = 1.0
        share = float(np.max(self._sums.errors(sizes, narrow, terms)[0] - none))
        return _Limits(
            _squared(wide),
            _squared(narrow),
            full * (1.0 + 1e-12),
            share * (1.0 + 1e-6),
            none * (1.0 + 1e-6),
            core.KeptTerms(terms.rows, np.ascontiguousarray(functions.coef.T)),
        )


def _beyond(point: Side, side: Side) -> Side:
    """Return a point of a norm that is beyond those of a side."""
    return replace(point, norms=np.array([_ROOM * float(np.max(side.norms))]))


def _squared(point: Side) -> float:
    """Return the largest computed squared norm that is certainly below that of the point."""
    return float(point.norms[0]) ** 2 * (1.0 - 1e-6)
