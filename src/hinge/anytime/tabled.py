r"""Rows of small whole numbers: kernel values are entries of a table, and sums of them are exact.

Where the features of support vectors and of a query are small whole numbers, such as counts or yes
and no, :math:`v = \|x - z\|^2` (or :math:`x'z`, for kernels of inner products) is a whole number of
a short range, and :math:`k(x, z) = \varphi(v)`. The table is split into a straight line and a rest,

.. math:: \varphi(v) = m + s v + h\,q_v + e_v, \qquad |q_v| < 2^{15},

and so is every coefficient, :math:`c_i = \sigma a_i + \sigma' a_i' + r_i` with whole digits of 13
bits. Sums of the line are an inner product with one vector, :math:`\sum c_i z_i`; sums of
:math:`a_i q` and :math:`a_i' q` are made in whole numbers without any error. The rest is bounded by

.. math:: \max_v |e_v| \sum |c_i| + 2^{15} h \sum |r_i|

and by the rounding of a few numbers in float64. The line takes most of the range of a smooth
kernel, which makes h small. The digits are chosen so that the coefficient in the middle, which is
often the bound C of many, is a whole number of steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries
from hinge.anytime.stages import Settle
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels import RBF, InnerProductKernel
from hinge.machines.native_rows import view
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_LARGEST_DIGIT = 4095
_LARGEST_QUOTIENT = 32767
_MOST_ENTRIES = 256  # of the table
_MOST_FEATURES = 1 << 16
_BYTES = 1 << 28  # of packed support vectors
_PANEL_ROWS = 128
_VALUES_A_CALL = 1 << 24  # kernel values of one native call: some 5 ms


@dataclass(frozen=True)
class Table:
    """The kernel as a function of a whole number, and which queries it is for.

    Parameters
    ----------
    is_distance : bool
        Whether the number is a squared distance; else it is an inner product plus the offset.
    offset : int
        What is added, so that the number is not negative.
    largest_self : int
        Of a query: its squared norm, at the most.
    takes_negative : bool
        Whether queries may have negative values.
    middle, slope, step : float
        The line, and the height of a step of the rest.
    quotients : ndarray of int16
        The rest, in steps.
    error : float
        Bound on the difference of an entry from the kernel's true value.
    largest : float
        Bound on the size of the kernel's values.
    """

    is_distance: bool
    offset: int
    largest_self: int
    takes_negative: bool
    middle: float
    slope: float
    step: float
    quotients: NDArray[np.int16]
    error: float
    largest: float

    @property
    def factor(self) -> int:
        """What an inner product counts."""
        return -2 if self.is_distance else 1

    @staticmethod
    def of(kernel: InnerProductKernel, terms: Rows) -> Table | None:
        """Return the table of a kernel for terms, if they are small whole numbers; else None.

        Parameters
        ----------
        kernel : InnerProductKernel
            The kernel, not normalised.
        terms : Rows
            The support vectors.
        """
        largest = _largest_self(terms)
        if largest is None:
            return None
        is_negative = bool(np.any(terms.values < 0))
        product, offset = largest, 0  # by Cauchy-Schwarz, both norms being at most that
        if isinstance(kernel, RBF):
            most = 2 * largest + (2 * product if is_negative else 0)
        else:
            offset = product if is_negative else 0
            most = product + offset
        if most >= _MOST_ENTRIES:
            return None
        numbers = np.arange(most + 1, dtype=np.float64) - offset
        values, error = _values(kernel, numbers)
        if not np.isfinite(values).all() or not math.isfinite(error):
            return None
        slope = float(values[-1] - values[0]) / max(1, most)
        rest = values - slope * (numbers + offset)
        middle = 0.5 * float(rest.min() + rest.max())
        step = max(float(np.max(np.abs(rest - middle))) / _LARGEST_QUOTIENT, 1e-290)
        quotients = np.rint((rest - middle) / step)
        largest_value = float(np.max(np.abs(values)))
        off = np.abs(rest - middle - quotients * step)
        error += float(off.max()) + 16.0 * UNIT_ROUNDOFF * (largest_value + abs(slope) * most)
        return Table(
            isinstance(kernel, RBF),
            offset,
            largest,
            is_negative,
            middle,
            slope,
            step,
            quotients.astype(np.int16),
            error * (1.0 + 1e-12),
            largest_value + error,
        )


def _largest_self(terms: Rows) -> int | None:
    """Return the largest squared norm of rows of small whole numbers; None of other rows."""
    values = terms.values
    if terms.n_features > _MOST_FEATURES or values.size == 0:
        return None
    panels = -(-terms.n_rows // _PANEL_ROWS)
    if panels * _PANEL_ROWS * terms.n_features > _BYTES:
        return None
    # One look at a few values spares most machines the rest.
    if not _are_small(values.ravel()[:1024]) or not _are_small(values):
        return None
    largest = int(np.max(terms.squared_norms))
    return largest if largest < _MOST_ENTRIES else None


def _are_small(values: NDArray[Any]) -> bool:
    return bool(np.all(np.abs(values) <= 16.0) and np.all(values == np.floor(values)))


def _values(kernel: Any, numbers: Floats) -> tuple[Floats, float]:
    """Return the kernel of every number, and a bound on the error of each."""
    if isinstance(kernel, RBF):
        t = kernel.shift(numbers)
    else:
        t = kernel.scale * numbers + 2.0 * kernel.shift(np.zeros_like(numbers))
    size = np.abs(kernel.scale * numbers) + 2.0 * np.abs(kernel.shift(np.zeros_like(numbers)))
    size = np.maximum(size, np.abs(t))
    relative, absolute = kernel.value_error(size, 4.0 * UNIT_ROUNDOFF * size, UNIT_ROUNDOFF)
    values = np.asarray(kernel.apply(t.copy()))
    return values, float(np.max(np.abs(values) * relative + absolute))


@dataclass(frozen=True)
class Digits:
    """Coefficients of one function in whole digits.

    Parameters
    ----------
    steps : tuple of float
        What a unit of the first and of the second digit is worth.
    digits : ndarray of int16 of shape (2, n_terms)
        The digits.
    left : float
        Bound on the sum of the absolute values of what they leave.
    """

    steps: tuple[float, float]
    digits: NDArray[np.int16]
    left: float

    @staticmethod
    def of(coef: Floats) -> Digits:
        """Return the digits of coefficients.

        Parameters
        ----------
        coef : ndarray of shape (n_terms,)
            The coefficients.
        """
        sizes = np.abs(coef)
        step = max(float(np.max(sizes, initial=0.0)) / _LARGEST_DIGIT, 1e-290)
        usual = float(np.median(sizes[sizes > 0.0])) if sizes.any() else 0.0
        if usual > step:
            step = usual / math.floor(usual / step)
        first = np.clip(np.rint(coef / step), -_LARGEST_DIGIT, _LARGEST_DIGIT)
        rest = coef - first * step
        small = step / (2 * _LARGEST_DIGIT)
        second = np.clip(np.rint(rest / small), -_LARGEST_DIGIT, _LARGEST_DIGIT)
        left = float(np.sum(np.abs(rest - second * small)))
        left += 8.0 * UNIT_ROUNDOFF * float(np.sum(sizes))
        digits = np.stack((first, second)).astype(np.int16)
        return Digits((step, small), digits, left * (1.0 + 1e-9))


class TabledSums:
    """All functions of a machine over all of its terms, by a table.

    Parameters
    ----------
    functions : Functions
        The functions.
    table : Table
        The table of the kernel.
    """

    def __init__(self, functions: Functions, table: Table) -> None:
        self.functions, self.table = functions, table
        self.digits = [Digits.of(one) for one in functions.coef.T]
        # Terms that need a second digit come last: most panels then do without.
        needs = np.any([one.digits[1] != 0 for one in self.digits], axis=0)
        order = np.argsort(needs, kind="stable")
        terms, coef = functions.terms.take(order), functions.coef[order]
        selfs = np.rint(terms.squared_norms).astype(np.int64)
        bases = selfs if table.is_distance else np.zeros_like(selfs)
        self.native = core.TabledTerms(
            view(terms),
            bases,
            np.ascontiguousarray(np.concatenate([one.digits for one in self.digits])[:, order]),
            table.quotients,
            table.factor,
            int(table.is_distance),
            table.offset,
            table.largest_self,
            table.takes_negative,
        )
        # The line: sums of coefficients, of coefficients times bases, and of terms.
        self.sums = np.array([math.fsum(one) for one in coef.T])
        self.of_bases = coef.T @ bases.astype(np.float64) + table.offset * self.sums
        self.direction = np.asarray(terms.matrix.T @ coef)
        self.errors = self._errors()

    def _errors(self) -> Floats:
        """Return what may be wrong with the value of every function, at any query."""
        table, functions = self.table, self.functions
        total = functions.total
        left = np.array([one.left for one in self.digits])
        most = len(table.quotients) + table.largest_self * (1 + abs(table.factor))
        lines = abs(table.middle) + abs(table.slope) * most
        # A query of whole numbers has no more values than its squared norm says.
        n_sums = functions.terms.n_rows + functions.terms.longest_row + table.largest_self + 16
        errors = table.error * total + left * table.step * _LARGEST_QUOTIENT
        errors = errors + 2.0 * rounding_factor(n_sums) * lines * total
        errors = errors + 16.0 * UNIT_ROUNDOFF * (table.largest + lines) * total
        # The coefficients of equal support vectors were added up, with as many roundings.
        merged = 2.0 * rounding_factor(len(functions.machine.coefficients))
        errors = errors + merged * table.largest * total
        errors = errors + 8.0 * UNIT_ROUNDOFF * np.abs(functions.intercept)
        return np.asarray(errors * 1.0001 + 1e-280)

    def add_to(self, native: core.FewQueries) -> None:
        """Add the sums to what classifies a few queries, as one of the first.

        Parameters
        ----------
        native : core.FewQueries
            What is added to; it looks which queries the table is for.
        """
        table = self.table
        native.add_table(
            0,
            self.native,
            table.middle,
            table.slope,
            table.step,
            float(table.factor),
            table.is_distance,
            self.sums,
            self.of_bases,
            np.ascontiguousarray(self.direction, dtype=np.float64),
            np.array([one.steps for one in self.digits]),
            self.errors,
        )

    def intervals(self, queries: Queries, ids: Ids) -> tuple[Floats, Floats]:
        """Return bounds on the true decision values of some queries.

        Parameters
        ----------
        queries : Queries
            The batch.
        ids : ndarray of int64
            Which of them.

        Returns
        -------
        lower, upper : ndarray of shape (n, n_functions)
            The bounds; infinite for queries that the table is not for.
        """
        table, matrix = self.table, view(queries.rows)
        sums = np.empty((len(ids), 2 * len(self.digits)), dtype=np.int64)
        selfs = np.empty(len(ids), dtype=np.int64)
        everyone = len(ids) == queries.rows.n_rows
        size = max(256, _VALUES_A_CALL // self.functions.terms.n_rows)
        for first in range(0, len(ids), size):
            if queries.check is not None:
                queries.check()
            part = slice(first, first + size)
            some = None if everyone else ids[part]
            self.native.sums(matrix, first if everyone else 0, some, sums[part], selfs[part])
        rows = queries.rows.matrix if everyone else queries.rows.matrix[ids]
        products = np.asarray(rows @ self.direction, dtype=np.float64)
        line = self.of_bases + table.factor * products
        if table.is_distance:
            line = line + selfs[:, None] * self.sums
        values = self.functions.intercept + table.middle * self.sums + table.slope * line
        for c, one in enumerate(self.digits):
            first_sum, second_sum = sums[:, 2 * c], sums[:, 2 * c + 1]
            values[:, c] += table.step * (one.steps[0] * first_sum + one.steps[1] * second_sum)
        is_open = (selfs < 0)[:, None] | ~np.isfinite(values)
        lower, upper = values - self.errors, values + self.errors
        return np.where(is_open, -np.inf, lower), np.where(is_open, np.inf, upper)


@dataclass(frozen=True)
class TabledStage:
    """All functions over all terms, for rows of small whole numbers.

    Parameters
    ----------
    functions : Functions
        The functions.
    table : Table
        The table of their kernel.
    """

    functions: Functions
    table: Table
    name: str = "table"

    @staticmethod
    def of(functions: Functions) -> TabledStage | None:
        """Return the stage, if the machine's rows are small whole numbers; else None.

        Parameters
        ----------
        functions : Functions
            The functions.
        """
        native = functions.native
        if native.is_normalised or not isinstance(native.kernel, InnerProductKernel):
            return None
        table = Table.of(native.kernel, functions.terms)
        return None if table is None else TabledStage(functions, table)

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound values by one evaluation in whole numbers."""
        functions = self.functions
        if functions.terms.n_rows > terms_left:
            return
        sums: Any = queries.made("tabled", functions, lambda: TabledSums(functions, self.table))
        lower, upper = sums.intervals(queries, ids)
        settle(ids, lower, upper, functions.terms.n_rows)
