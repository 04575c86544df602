r"""The objective and its normalisation, written once.

A problem is two classes of rows and

.. math:: P(w, b) = \tfrac12 \|w\|^2 + \sum_i c_i\, \ell(y_i (w'x_i + b)), \qquad c_i = C s_i,

with sample weights s. The intercept b is *free* (not in the norm), *augmented* (the weight u of a
feature that is constantly ``intercept_scale``, so ``b = scale * u`` and the norm includes u), or
*none*. Its dual, with the loss's (p, kappa, u) of :mod:`hinge.losses.base`, is

.. math:: D(\alpha) = p \sum_i \alpha_i - \tfrac{\kappa}{2} \sum_i \alpha_i^2 / c_i
          - \tfrac12 \|w(\alpha)\|^2, \qquad 0 \le \alpha_i \le u\, c_i,

where :math:`w(\alpha) = \sum_i y_i \alpha_i x_i` (with the constant feature, if augmented) and
:math:`\sum_i y_i \alpha_i = 0` if the intercept is free. For :math:`C = \infty`, the hard margin,
both hold with losses that are zero or infinite, no curvature and no upper bound.
"""

from __future__ import annotations

import enum
import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hinge.errors import (
    InvalidWeightsError,
    UnsupportedError,
    unknown_name,
)
from hinge.inequality import UNIT_ROUNDOFF
from hinge.kernels import Kernel, get_kernel
from hinge.labels import WeightsAsRead, row_weights, two_classes
from hinge.losses import Loss, get_loss
from hinge.parameters import positive, positive_or_infinite
from hinge.penalties import L2, get_penalty
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]

_FINGERPRINT_BLOCKS = 64


class Intercept(enum.StrEnum):
    """How the intercept enters the objective."""

    FREE = "free"
    AUGMENTED = "augmented"
    NONE = "none"


@dataclass(frozen=True)
class DualProgram:
    """``min 1/2 b'(K + diag)b - linear'b``, ``lower <= b <= upper``, and equality groups.

    Written in ``b = y * alpha``, so that classification, regression and one-class machines share
    it. Row i of K is data row i.

    Parameters
    ----------
    linear, lower, upper, diagonal : ndarray of shape (n_samples,)
        Coefficients and bounds, one per variable.
    groups : tuple of (ndarray of int or None, float)
        Equality constraints: the variables that they sum (None for all) and the right-hand side.
    constant_feature : float
        Value of the constant feature that K includes; zero if it has none.
    """

    linear: Floats
    lower: Floats
    upper: Floats
    diagonal: Floats
    groups: tuple[tuple[NDArray[np.int64] | None, float], ...]
    constant_feature: float


