"""Machines of libraries that number classes as they come in the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.kernel.method import Machine


def in_sorted_order(support: Any, dual: Any, values: Any, labels: Any, owners: Any) -> Machine:
    """Return the machine with its classes in sorted order.

    Parameters
    ----------
    support : ndarray of int of shape (n_support,)
        The support vectors.
    dual : ndarray of shape (n_classes - 1, n_support)
        Coefficients in the layout of :class:`Machine`, by the library's numbers of classes.
    values : ndarray of shape (n_pairs,)
        Intercepts; positive for the *first* of a pair of the library's numbers.
    labels : sequence of int
        The label of each of the library's numbers.
    owners : ndarray of int of shape (n_support,)
        The library's number of each support vector's class.
    """
    n = len(labels)
    place = [int(rank) for rank in np.argsort(np.argsort(labels))]
    ordered = np.zeros((n - 1, len(owners)))
    for mine in range(n):
        columns = np.flatnonzero(np.asarray(owners) == mine)
        for other in range(n):
            if other != mine:
                row = _row(mine, other)
                ordered[_row(place[mine], place[other]), columns] = dual[row, columns]
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    number = {pair: k for k, pair in enumerate(pairs)}
    intercept = np.zeros(len(pairs))
    for (first, second), value in zip(pairs, values, strict=True):
        i, j = place[first], place[second]
        # Ours is positive for the second of a sorted pair.
        intercept[number[min(i, j), max(i, j)]] = -value if i < j else value
    return Machine(np.asarray(support), ordered, intercept)


def _row(mine: int, other: int) -> int:
    """Return the row in which a class has its coefficients for the pair with another."""
    return other - 1 if mine < other else other
