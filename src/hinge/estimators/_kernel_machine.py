"""A fitted kernel machine: support vectors, and the coefficients of every pair of classes.

Signs and layout are scikit-learn's. Support vectors are in the order of their classes. Column s of
``dual_coef`` has the coefficients of support vector s in the pairs of its class with each of the
others, in their order. With two classes the coefficients of the second one are positive, and so are
its decision values; with more, those of the first class of every pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    dual_coef : ndarray of shape (n_classes - 1, n_SV)
        Their coefficients.
    intercept : ndarray of shape (n_pairs,)
        Intercepts of the pairs.
    """

    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    dual_coef: Floats
    intercept: Floats


def support_of(points: Mapping[int, Point], pairs: ClassPairs) -> Support:
    """Return the support vectors of the points of pairs; pairs without a point have none.

    Parameters
    ----------
    points : mapping of int to Point
        The known points by the number of their pair.
    pairs : ClassPairs
        The pairs, with the labels of the rows.
    """
    labels = pairs.labels
    n_classes, n_rows = len(labels.classes), len(labels.codes)
    sign = 1.0 if len(pairs) == 1 else -1.0
    found = []
    used = np.zeros(n_rows, dtype=bool)
    intercept = np.zeros(len(pairs))
    for number, point in points.items():
        active, alpha = _function_of(point, labels.codes, pairs, number)
        ids = pairs.rows_of(number)
        rows = active if ids is None else ids[active]
        used[rows] = True
        intercept[number] = sign * point.intercept
        found.append((*pairs.pairs[number], rows, alpha))
    support = np.flatnonzero(used)
    support = support[np.argsort(labels.codes[support], kind="stable")]
    place = np.empty(n_rows, dtype=np.int64)
    place[support] = np.arange(len(support))
    dual_coef = np.zeros((n_classes - 1, len(support)))
    for first, second, rows, alpha in found:
        is_second = labels.codes[rows] == second
        line = np.where(is_second, first, second - 1)
        dual_coef[line, place[rows]] = sign * np.where(is_second, alpha, -alpha)
    counts = np.bincount(labels.codes[support], minlength=n_classes)
    return Support(support.astype(np.int32), counts.astype(np.int32), dual_coef, intercept)


def _function_of(
    point: Point, codes: NDArray[Any], pairs: ClassPairs, number: int
) -> tuple[NDArray[np.int64], Floats]:
    """Return the rows that a point's function is a sum over, and coefficients times their signs.

    Those of basis rows may be negative: such a function is not that of a dual point.
    """
    assert point.dual_coef is not None
    if not isinstance(point, BasisPoint):
        active = np.flatnonzero(point.dual_coef)
        return active, point.dual_coef[active]
    used = np.flatnonzero(point.basis_coef)
    used = used[np.argsort(point.basis[used], kind="stable")]
    active = point.basis[used]
    ids = pairs.rows_of(number)
    is_second = codes[active if ids is None else ids[active]] == pairs.pairs[number][1]
    return active, np.where(is_second, 1.0, -1.0) * point.basis_coef[used]


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
