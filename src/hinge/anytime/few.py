"""A few queries at a time: the same bounds without any arithmetic in Python.

For one query the many small arrays of a stage cost more than its sums. All bounds grow with the
norm of a query; so they are computed once, for a norm beyond that of the support vectors, and hold
for every query of at most that norm. The compiled core then goes through a short list of sums, one
call for all of it: a table of kernel values, or whole multiples of a number where rows are such;
else inner products in float32 for rows with zeros, which these skip, and differences for others;
what that leaves open in float64, over the same packed terms, which are in the cache by then.
Whatever is open after that is evaluated in full.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.near import NearSums
from hinge.anytime.queries import Sides
from hinge.anytime.rules import LargestRule, Rule, SignRule, VoteRule
from hinge.anytime.sides import Side
from hinge.anytime.single import SingleSums
from hinge.anytime.tabled import TabledStage, TabledSums
from hinge.anytime.whole import WholeSums
from hinge.kernels import RBF
from hinge.kernels.gamma import number
from hinge.rows import Rows

Floats = NDArray[np.float64]
Found = tuple[NDArray[np.int64], int]

# Queries that are few. They are evaluated one by one: whole numbers take so little memory that more
# of them gain little by sharing what they read, while terms in float32 are read from afar.
MOST = 128
_MOST_IN_SINGLE = 16
_VALUES_A_CALL = 1 << 27  # of packed terms that one native call reads: some 20 ms
_SAMPLE_ROWS = 256
_FULL_SHARE = 0.75  # of values that are not zero: above it the compiled core skips none
_STORED, _STORED_MORE = 2, 64  # values of a sparse query: so many times a term's, and more
_ROOM = 1.5  # by how much a query's norm may exceed those of the support vectors


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
        self._width = functions.terms.n_features
        self._rows_a_call = max(1, _VALUES_A_CALL // (functions.terms.n_rows * self._width))
        self._natives: dict[bool, tuple[core.FewQueries, int]] = {}

    @staticmethod
    def takes(functions: Functions, rule: Rule) -> bool:
        """Return whether bounds grow with norms alone, and the compiled core knows the rule.

        Parameters
        ----------
        functions : Functions
            The functions.
        rule : Rule
            What makes labels of values.
        """
        native = functions.native
        is_gaussian = isinstance(native.kernel, RBF) and not native.is_normalised
        return is_gaussian and _rule_name(rule) is not None

    def most(self, is_sparse: bool) -> int:
        """Return how many dense or sparse queries are few.

        Parameters
        ----------
        is_sparse : bool
            Whether the queries are sparse.
        """
        return self._ready(is_sparse)[1]

    def codes(self, rows: Rows) -> Found | None:
        """Return the code of every query, -1 where none is proven, and how many these are.

        Parameters
        ----------
        rows : Rows
            The queries.

        Returns
        -------
        codes : ndarray of int64
            The codes.
        n_open : int
            How many queries are open. Nothing at all is returned if the rows were changed since.
        """
        size = self._rows_a_call
        if rows.n_rows > size:
            ids = np.arange(rows.n_rows)
            parts = [self.codes(rows.take(ids[k : k + size])) for k in ids[::size]]
            told = [part for part in parts if part is not None]
            if len(told) < len(parts):
                return None
            return np.concatenate([part[0] for part in told]), sum(part[1] for part in told)
        columns, offsets = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
        return self._codes(rows.n_rows, rows.values, columns, offsets)

    def codes_at_once(self, X: Any) -> Found | None:
        """Return the same for queries that need no preparation; None of all others.

        Arrays and CSR matrices of the usual types go to the compiled core as they are: it looks
        through their structure, and leaves rows open that hold no numbers or whose squares
        overflow, to be refused by whoever prepares them.

        Parameters
        ----------
        X : object
            What the caller has.
        """
        kind = type(X)
        is_sparse = kind is sp.csr_matrix or kind is sp.csr_array
        if not (is_sparse or kind is np.ndarray) or X.ndim != 2 or X.dtype != np.float64:
            return None
        most = min(self.most(is_sparse), self._rows_a_call)
        if not 0 < X.shape[0] <= most or X.shape[1] != self._width:
            return None
        if not is_sparse:
            flags = X.flags
            is_plain = flags.c_contiguous and flags.aligned
            return self._codes(X.shape[0], X, None, None) if is_plain else None
        try:
            return self._codes(X.shape[0], X.data, X.indices, X.indptr)
        except TypeError:  # no arrays of numbers
            return None

    def _codes(self, count: int, values: Any, columns: Any, offsets: Any) -> Found | None:
        native = self._ready(columns is not None)[0]
        codes = np.empty(count, dtype=np.int64)
        n_open = native.codes(values, columns, offsets, codes)
        return None if n_open < 0 else (codes, n_open)

    def _ready(self, is_sparse: bool) -> tuple[core.FewQueries, int]:
        """Return what classifies dense or sparse queries, made once, and how many are few."""
        found = self._natives.get(is_sparse)
        if found is None:
            found = self._natives[is_sparse] = self._made(is_sparse)
        return found

    def _made(self, is_sparse: bool) -> tuple[core.FewQueries, int]:
        """Return what classifies dense or sparse queries, from the general bounds."""
        functions = self._functions
        like = _like(functions.terms, is_sparse)
        support = self._sides.get("support", functions.machine.support, like, np.float64)
        # In float64 every value of a query may round a sum once, also where no term has one.
        stored = self._width if not is_sparse else _STORED * support.longest + _STORED_MORE
        wide = _beyond(support, stored)
        narrow_centre = None if self._table is not None else functions.centre(like, np.float32)
        name = _rule_name(self._rule)
        assert name is not None
        terms = None
        if self._table is None:
            terms = self._sides.get("terms", functions.terms, like, np.float32)
        native = core.FewQueries(
            self._width,
            _squared(wide),
            np.inf if terms is None else _squared(_beyond(terms, stored)),
            stored,
            functions.full_errors(wide, support)[0] * (1.0 + 1e-12),
            functions.intercept,
            functions.centre(like),
            narrow_centre,
            name,
            getattr(self._rule, "n_classes", 2),
        )
        if self._table is not None:
            self._table.add_to(native)
        if terms is None:
            return native, MOST
        return native, self._add_sums(native, _beyond(terms, stored), terms, like)

    def _add_sums(self, native: core.FewQueries, point: Side, terms: Side, like: Rows) -> int:
        """Add the cheapest sums first, 0, then what follows, 1; return how many rows are few."""
        functions = self._functions
        kernel: Any = functions.native.kernel
        gamma = number(kernel.gamma)
        kept = core.KeptTerms(terms.rows, np.ascontiguousarray(functions.coef.T))
        near, wide = (
            NearSums.of(self._sums, gamma, point, terms, precision)
            for precision in (np.float32, np.float64)
        )
        whole = None if like.is_sparse else WholeSums.of(self._sums, gamma)
        if whole is not None:
            whole.add_to(native)
        if near is not None and self._filled(like) > _FULL_SHARE:
            native.add_differences(0, kept, gamma, near.slope, near.share, near.fixed)
        else:
            native.add_products(0, kept, gamma, 0.0, *self._product_bounds(point, terms))
        if wide is not None:
            native.add_wide(1, kept, gamma, wide.slope, wide.share, wide.fixed)
        return _MOST_IN_SINGLE if whole is None else MOST

    def _product_bounds(self, point: Side, terms: Side) -> tuple[float, Floats]:
        """Return what rounding does to inner products: a share of sizes, and so much more."""
        # The bounds are an affine function of the sizes that were summed: two of them give it.
        sizes = np.zeros((1, len(self._functions.intercept) + 1))
        none = self._sums.errors(sizes, point, terms)[0]
        sizes[:, -1] = 1.0
        share = float(np.max(self._sums.errors(sizes, point, terms)[0] - none))
        return share * (1.0 + 1e-6), none * (1.0 + 1e-6)

    def _filled(self, like: Rows) -> float:
        """Return which share of the values of a few terms is not zero, measured from the centre."""
        terms, centre = self._functions.terms, self._functions.centre(like, np.float32)
        if terms.is_sparse or like.is_sparse:
            return terms.n_stored / max(1, terms.n_rows * terms.n_features)
        some = terms.values[:: max(1, terms.n_rows // _SAMPLE_ROWS)]
        filled = some != 0.0 if centre is None else (some != 0.0) | (centre != 0.0)
        return float(np.mean(filled))


def _rule_name(rule: Rule) -> str | None:
    """Return what the compiled core calls a rule; None if it has no such rule."""
    if isinstance(rule, SignRule):
        return "strict sign" if rule.is_strict else "sign"
    return {LargestRule: "largest", VoteRule: "votes"}.get(type(rule))


def _like(terms: Rows, is_sparse: bool) -> Rows:
    """Return a row that is stored as queries are."""
    shape = 1, terms.n_features
    return Rows(sp.csr_array(shape) if is_sparse else np.zeros(shape))


def _beyond(side: Side, stored: int) -> Side:
    """Return a point of a norm that is beyond those of a side, with so many values."""
    norms = np.array([_ROOM * float(np.max(side.norms))])
    return replace(side.part(np.array([0])), norms=norms, longest=max(stored, side.longest))


def _squared(point: Side) -> float:
    """Return the largest computed squared norm that is certainly below that of the point."""
    return float(point.norms[0]) ** 2 * (1.0 - 1e-6)
