r"""Polynomials of degree 2: a machine is a quadratic form, and its eigenvectors are basis points.

With :math:`\tilde x = (x, \sqrt{c_0/\gamma})` the kernel is :math:`\gamma^2 (\tilde x'\tilde z)^2`,
and a machine over it is

.. math:: f(x) = s(x)\, \tilde x' M \tilde x + b, \qquad
          M = \sum_i c_i \tilde z_i \tilde z_i' = \sum_j \lambda_j v_j v_j',

with :math:`s(x) = 1`, or :math:`1/\|\tilde x\|^2` and as much in :math:`c_i` where the kernel is
normalised. An inner product :math:`q_j = v_j'\tilde x` costs what a kernel value costs. After k of
them, those of the largest :math:`|\lambda_j|`,

.. math:: \tilde x' M \tilde x - \sum_{j \le k} \lambda_j q_j^2 \in
          \Bigl[\min_{j > k}(\lambda_j, 0),\; \max_{j > k}(\lambda_j, 0)\Bigr] \cdot
          \Bigl(\|\tilde x\|^2 - \sum_{j \le k} q_j^2\Bigr) .

The embedding bounds the same remainder by :math:`\|W_\perp\| R(x)`, where :math:`\|W_\perp\|` is a
Frobenius norm of what is left of M. Here it is one eigenvalue, and what is left of a query is its
length outside of k directions of the space of *features*, which falls much faster than its length
outside of k images. Burges' reduced sets of quadratic kernels are the same eigenvectors, without a
bound.

*What rounding does.* The computed :math:`v_j` and :math:`\lambda_j` are taken as they are. With
:math:`\varepsilon \ge \|M - V \Lambda V'\|` and :math:`\delta \ge \|V'V - I\|`, both computed with
what rounding may have done to them, the form is off by :math:`\varepsilon \|\tilde x\|^2`, and
:math:`\sum_j q_j^2 \le (1 + \delta) \|\tilde x\|^2`. All other errors are relative to
:math:`\|\tilde x\|^2` as well.

References
----------
C. Burges, "Simplified support vector decision rules", ICML 1996.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries
from hinge.anytime.stages import Settle
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.kernels import Polynomial
from hinge.kernels.gamma import number
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

# Reading a query costs more than its first few inner products.
EXITS = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
_MOST_FEATURES = 1024  # eigenvectors of so large a matrix take some 0.3 s, in one call
_MOST_WORK = 1 << 33  # cubes of features, for all functions together
_BLOCK_VALUES = 1 << 21
_DROPPED = 1e-15  # of the largest eigenvalue: less is left to the bound
_LARGEST_DEFECT = 0.01
_SMALLEST_SQUARE, _LARGEST_SQUARE = 1e-200, 1e200  # between them no relative bound breaks


def quadratic(functions: Functions) -> Polynomial | None:
    """Return the kernel, if it is a positive semidefinite polynomial of degree 2; else None.

    Parameters
    ----------
    functions : Functions
        The functions.
    """
    kernel = functions.native.kernel
    if not isinstance(kernel, Polynomial) or kernel.degree != 2:
        return None
    return kernel if number(kernel.gamma) > 0.0 and kernel.coef0 >= 0.0 else None


@dataclass(frozen=True)
class Form:
    """One function as a quadratic form.

    Parameters
    ----------
    vectors : ndarray of shape (n_features + 1, n_vectors)
        The eigenvectors, by falling size of their eigenvalues.
    values : ndarray of shape (n_vectors,)
        The eigenvalues.
    low, high : ndarray of shape (n_vectors + 1,)
        The smallest and the largest of the eigenvalues from each on, and of 0.
    error : float
        Bound on the norm of what the eigenvectors leave of the form.
    defect : float
        Bound on the distance of their Gram matrix from the identity.
    """

    vectors: Floats
    values: Floats
    low: Floats
    high: Floats
    error: float
    defect: float

    @staticmethod
    def of(rows: Rows, squares: Floats, coef: Floats, constant: float) -> Form | None:
        """Return the form of some terms, unless its numbers leave the range of safe arithmetic.

        Parameters
        ----------
        rows : Rows
            The terms.
        squares : ndarray of shape (n_rows,)
            Their squared norms with the constant.
        coef : ndarray of shape (n_rows,)
            Their coefficients.
        constant : float
            The last feature of every row.
        """
        matrix = _moments(rows, coef, constant)
        if not np.isfinite(matrix).all():
            return None
        values, vectors = scipy.linalg.eigh(matrix, driver="evd", check_finite=False)
        order = np.argsort(-np.abs(values), kind="stable")
        largest = float(np.abs(values[order[0]]))
        if not largest > _SMALLEST_SQUARE:
            return None
        order = order[np.abs(values[order]) > _DROPPED * largest]
        values, vectors = values[order], np.ascontiguousarray(vectors[:, order])
        width, count = vectors.shape
        lengths = np.einsum("ij,ij->j", vectors, vectors)
        defect = float(np.linalg.norm(vectors.T @ vectors - np.eye(count)))
        defect += rounding_factor(width) * 1.01 * float(lengths.sum())
        # M itself: products of rounded coefficients, summed over all terms; the constant is a
        # rounded root, and coefficients of a normalised kernel are rounded quotients.
        total = float(np.sum(np.abs(coef) * squares))
        error = (
            1.01
            * total
            * (rounding_factor(rows.n_rows + 4) + rounding_factor(width + 8) + 64.0 * UNIT_ROUNDOFF)
        )
        error += rounding_factor(count + 8) * 1.01 * float(np.abs(values) @ lengths)
        error += 8.0 * UNIT_ROUNDOFF * float(np.linalg.norm(matrix))
        matrix -= (vectors * values) @ vectors.T
        error += 1.01 * float(np.linalg.norm(matrix))
        if not (defect < _LARGEST_DEFECT and np.isfinite(error)):
            return None
        left = np.append(values, 0.0)[::-1]
        return Form(
            vectors,
            values,
            np.minimum.accumulate(left)[::-1],
            np.maximum.accumulate(left)[::-1],
            error,
            defect,
        )

    def bounds(self, count: int, sums: Floats, held: Floats, squares: Floats) -> Any:
        r"""Return bounds on the form over the squared norm, after some eigenvectors.

        Parameters
        ----------
        count : int
            How many inner products there are.
        sums, held : ndarray of shape (n,)
            :math:`\sum \lambda_j q_j^2` and :math:`\sum q_j^2` of them.
        squares : ndarray of shape (n,)
            Squared norms of the queries, with the constant.

        Returns
        -------
        lower, upper : ndarray of shape (n,)
            The bounds.
        """
        width = len(self.vectors)
        # An inner product is off by that share of the query's norm, so its square by thrice as
        # much of the squared norm; then sums and quotients are rounded.
        off = 3.1 * (count + 2) * rounding_factor(width + 8) + 2.2 * rounding_factor(count + 8)
        largest = float(np.abs(self.values[0]))
        left = np.maximum(1.0 - held / squares, 0.0) + self.defect + 2.0 * off
        error = 1.01 * (2.0 * largest * off + self.error)
        middle = sums / squares
        return middle + self.low[count] * left - error, middle + self.high[count] * left + error


def _moments(rows: Rows, coef: Floats, constant: float) -> Floats:
    """Return ``M``, summed in blocks of rows."""
    width = rows.n_features + 1
    total = np.zeros((width, width))
    size = max(1, _BLOCK_VALUES // width)
    for first in range(0, rows.n_rows, size):
        some = np.arange(first, min(first + size, rows.n_rows))
        block = np.full((len(some), width), constant)
        matrix = rows.take(some).matrix
        block[:, :-1] = matrix.toarray() if rows.is_sparse else matrix
        total += (block.T * coef[some]) @ block
    return np.asarray(0.5 * (total + total.T))


@dataclass(frozen=True)
class Forms:
    """All functions of a machine as quadratic forms.

    Parameters
    ----------
    forms : tuple of Form
        One for every function.
    constant : float
        The last feature of every row.
    is_normalised : bool
        Whether the kernel is normalised.
    intercept : ndarray of shape (n_functions,)
        Intercepts.
    """

    forms: tuple[Form, ...]
    constant: float
    is_normalised: bool
    intercept: Floats

    @staticmethod
    def of(functions: Functions) -> Forms | None:
        """Return the forms of a machine over a polynomial of degree 2; None if it has none.

        Parameters
        ----------
        functions : Functions
            The functions.
        """
        kernel, support = quadratic(functions), functions.machine.support
        if kernel is None:
            return None
        scale, is_normalised = number(kernel.gamma), functions.native.is_normalised
        constant = float(np.sqrt(kernel.coef0 / scale))
        squares = support.squared_norms + constant**2
        filled = squares[squares != 0.0]
        if not np.all((filled > _SMALLEST_SQUARE) & (filled < _LARGEST_SQUARE)):
            return None
        factors = np.full(len(squares), scale**2)
        if is_normalised:  # where an image is the zero vector all values with it are 0
            factors = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)
        found = []
        for coef in functions.machine.coefficients.T:
            form = Form.of(support, squares, coef * factors, constant)
            if form is None:
                return None
            found.append(form)
        return Forms(tuple(found), constant, is_normalised, functions.intercept)

    def products(self, rows: Rows, c: int, some: slice) -> Floats:
        """Return inner products of rows with some eigenvectors of a function."""
        vectors = self.forms[c].vectors[:, some]
        values = np.asarray(rows.matrix @ vectors[:-1], dtype=np.float64)
        return np.asarray(values + self.constant * vectors[-1])

    def intervals(
        self, count: int, sums: Floats, held: Floats, squares: Floats
    ) -> tuple[Floats, Floats]:
        """Return bounds on decision values after some eigenvectors of every function."""
        lower, upper = np.empty_like(sums), np.empty_like(sums)
        is_safe = (squares > _SMALLEST_SQUARE) & (squares < _LARGEST_SQUARE)
        factor = np.ones_like(squares) if self.is_normalised else squares
        for c, form in enumerate(self.forms):
            used = min(count, len(form.values))
            low, high = form.bounds(used, sums[:, c], held[:, c], squares)
            for bound, ends, sign in ((low, lower, -1.0), (high, upper, 1.0)):
                values = bound * factor + self.intercept[c]
                slack = 16.0 * UNIT_ROUNDOFF * (np.abs(bound) * factor + abs(self.intercept[c]))
                ends[:, c] = values + sign * (slack + 1e-290)
        is_safe = is_safe[:, None] & np.isfinite(lower) & np.isfinite(upper)
        return np.where(is_safe, lower, -np.inf), np.where(is_safe, upper, np.inf)


@dataclass(frozen=True)
class FormStage:
    """A machine over a polynomial of degree 2 as quadratic forms: an interval after every exit.

    Parameters
    ----------
    functions : Functions
        The functions.
    most : int
        How many eigenvectors of each are used, at the most.
    exits : tuple of int
        After how many the bounds are looked at.
    """

    functions: Functions
    most: int
    exits: tuple[int, ...] = EXITS
    name: str = "form"

    @staticmethod
    def of(functions: Functions, most: int) -> FormStage | None:
        """Return the stage, if the machine is of that kind and not too large; else None.

        Parameters
        ----------
        functions : Functions
            The functions.
        most : int
            How many eigenvectors are used, at the most.
        """
        width = functions.terms.n_features + 1
        if quadratic(functions) is None or width > _MOST_FEATURES:
            return None
        if len(functions.intercept) * width**3 > _MOST_WORK:
            return None
        return FormStage(functions, most)

    def forms(self, queries: Queries) -> Forms | None:
        """Return the forms, made once."""
        functions = self.functions
        found: Forms | None = queries.made("forms", functions, lambda: Forms.of(functions))
        return found

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound values exit by exit."""
        forms = self.forms(queries)
        if forms is None:
            return
        per_step = len(forms.forms)
        most = min(self.most, max(len(form.values) for form in forms.forms), terms_left // per_step)
        counts = sorted({min(count, most) for count in self.exits} - {0})
        rows = queries.rows if len(ids) == queries.rows.n_rows else queries.rows.take(ids)
        squares = rows.squared_norms + forms.constant**2
        sums = np.zeros((len(ids), len(forms.forms)))
        held, done = np.zeros_like(sums), 0
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for count in counts:
                for c, form in enumerate(forms.forms):
                    q2 = forms.products(rows, c, slice(done, count)) ** 2
                    held[:, c] += q2.sum(axis=1)
                    sums[:, c] += q2 @ form.values[done:count]
                lower, upper = forms.intervals(count, sums, held, squares)
                is_open = settle(ids, lower, upper, (count - done) * len(forms.forms))
                done = count
                if not is_open.any():
                    return
                if count != counts[-1] and not is_open.all():
                    ids, rows = ids[is_open], rows.take(np.flatnonzero(is_open))
                    sums, held, squares = sums[is_open], held[is_open], squares[is_open]
