"""A few queries at a time: the same bounds with next to no arithmetic in Python.

For one query the many small arrays of a stage cost more than its sums. All bounds grow with the
norm of a query; so they are computed once, for a norm beyond that of the support vectors, and hold
for every query of at most that norm. Rows with zeros, which inner products skip, are summed in
float32 by inner products; others as whole multiples of a number, if they are such, else by
differences; what that leaves open in float64, over the same
packed terms, which are in the cache by then. Whatever is open after that is evaluated in full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.near import NearSums
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import Rule
from hinge.anytime.sides import Precision, Side
from hinge.anytime.single import SingleSums
from hinge.anytime.tabled import TabledStage, TabledSums
from hinge.anytime.whole import WholeSums
from hinge.kernels import RBF
from hinge.kernels.gamma import number
from hinge.machines.native_rows import self_sums, view
from hinge.rows import Rows

Floats = NDArray[np.float64]

MOST = 16  # queries that are few
_SAMPLE_ROWS = 256
_FULL_SHARE = 0.75  # of values that are not zero: above it the compiled core skips none
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
    near : tuple of NearSums or None
        What rounding may do to sums by differences in float32, and in float64.
    whole : WholeSums or None
        Sums over whole multiples, where the terms are such and have few zeros.
    is_full : bool
        Whether most values of the terms are not zero, so that inner products cost as much.
    """

    wide: float
    narrow: float
    full: Floats
    share: float
    fixed: Floats
    kept: Any
    near: tuple[NearSums | None, NearSums | None]
    whole: WholeSums | None
    is_full: bool


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

    def codes(self, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.intp]] | None:
        """Return which queries are proven, and the codes of those; None if no bound holds.

        Parameters
        ----------
        rows : Rows
            The queries.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            return self._codes(rows)

    def _codes(self, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.intp]] | None:
        limits = self._limits.get(rows.is_sparse)
        if limits is None:
            limits = self._limits[rows.is_sparse] = self._measured(rows)
        wide = self._self_sums(rows, self._functions.centre(rows))
        if not wide.max() <= limits.wide:
            return None
        if self._table is not None:
            found = self._table.intervals(Queries(self._sides, rows), np.arange(rows.n_rows))
            return self._settled(found, limits)
        centre = self._functions.centre(rows, np.float32)
        is_same = centre is self._functions.centre(rows)
        narrow = wide if is_same else self._self_sums(rows, centre)
        if not narrow.max() <= limits.narrow:
            return None
        settled, codes = self._settled(self._first(rows, narrow, limits), limits)
        if limits.near[1] is None or settled.all():
            return settled, codes
        last = self._near(rows, narrow, limits, np.float64)
        nearer, others = self._settled(last, limits)
        return settled | nearer, np.where(settled, codes, others)

    def _first(self, rows: Rows, selfs: Floats, limits: _Limits) -> tuple[Floats, Floats]:
        """Return bounds by what is cheapest for such rows."""
        if limits.whole is not None:
            found = limits.whole.intervals(rows, self._functions.intercept)
            if found is not None:
                return found
        if limits.is_full and limits.near[0] is not None:
            return self._near(rows, selfs, limits, np.float32)
        return self._single(rows, selfs, limits)

    def _settled(
        self, found: tuple[Floats, Floats], limits: _Limits
    ) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
        """Return which queries intervals settle, less what the full evaluation may be off by."""
        # Rules take nothing for proven that is no number: all of their comparisons are then false.
        return self._rule.settled(found[0] - limits.full, found[1] + limits.full)

    def _single(self, rows: Rows, selfs: Floats, limits: _Limits) -> tuple[Floats, Floats]:
        """Return bounds by sums in float32."""
        functions = self._functions
        centre = functions.centre(rows, np.float32)
        choice, narrow = functions.native.choice, selfs.astype(np.float32)
        points = core.KernelRowsFloat(view(rows), choice, narrow, None, centre)
        sums = np.empty((rows.n_rows, len(functions.intercept) + 1))
        limits.kept.sums(points, 0, None, sums)
        values = sums[:, :-1] + functions.intercept
        errors = sums[:, -1:] * limits.share + limits.fixed + 1e-15 * np.abs(values)
        return values - errors, values + errors

    def _near(
        self, rows: Rows, selfs: Floats, limits: _Limits, precision: Precision
    ) -> tuple[Floats, Floats]:
        """Return bounds by differences in float32, or by sums in float64."""
        functions = self._functions
        is_double = precision is np.float64
        kind: Any = core.KernelRowsDouble if is_double else core.KernelRowsFloat
        centre, choice = functions.centre(rows, np.float32), functions.native.choice
        points = kind(view(rows), choice, selfs.astype(precision, copy=False), None, centre)
        sums = np.empty((rows.n_rows, len(functions.intercept) + 2))
        (limits.kept.wide_sums if is_double else limits.kept.near_sums)(points, 0, sums)
        near = limits.near[is_double]
        assert near is not None
        return near.intervals(sums, functions.intercept)

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
        kernel: Any = functions.native.kernel
        gamma = number(kernel.gamma)
        is_full = self._filled(like) > _FULL_SHARE
        near = partial(NearSums.of, self._sums, gamma, narrow, terms)
        return _Limits(
            _squared(wide),
            _squared(narrow),
            full * (1.0 + 1e-12),
            share * (1.0 + 1e-6),
            none * (1.0 + 1e-6),
            core.KeptTerms(terms.rows, np.ascontiguousarray(functions.coef.T)),
            (near(np.float32), near(np.float64)),
            WholeSums.of(self._sums, gamma) if is_full and not like.is_sparse else None,
            is_full,
        )

    def _filled(self, like: Rows) -> float:
        """Return which share of the values of a few terms is not zero, measured from the centre."""
        terms, centre = self._functions.terms, self._functions.centre(like, np.float32)
        if terms.is_sparse or like.is_sparse:
            return terms.n_stored / max(1, terms.n_rows * terms.n_features)
        some = terms.values[:: max(1, terms.n_rows // _SAMPLE_ROWS)]
        filled = some != 0.0 if centre is None else (some != 0.0) | (centre != 0.0)
        return float(np.mean(filled))


def _beyond(point: Side, side: Side) -> Side:
    """Return a point of a norm that is beyond those of a side."""
    return replace(point, norms=np.array([_ROOM * float(np.max(side.norms))]))


def _squared(point: Side) -> float:
    """Return the largest computed squared norm that is certainly below that of the point."""
    return float(point.norms[0]) ** 2 * (1.0 - 1e-6)
