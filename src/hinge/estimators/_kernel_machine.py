"""A fitted kernel machine: support vectors, and the coefficients of every pair of classes.

Signs and layout are scikit-learn's. Support vectors are in the order of their classes. Column s of
``dual_coef`` has the coefficients of support vector s in the pairs of its class with each of the
others, in their order. With two classes the coefficients of the second one are positive, and so are
its decision values; with more, those of the first class of every pair.

Where every class is against the rest, row k of ``dual_coef`` has the coefficients of the machine of
class k, positive for its own support vectors, and its decision values are positive for the class.
So there is a row more than for pairs of as many classes, which tells the two apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.estimators._division import Division
from hinge.multiclass import ClassPairs
from hinge.result import BasisPoint, Point

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Support:
    """Which rows are support vectors, and with what coefficients.

    Parameters
    ----------
    rows : ndarray of int32 of shape (n_SV,)
        Numbers of the rows, in the order of their classes.
    counts : ndarray of int32 of shape (n_classes,)
        How many each class has.
    dual_coef : ndarray of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Their coefficients, of pairs or of classes against the rest.
    intercept : ndarray of shape (n_pairs,) or (n_classes,)
        Intercepts.
    """

    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    dual_coef: Floats
    intercept: Floats


def support_of(points: Mapping[int, Point], division: Division) -> Support:
    """Return the support vectors of the points of problems; those without a point have none.

    Parameters
    ----------
    points : mapping of int to Point
        The known points by the number of their problem.
    division : ClassPairs or ClassesAgainstRest
        The problems, with the labels of the rows.
    """
    labels = division.labels
    n_classes, n_rows = len(labels.classes), len(labels.codes)
    found = []
    used = np.zeros(n_rows, dtype=bool)
    # A class without a machine is nobody's: its decision value is less than those of others.
    intercept = np.full(len(division), 0.0 if division.is_of_pairs else -1.0)
    sign = -1.0 if division.is_of_pairs and len(division) > 1 else 1.0
    for number, point in points.items():
        rows, alpha, is_positive = _function_of(point, division, number)
        used[rows] = True
        intercept[number] = sign * point.intercept
        found.append((number, rows, sign * np.where(is_positive, alpha, -alpha), is_positive))
    support = np.flatnonzero(used)
    support = support[np.argsort(labels.codes[support], kind="stable")]
    place = np.empty(n_rows, dtype=np.int64)
    place[support] = np.arange(len(support))
    dual_coef = np.zeros((n_classes - division.is_of_pairs, len(support)))
    for number, rows, coefficients, is_positive in found:
        line: Any = number
        if isinstance(division, ClassPairs):
            first, second = division.pairs[number]
            line = np.where(is_positive, first, second - 1)
        dual_coef[line, place[rows]] = coefficients
    counts = np.bincount(labels.codes[support], minlength=n_classes)
    return Support(support.astype(np.int32), counts.astype(np.int32), dual_coef, intercept)


def _function_of(
    point: Point, division: Division, number: int
) -> tuple[NDArray[np.int64], Floats, NDArray[np.bool_]]:
    """Return the rows that a point's function is a sum over, coefficients times their signs, signs.

    Those of basis rows may be negative: such a function is not that of a dual point.
    """
    assert point.dual_coef is not None
    ids = division.rows_of(number)
    if not isinstance(point, BasisPoint):
        active = np.flatnonzero(point.dual_coef)
        rows = active if ids is None else ids[active]
        return rows, point.dual_coef[active], division.is_positive(number, rows)
    used = np.flatnonzero(point.basis_coef)
    used = used[np.argsort(point.basis[used], kind="stable")]
    active = point.basis[used]
    rows = active if ids is None else ids[active]
    is_positive = division.is_positive(number, rows)
    return rows, np.where(is_positive, 1.0, -1.0) * point.basis_coef[used], is_positive


def coefficients_of(dual_coef: Floats, counts: NDArray[Any]) -> Floats:
    """Return the coefficients of every support vector in every machine.

    Parameters
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients of pairs, in scikit-learn's layout, or of classes against the rest.
    counts : ndarray of int of shape (n_classes,)
        How many support vectors each class has.

    Returns
    -------
    ndarray of shape (n_SV, n_pairs) or (n_SV, n_classes)
        Zero where a support vector has no part in a machine.
    """
    if is_against_rest(dual_coef, len(counts)):
        return np.ascontiguousarray(dual_coef.T)
    return pair_coefficients(dual_coef, counts)


def is_against_rest(dual_coef: Any, n_classes: int) -> bool:
    """Return whether coefficients are those of classes against the rest, not of pairs.

    Parameters
    ----------
    dual_coef : ndarray or sparse array
        Coefficients in either layout.
    n_classes : int
        How many classes there are.
    """
    return n_classes > 2 and np.shape(dual_coef)[:1] == (n_classes,)


def machine_count(dual_coef: Any, n_classes: int) -> int:
    """Return how many machines, and intercepts, there are.

    Parameters
    ----------
    dual_coef : ndarray or sparse array
        Coefficients in either layout.
    n_classes : int
        How many classes there are.
    """
    of_pairs = n_classes * (n_classes - 1) // 2
    return n_classes if is_against_rest(dual_coef, n_classes) else of_pairs


def pair_coefficients(dual_coef: Floats, counts: NDArray[Any]) -> Floats:
    """Return the coefficients of every support vector in every pair.

    Parameters
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n_SV)
        Coefficients, in scikit-learn's layout.
    counts : ndarray of int of shape (n_classes,)
        How many support vectors each class has.

    Returns
    -------
    ndarray of shape (n_SV, n_pairs)
        Zero where a support vector is of neither class of the pair.
    """
    n_classes = len(counts)
    ends = np.cumsum(counts)
    own = [slice(int(end - count), int(end)) for end, count in zip(ends, counts, strict=True)]
    pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
    coefficients = np.zeros((dual_coef.shape[1], len(pairs)))
    for number, (first, second) in enumerate(pairs):
        coefficients[own[first], number] = dual_coef[second - 1, own[first]]
        coefficients[own[second], number] = dual_coef[first, own[second]]
    return coefficients
