"""The functions of a machine as anytime classification sees them: equal support vectors are one.

Rows that are equal have equal kernel values, so their coefficients can be added up; what cancels is
dropped. That is a machine of fewer terms with the same true values. The full evaluation, which
every label is compared with, keeps all terms in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.sides import Precision, Side, bounded_kernel, sum_errors
from hinge.errors import UnsupportedError
from hinge.kernels.centre import centre_for
from hinge.machines import Machine, decision_values
from hinge.machines.native_rows import NativeKernel
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Check = Callable[[], None]

_SAMPLE_ROWS = 512
_FULL_SHARE = 0.75  # a feature that is zero less often than in a quarter of the rows is full


@dataclass(frozen=True)
class Functions:
    """One function, or several over the same support vectors.

    Parameters
    ----------
    machine : Machine
        The machine as it was given, whose full evaluation is the reference.
    terms : Rows
        The distinct support vectors.
    coef : ndarray of shape (n_terms, n_functions)
        Their coefficients.
    """

    machine: Machine
    terms: Rows
    coef: Floats

    @staticmethod
    def of(machine: Machine) -> Functions:
        """Return the functions of a machine, if its kernel's rounding is bounded.

        Parameters
        ----------
        machine : Machine
            A machine with at least one support vector.
        """
        if bounded_kernel(machine.kernel, machine.support) is None:
            message = f"nothing is proven of the rounding of the kernel {machine.kernel!r}."
            raise UnsupportedError(message)
        ids, coef = _merged(machine.support, machine.coefficients)
        return Functions(machine, machine.support.take(ids), coef)

    def __getstate__(self) -> dict[str, Any]:
        return {"machine": self.machine, "terms": self.terms, "coef": self.coef}

    @cached_property
    def native(self) -> NativeKernel:
        """The kernel for the compiled core."""
        native = bounded_kernel(self.machine.kernel, self.machine.support)
        assert native is not None
        return native

    @property
    def intercept(self) -> Floats:
        """Intercepts of the functions."""
        return self.machine.intercept

    @cached_property
    def total(self) -> Floats:
        """Sums of the absolute values of all coefficients, before any were added up."""
        return np.asarray(np.sum(np.abs(self.machine.coefficients), axis=0)) * (1.0 + 1e-9)

    @cached_property
    def reduced_total(self) -> Floats:
        """Sums of the absolute values of the coefficients of distinct terms."""
        return np.asarray(np.sum(np.abs(self.coef), axis=0)) * (1.0 + 1e-9)

    @cached_property
    def at_terms(self) -> Floats:
        """Values at the distinct support vectors themselves, without intercepts."""
        return self.values(self.terms)

    @cached_property
    def _centre(self) -> Floats | None:
        return centre_for(self.native.kernel, self.machine.support)

    @cached_property
    def _single_centre(self) -> Floats | None:
        """The mean of those features that are rarely zero, and zero of the others.

        In float32 what rounding does grows with the norms of rows, and a feature that is often zero
        must stay so, to be skipped.
        """
        support, kernel = self.machine.support, self.native.kernel
        if self._centre is not None or support.is_sparse:
            return self._centre
        if not getattr(kernel, "is_translation_invariant", False):
            return None
        sample = support.values[:: max(1, support.n_rows // _SAMPLE_ROWS)]
        often = np.mean(sample != 0.0, axis=0) > _FULL_SHARE
        centre = np.where(often, sample.mean(axis=0, dtype=np.float64), 0.0)
        return centre if often.any() and np.isfinite(centre).all() else None

    def centre(self, rows: Rows, precision: Precision = np.float64) -> Floats | None:
        """Return where rows are measured from; in float64 as in the full evaluation."""
        if rows.is_sparse:
            return None
        return self._single_centre if precision is np.float32 else self._centre

    def side(
        self,
        rows: Rows,
        like: Rows,
        precision: Precision,
        wider: Side | None = None,
        is_counted: bool = True,
    ) -> Side:
        """Return rows as one side of kernel values.

        Parameters
        ----------
        rows : Rows
            The rows, stored as the support vectors are, or the queries.
        like : Rows
            The queries: sparse ones have no centre.
        precision : type
            ``np.float32`` or ``np.float64``.
        wider : Side or None, default=None
            The same rows in float64, if they are at hand.
        is_counted : bool, default=True
            Whether the values of dense rows that are not zero are counted.
        """
        centre = self.centre(like, precision)
        return Side.of(self.native, rows, centre, precision, wider, is_counted)

    def full_errors(self, points: Side, support: Side) -> Floats:
        """Return bounds on the rounding error of the full evaluation, intercept included.

        Parameters
        ----------
        points, support : Side
            The queries and all support vectors, in float64.

        Returns
        -------
        ndarray of shape (n_points, n_functions)
            The bounds.
        """
        errors = sum_errors(points, support, self.total)
        return errors + 4.0 * np.finfo(float).eps * np.abs(self.intercept)

    def values(self, rows: Rows, check: Check | None = None) -> Floats:
        """Return the sums over distinct terms in float64, without intercepts."""
        return np.asarray(
            decision_values(self.machine.kernel, self.terms, self.coef, rows, check=check)
        )


def _merged(rows: Rows, coef: Floats) -> tuple[Ids, Floats]:
    """Return the first of every set of equal rows, and the sums of their coefficients."""
    first: dict[bytes, int] = {}
    place = np.empty(rows.n_rows, dtype=np.int64)
    for number in range(rows.n_rows):
        place[number] = first.setdefault(_key(rows, number), len(first))
    sums = np.zeros((len(first), coef.shape[1]))
    np.add.at(sums, place, coef)
    ids = np.full(len(first), rows.n_rows, dtype=np.int64)
    np.minimum.at(ids, place, np.arange(rows.n_rows))
    used = np.any(sums != 0.0, axis=1)
    if not used.any():
        used[:1] = True  # a machine of one term that adds nothing is still a machine
    return ids[used], np.ascontiguousarray(sums[used])


def _key(rows: Rows, number: int) -> bytes:
    """Return what only equal rows have in common."""
    if not rows.is_sparse:
        return bytes((rows.values[number] + 0.0).tobytes())
    stored = slice(int(rows.indptr[number]), int(rows.indptr[number + 1]))
    values, columns = rows.values[stored], rows.indices[stored]
    filled = values != 0.0
    return bytes(columns[filled].tobytes() + values[filled].tobytes())
