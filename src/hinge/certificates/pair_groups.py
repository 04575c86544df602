r"""Machines of pairs of groups of rows, group by group.

The rows of a class meet, in all pairs of classes that it is in, the support vectors of their own
class. With the weights :math:`A_g` that these have in the pairs, a column for each, one product

.. math:: K(\text{rows of } g, S_g)\, A_g

gives the sums over them in all pairs at once. Rows of a group are put in an order in which those
come first that are a support vector in any of its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import InnerProductKernel
from hinge.losses import Loss
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class PairPoints:
    """Points of the problems of pairs of groups of rows, all with a free intercept.

    Parameters
    ----------
    kernel : InnerProductKernel
        The kernel.
    loss : Loss
        The loss of a margin.
    rows : Rows
        The rows.
    groups : list of ndarray of int64
        Numbers of the rows of every group; no row is in two.
    costs : list of ndarray
        Costs of the rows of every group, all positive.
    pairs : list of tuple of two int
        The groups of every problem; labels of the first are -1, of the second +1.
    alpha : list of tuple of two ndarray
        For every problem, dual coefficients of the rows of both groups; finite.
    intercept : ndarray of shape (n_pairs,)
        The intercepts; finite.
    """

    kernel: InnerProductKernel
    loss: Loss
    rows: Rows
    groups: list[Ids]
    costs: list[Floats]
    pairs: list[tuple[int, int]]
    alpha: list[tuple[Floats, Floats]]
    intercept: Floats

    @cached_property
    def sides(self) -> list[Side]:
        """The groups that are in a pair, with what they are in all of theirs."""
        found: dict[int, list[tuple[int, int]]] = {}
        for number, pair in enumerate(self.pairs):
            for place, group in enumerate(pair):
                found.setdefault(group, []).append((number, place))
        return [Side(self, group, places) for group, places in found.items()]


class Side:
    """A group of rows in all pairs that it is in; support vectors come first.

    Parameters
    ----------
    points : PairPoints
        The points.
    group : int
        Which group.
    places : list of tuple of two int
        The pairs that it is in, and whether as the first (0) or the second (1).

    Attributes
    ----------
    ids : ndarray of int64 of shape (n,)
        Numbers of its rows, in the order of all arrays here.
    alpha : ndarray of shape (n_pairs, n)
        Their coefficients in every pair; those from ``n_support`` on are zero.
    costs : ndarray of shape (n,)
        Their costs.
    signs : ndarray of shape (n_pairs, 1)
        Their label in every pair.
    """

    def __init__(self, points: PairPoints, group: int, places: list[tuple[int, int]]) -> None:
        alpha = np.stack([points.alpha[number][place] for number, place in places])
        is_support = (alpha != 0.0).any(axis=0)
        order = np.argsort(~is_support, kind="stable")
        self.group = group
        self.numbers = [number for number, _ in places]
        self.others = [points.pairs[number][1 - place] for number, place in places]
        self.signs = np.asarray([[1.0 if place else -1.0] for _, place in places])
        self.order = order
        self.ids = points.groups[group][order]
        self.alpha = alpha[:, order]
        self.costs = points.costs[group][order]
        self.n_support = int(np.count_nonzero(is_support))

    def place_of(self, number: int) -> int:
        """Return which of the group's pairs a pair is."""
        return self.numbers.index(number)
