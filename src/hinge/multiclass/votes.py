r"""From the decision values of pairs of classes to one value per class, and to the class that wins.

A pair (i, j), i < j, votes for i if its decision value is positive, else for j, as LIBSVM counts.
With the sum s of a class's decision values, each with the sign that favours the class,

.. math:: v_i = \text{votes}_i + \frac13\, \frac{s_i}{|s_i| + 1} .

The fraction lies between -1/3 and 1/3, so that it decides between classes with equally many votes
and never against a vote. ``predict`` is the class of the largest :math:`v_i`, always: unlike in
scikit-learn, where it is the first of the classes with the most votes unless ``break_ties`` is set.
"""

from __future__ import annotations

import functools
import itertools

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROWS_AT_ONCE = 1024
_LARGEST = 1e300  # of a decision value that is summed: what is beyond would overflow


def class_values(values: Floats, n_classes: int) -> Floats:
    """Return one value per class from those of the pairs.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_classes * (n_classes - 1) / 2)
        Decision values of the pairs (0, 1), (0, 2), ..., positive for the first class.
    n_classes : int
        How many classes there are.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Votes, and what decides between as many.
    """
    numbers, signs = _pairs_of_classes(n_classes)
    found = np.empty((len(values), n_classes))
    for start in range(0, len(values), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        of_class = np.minimum(np.maximum(values[part], -_LARGEST), _LARGEST)[:, numbers]
        # A value of exactly zero is a vote for the second class of its pair.
        votes = ((of_class > 0.0) == (signs > 0.0)).sum(axis=2)
        # One after the other, in the order of the pairs: a sum in pairs would have other bits.
        sums = np.add.accumulate(of_class * signs, axis=2)[:, :, -1]
        found[part] = votes + sums / (np.abs(sums) + 1.0) / 3.0
    return found


@functools.cache
def _pairs_of_classes(n_classes: int) -> tuple[NDArray[np.intp], Floats]:
    """Return the pairs of every class, in their order, and the sign that favours the class."""
    numbers: list[list[int]] = [[] for _ in range(n_classes)]
    signs: list[list[float]] = [[] for _ in range(n_classes)]
    pairs = itertools.combinations(range(n_classes), 2)
    for number, pair in enumerate(pairs):
        for which, sign in zip(pair, (1.0, -1.0), strict=True):
            numbers[which].append(number)
            signs[which].append(sign)
    return np.array(numbers), np.array(signs)


def winners(values: Floats, n_classes: int) -> NDArray[np.intp]:
    """Return the position of each row's class.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_pairs)
        Decision values of the pairs; with two classes positive for the second one.
    n_classes : int
        How many classes there are.
    """
    if n_classes == 2:
        # LIBSVM gives a decision value of exactly zero to the second class of a pair.
        return (values[:, 0] >= 0.0).astype(np.intp)
    return np.asarray(class_values(values, n_classes).argmax(axis=1))
