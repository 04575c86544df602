"""A kernel classifier as arrays, whoever made it: decision functions of pairs, or of classes.

The conventions are scikit-learn's. Support vectors stand class by class. With more than two classes
there is a decision function for each pair (i, j), i < j, which is positive for class i; a support
vector of class c has its coefficient of the pair with class d in row d of ``dual_coef``, or d - 1
for d > c. With two classes there is one function, which is positive for the second class.
Coefficients are label times dual coefficient, so those of one class have one sign in each function.

Where every one of three or more classes is against the rest, there is a function for each class,
which is positive for it, and ``dual_coef`` has a row for each of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.estimators._kernel_machine import is_against_rest
from hinge.kernels import Kernel, Precomputed
from hinge.result import Point

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_VECTORS_AT_A_TIME = 1024


@dataclass(frozen=True)
class KernelMachine:
    """Decision functions over support vectors, all parts fitting each other.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels, in strictly ascending order.
    kernel : Kernel
        With numbers as parameters.
    vectors : ndarray or csr_array of shape (n_support, n_features), or None
        The support vectors; None for a precomputed kernel.
    n_support : ndarray of int of shape (n_classes,)
        How many of them each class has.
    dual_coef : ndarray of shape (n_classes - 1, n_support) or (n_classes, n_support)
        Coefficients, all finite.
    intercept : ndarray of shape (n_functions,)
        Intercepts, all finite.
    n_features : int
        Number of features; for a precomputed kernel, of training rows.
    rows : ndarray of int of shape (n_support,) or None, default=None
        Which training rows the support vectors are, where that is known.
    feature_names : ndarray of str of shape (n_features,) or None, default=None
        Names of the features.
    """

    classes: NDArray[Any]
    kernel: Kernel
    vectors: Any
    n_support: Ints
    dual_coef: Floats
    intercept: Floats
    n_features: int
    rows: Ints | None = None
    feature_names: NDArray[Any] | None = None

    @property
    def is_against_rest(self) -> bool:
        """Whether there is a function for each class, not for each pair."""
        return is_against_rest(self.dual_coef, len(self.classes))

    @property
    def sign(self) -> float:
        """What the functions are times those of the problems, whose second class is positive."""
        return 1.0 if len(self.classes) == 2 or self.is_against_rest else -1.0

    @property
    def is_precomputed(self) -> bool:
        """Whether support vectors are known by number only."""
        return isinstance(self.kernel, Precomputed)


def pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of their decision functions.

    Parameters
    ----------
    n_classes : int
        How many classes there are.
    """
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]


def coefficient_row(own: int, other: int) -> int:
    """Return the row of ``dual_coef`` that a class has for its pair with another.

    Parameters
    ----------
    own, other : int
        The class of the support vectors, and the one that it is opposed to.
    """
    return other if other < own else other - 1


def class_slices(n_support: Any) -> list[slice]:
    """Return which support vectors each class has.

    Parameters
    ----------
    n_support : sequence of int
        How many each has.
    """
    stops = np.cumsum(np.asarray(n_support, dtype=np.int64)).tolist()
    return [slice(a, b) for a, b in zip([0, *stops[:-1]], stops, strict=True)]


def wrong_sign(n_support: Any, dual_coef: Floats) -> tuple[int, int, int] | None:
    """Return where a coefficient has the sign of the other class, if anywhere.

    No dual coefficient is negative, so label times dual coefficient has the sign of the label.

    Parameters
    ----------
    n_support : sequence of int
        Support vectors of each class.
    dual_coef : ndarray of shape (n_classes - 1, n_support) or (n_classes, n_support)
        Coefficients in either layout.

    Returns
    -------
    tuple of int or None
        The support vector, its class, and the class that it is opposed to, or whose function it is.
    """
    slices = class_slices(n_support)
    if is_against_rest(dual_coef, len(slices)):
        return _wrong_sign_against_rest(slices, dual_coef)
    positive_first = len(slices) > 2
    for own, part in enumerate(slices):
        for other in range(len(slices)):
            if other == own:
                continue
            values = dual_coef[coefficient_row(own, other), part]
            is_positive = (own < other) == positive_first
            wrong = values < 0.0 if is_positive else values > 0.0
            if wrong.any():
                return part.start + int(np.argmax(wrong)), own, other
    return None


def _wrong_sign_against_rest(slices: list[slice], dual_coef: Floats) -> tuple[int, int, int] | None:
    """Return where a coefficient of a class against the rest has the sign of the other side."""
    own = np.repeat(np.arange(len(slices)), [part.stop - part.start for part in slices])
    for number, values in enumerate(dual_coef):
        wrong = np.where(own == number, values < 0.0, values > 0.0)
        if wrong.any():
            vector = int(np.argmax(wrong))
            return vector, int(own[vector]), number
    return None


def overflowing_vector(vectors: Any) -> int | None:
    """Return the first support vector whose squared norm overflows; no row of data has such a one.

    Parameters
    ----------
    vectors : ndarray or csr_array of shape (n_support, n_features)
        Support vectors of finite numbers.
    """
    for start in range(0, vectors.shape[0], _VECTORS_AT_A_TIME):
        few: Any = sp.csr_array(vectors[start : start + _VECTORS_AT_A_TIME], dtype=np.float64)
        with np.errstate(over="ignore"):
            squares = np.asarray(few.power(2).sum(axis=1)).ravel()
        if not np.isfinite(squares).all():
            return start + int(np.argmin(np.isfinite(squares)))
    return None


def differs_from_solutions(machine: KernelMachine, points: list[Point]) -> bool:
    """Return whether coefficients or intercepts are not those of the problems' points.

    Parameters
    ----------
    machine : KernelMachine
        The parts of a fitted model.
    points : list of Point
        One for each function; without dual coefficients where a model was loaded.
    """
    n_classes, sign = len(machine.classes), machine.sign
    if len(points) != len(machine.intercept):
        return True
    if not np.array_equal([sign * point.intercept for point in points], machine.intercept):
        return True
    if machine.is_against_rest:
        return any(
            _differs_from_point(machine, np.abs(own), point)
            for own, point in zip(machine.dual_coef, points, strict=True)
        )
    slices = class_slices(machine.n_support)
    for (first, second), point in zip(pairs(n_classes), points, strict=True):
        if point.dual_coef is None:
            continue
        own = np.abs(machine.dual_coef[coefficient_row(first, second), slices[first]])
        other = np.abs(machine.dual_coef[coefficient_row(second, first), slices[second]])
        both = np.concatenate((own, other))
        kept = point.dual_coef[point.dual_coef != 0.0]
        if n_classes == 2:
            if _differs_from_point(machine, both, point):
                return True
        elif not np.array_equal(kept, both[both != 0.0]):
            return True
    return False


def _differs_from_point(machine: KernelMachine, sizes: Floats, point: Point) -> bool:
    """Return whether coefficients of all support vectors are not those of a point of all rows."""
    if point.dual_coef is None:
        return False
    if machine.rows is None or not np.array_equal(point.dual_coef[machine.rows], sizes):
        return True
    return bool(np.count_nonzero(point.dual_coef) != np.count_nonzero(sizes))
