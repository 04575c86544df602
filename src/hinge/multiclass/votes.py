r"""From the decision values of pairs of classes to one value per class, and to the class that wins.

A pair (i, j), i < j, votes for i if its decision value is positive, else for j, as LIBSVM counts.
With the sum s of a class's decision values, each with the sign that favours the class,

.. math:: v_i = \text{votes}_i + \frac13\, \frac{s_i}{|s_i| + 1} .

The fraction lies between -1/3 and 1/3, so that it decides between classes with equally many votes
and never against a vote. ``predict`` is the class of the largest :math:`v_i`, always: unlike in
scikit-learn, where it is the first of the classes with the most votes unless ``break_ties`` is set.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

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
    votes = np.zeros((len(values), n_classes))
    sums = np.zeros((len(values), n_classes))
    bounded = np.clip(values, -_LARGEST, _LARGEST)
    number = 0
    for first in range(n_classes):
        for second in range(first + 1, n_classes):
            of_pair = bounded[:, number]
            is_first = of_pair > 0.0
            votes[:, first] += is_first
            votes[:, second] += ~is_first
            sums[:, first] += of_pair
            sums[:, second] -= of_pair
            number += 1
    return votes + sums / (np.abs(sums) + 1.0) / 3.0


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