class Problem:
    """A binary support vector machine problem.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Rows of shape (n_samples, n_features)
        The rows. float32 and float64 are used in place, see :mod:`hinge.rows`.
    y : array-like of shape (n_samples,)
        Exactly two labels; in sorted order the second is the positive one.
    loss : str or Loss, default="hinge"
        ``"hinge"``, ``"squared_hinge"``, ``"huber"`` or a loss object.
    penalty : str, default="l2"
        ``"l2"``.
    C : float, default=1.0
        Weight of the losses, greater than 0. Infinity is the *hard margin*: no loss is allowed,
        and the objective is ``1/2 ||w||^2`` subject to every row having the margin from which its
        loss is zero (1 for hinge and squared hinge, ``1 + h`` for Huber).
    intercept : {"free", "augmented", "none"}, default="free"
        How the intercept enters the objective.
    intercept_scale : float, default=1.0
        Value of the constant feature of an augmented intercept, greater than 0.
    kernel : None, str, Kernel or callable, default=None
        None for a linear machine in w; else ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``,
        ``"laplacian"``, ``"chi2"``, ``"precomputed"``, an object of :mod:`hinge.kernels`, or a
        function of two arrays of rows. The intercept is then free or none, and C finite.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Not negative. Weight 0 is a row that is absent, weight 2 a row that is there twice; with
        ``C=inf`` any other weight is the same as 1.

    Attributes
    ----------
    rows : Rows
        The validated rows.
    classes : ndarray of shape (2,)
        The labels, sorted.
    signs : ndarray of int8 of shape (n_samples,)
        -1 for the first class, +1 for the second.
    costs : ndarray of shape (n_samples,)
        ``C * sample_weight``; a view of one number where there are no weights. Infinite where a
        hard margin has a row of positive weight.

    Examples
    --------
    >>> problem = Problem([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"], C=10.0)
    >>> problem
    Problem(4 rows x 1 features, loss=Hinge(), C=10.0, intercept='free')
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        loss: str | Loss = "hinge",
        penalty: str | L2 = "l2",
        C: float = 1.0,
        intercept: str | Intercept = "free",
        intercept_scale: float = 1.0,
        kernel: str | Kernel | Callable[[Any, Any], Any] | None = None,
        sample_weight: ArrayLike | WeightsAsRead | None = None,
    ) -> None:
        self.loss = get_loss(loss)
        self.penalty = get_penalty(penalty)
        self.C = positive_or_infinite(C, "C")
        self.intercept = _intercept(intercept)
        self.intercept_scale = positive(intercept_scale, "intercept_scale")
        self.rows = X if isinstance(X, Rows) else Rows(X)
        self.classes, self.signs = two_classes(y, self.rows.n_rows)
        self.sample_weight = row_weights(sample_weight, self.rows.n_rows)
        self.kernel = None if kernel is None else get_kernel(kernel).resolved(self.rows)
        self._check_costs()
        self._check_kernel()

    def __repr__(self) -> str:
        kernel = "" if self.kernel is None else f", kernel={self.kernel!r}"
        return (
            f"Problem({self.n_rows} rows x {self.n_features} features, loss={self.loss!r}, "
            f"C={self.C!r}, intercept={self.intercept.value!r}{kernel})"
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @cached_property
    def n_counted(self) -> int:
        """Number of rows that have a cost."""
        return self.n_rows if self.sample_weight is None else int(np.count_nonzero(self.costs))

    @cached_property
    def n_values(self) -> int:
        """Number of stored values of the rows that have a cost."""
        if self.n_counted == self.n_rows:
            return self.rows.n_stored
        if not self.rows.is_sparse:
            return self.n_counted * self.n_features
        return int(np.sum(np.diff(self.rows.indptr), where=self.costs > 0.0, dtype=np.int64))

    @property
    def n_features(self) -> int:
        """Number of features, without any constant one."""
        return self.rows.n_features

    @property
    def costs(self) -> Floats:
        """The weight ``C * sample_weight`` of every row's loss."""
        if self.sample_weight is None:
            return self._equal_costs
        if self.is_hard:
            return np.where(self.sample_weight > 0.0, math.inf, 0.0)
        return self.C * self.sample_weight

    @cached_property
    def _equal_costs(self) -> Floats:
        """The costs of rows without weights: a view of one number."""
        return np.broadcast_to(np.float64(self.C), (self.n_rows,))

    @property
    def is_hard(self) -> bool:
        """Whether C is infinite: every row must have its margin, and no loss is weighed."""
        return math.inf == self.C

    @property
    def constant_feature(self) -> float:
        """Value of the constant feature that the norm includes; 0 unless augmented."""
        return self.intercept_scale if self.intercept is Intercept.AUGMENTED else 0.0

    def intercept_weight(self, intercept: float) -> float:
        """Return the weight of the constant feature that makes this intercept; 0 if none.

        Parameters
        ----------
        intercept : float
            Intercept of the decision function.

        Returns
        -------
        float
            Its weight in the norm.
        """
        return intercept / self.intercept_scale if self.constant_feature else 0.0

    def dual(self) -> DualProgram:
        """Return the dual as a quadratic program in ``b = y * alpha``.

        Returns
        -------
        DualProgram
            Coefficients, bounds and equality constraints.
        """
        y = self.signs.astype(np.float64)
        reach = self.loss.upper_bound(self.costs)
        diagonal = self.loss.dual_curvature / np.where(self.costs > 0, self.costs, np.inf)
        free = self.intercept is Intercept.FREE
        return DualProgram(
            linear=self.loss.dual_linear * y,
            lower=np.where(y > 0, 0.0, -reach),
            upper=np.where(y > 0, reach, 0.0),
            diagonal=diagonal,
            groups=((None, 0.0),) if free else (),
            constant_feature=self.constant_feature,
        )

    def with_C(self, C: float) -> Problem:
        """Return the same problem with another C, sharing rows, labels and weights.

        Parameters
        ----------
        C : float
            Weight of the losses, greater than 0; infinity for the hard margin.

        Returns
        -------
        Problem
            A new problem over the same data.
        """
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        for name in ("cost_squares", "n_counted", "n_values", "_equal_costs"):
            other.__dict__.pop(name, None)  # of the C that it had
        other.C = positive_or_infinite(C, "C")
        other._check_costs()
        other._check_kernel()
        return other

    def with_kernel(self, kernel: str | Kernel | Callable[[Any, Any], Any]) -> Problem:
        """Return the same problem with another kernel, sharing rows, labels and weights.

        Parameters
        ----------
        kernel : str, Kernel or callable
            As in the constructor.

        Returns
        -------
        Problem
            A new problem over the same data.
        """
        other = object.__new__(Problem)
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("image_squares", None)  # of the kernel that it had
        other.kernel = get_kernel(kernel).resolved(self.rows)
        other._check_kernel()
        return other

    def fingerprint(self) -> str:
        """Return a digest of shape, options, labels, weights and a sample of the blocks.

        It tells whether a saved state or certificate belongs to this problem; it is no proof
        against somebody who sets out to forge one.

        Returns
        -------
        str
            32 hexadecimal digits.
        """
        digest = hashlib.blake2b(digest_size=16)
        options: tuple[Any, ...] = (
            self.loss,
            self.C,
            self.intercept.value,
            self.constant_feature,
        )
        if self.kernel is not None:
            options = (*options, self.kernel)
        digest.update(repr((self.n_rows, self.n_features, *options)).encode())
        digest.update(self.signs.tobytes())
        if self.sample_weight is not None:
            digest.update(self.sample_weight.tobytes())
        digest.update(self.rows.squared_norms.tobytes())
        picks = np.unique(np.linspace(0, self.rows.n_blocks - 1, _FINGERPRINT_BLOCKS).astype(int))
        probe = np.cos(np.arange(self.n_features, dtype=np.float64))
        with single_threaded_blas():
            for number in picks:
                digest.update(self.rows.block(int(number)).dot(probe).tobytes())
        return digest.hexdigest()

    @cached_property
    def image_squares(self) -> Floats:
        """Upper bounds on k(x, x) of every row: squared norms of the images of a kernel."""
        if self.kernel is None:
            return self.rows.norm_bounds(self.rows.squared_norms) ** 2 * (1.0 + 4.0 * UNIT_ROUNDOFF)
        with single_threaded_blas():
            return self.kernel.training_diagonal_above(self.rows)

    @cached_property
    def cost_squares(self) -> float:
        """The sum of all costs times squared norms of the rows; infinite if it overflows."""
        with np.errstate(over="ignore"):
            return float(np.sum(self.costs * self.rows.squared_norms))

    @property
    def largest_norm(self) -> float:
        """An upper bound on the norm of every row, or of its image, that has a cost."""
        counted = True if self.sample_weight is None else self.sample_weight > 0
        if self.kernel is not None:
            largest = np.max(self.image_squares, where=counted, initial=0.0)
            return math.sqrt(float(largest)) * (1.0 + 4.0 * UNIT_ROUNDOFF)
        largest = np.max(self.rows.squared_norms, where=counted, initial=0.0, keepdims=True)
        return float(self.rows.norm_bounds(largest)[0])

    def _check_kernel(self) -> None:
        """Refuse what a kernel machine does not have."""
        if self.kernel is None:
            return
        if self.intercept is Intercept.AUGMENTED:
            message = (
                "with a kernel the intercept is 'free' or 'none'; got 'augmented'. Add a constant "
                "to the kernel for a penalised one."
            )
            raise UnsupportedError(message)
        if self.is_hard:
            message = "C must be finite with a kernel; use a large one, such as 1e6."
            raise UnsupportedError(message)

    def _check_costs(self) -> None:
        """Refuse weights that leave a class empty, or products that leave floating point."""
        if self.sample_weight is None:
            return
        with np.errstate(over="ignore", under="ignore"):
            costs = self.costs
        lost = np.flatnonzero(~np.isfinite(costs) | ((costs == 0) & (self.sample_weight > 0)))
        if len(lost) and not self.is_hard:
            message = (
                f"C * sample_weight is {costs[lost[0]]!r} in row {lost[0]} (C={self.C!r}, weight "
                f"{self.sample_weight[lost[0]]!r}): beyond floating point. Rescale the weights."
            )
            raise InvalidWeightsError(message)
        counted = costs > 0
        for sign, label in zip((-1, 1), self.classes.tolist(), strict=True):
            if not np.any(counted & (self.signs == sign)):
                message = (
                    f"class {label!r} has no row of positive weight: only one class is left. "
                    "Give at least one of its rows a sample_weight above 0, or drop its rows."
                )
                raise InvalidWeightsError(message)


def C_from_lambda(regularization: float, n_rows: int) -> float:
    """Return the C of ``regularization/2 ||w||^2 + mean loss``, the form of Pegasos.

    Parameters
    ----------
    regularization : float
        The factor lambda of the squared norm.
    n_rows : int
        Number of rows that the mean is over.

    Returns
    -------
    float
        The C with the same minimiser; that form's objective is this one's times lambda.

    Examples
    --------
    >>> C_from_lambda(0.01, 1000)
    0.1
    """
    return 1.0 / (positive(regularization, "regularization") * n_rows)


def C_from_mean(C: float, n_rows: int) -> float:
    """Return the C of ``1/2 ||w||^2 + C * mean loss``, the form of cutting-plane papers.

    Parameters
    ----------
    C : float
        The factor of the mean loss.
    n_rows : int
        Number of rows that the mean is over.

    Returns
    -------
    float
        The C of the sum with the same objective.

    Examples
    --------
    >>> C_from_mean(100.0, 1000)
    0.1
    """
    return positive(C, "C") / n_rows


def _intercept(intercept: str | Intercept) -> Intercept:
    try:
        return Intercept(intercept)
    except ValueError:
        raise unknown_name(intercept, "intercept", [kind.value for kind in Intercept]) from None
