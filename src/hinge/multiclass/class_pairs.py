"""Pairs of classes, the rows of each pair, and the binary problem that it stands for.

A pair of classes has a part of the rows, which is copied only by those that need it in one piece;
what kernel values need of the rows is prepared once for all pairs. Rows of weight zero are left
out. Two classes are the whole data and are used in place. The weight of a class multiplies its rows
in every pair, as in LIBSVM, so that the objectives are scikit-learn's.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel, Precomputed
from hinge.labels import WeightsAsRead
from hinge.multiclass.labels import Labels, Objective
from hinge.problem import Problem
from hinge.rows import Rows
from hinge.rows_part import SharedRows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class ClassPairs:
    """The pairs of classes, in the order of scikit-learn: (0, 1), (0, 2), ..., (1, 2), ...

    Parameters
    ----------
    labels : Labels
        Labels and weights of the rows.
    whole : Labels or None, default=None
        Where some rows of a pair have no weight, since they are held out: labels by whose weights
        it is decided which rows a pair has. None for those of ``labels``.
    """

    is_of_pairs: ClassVar[bool] = True

    def __init__(self, labels: Labels, whole: Labels | None = None) -> None:
        self.labels = labels
        self._whole = labels if whole is None else whole
        count = len(labels.classes)
        self.pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def unit(self) -> str:
        """What a problem is about, for messages."""
        return "class" if len(self.pairs) == 1 else "pair of classes"

    def rows_of(self, number: int) -> Ids | None:
        """Return the rows of a pair, those of its first class first; None if it is all of them.

        Parameters
        ----------
        number : int
            Which pair.
        """
        if len(self.pairs) == 1:
            return None
        first, second = self.pairs[number]
        return np.concatenate((self._members[first], self._members[second]))

    def rows_of_class(self, which: int) -> Ids:
        """Return the rows of a class that count.

        Parameters
        ----------
        which : int
            Which class.
        """
        return self._members[which]

    def weights_of_class(self, which: int) -> Floats:
        """Return what multiplies C in the rows of a class that count.

        Parameters
        ----------
        which : int
            Which class.
        """
        rows = self._members[which]
        return np.ones(len(rows)) if self._weights is None else self._weights[rows]

    def size(self, number: int) -> int:
        """Return how many rows a pair has.

        Parameters
        ----------
        number : int
            Which pair.
        """
        if len(self.pairs) == 1:
            return len(self.labels.codes)
        return sum(len(self._members[which]) for which in self.pairs[number])

    def label(self, number: int) -> Any:
        """Return what a pair is about: its two classes, or the second one if there are only two.

        Parameters
        ----------
        number : int
            Which pair.
        """
        classes = self.labels.classes
        if len(self.pairs) == 1:
            return classes[1]
        first, second = self.pairs[number]
        return classes[first], classes[second]

    def is_positive(self, number: int, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows belong to the second class of a pair, the positive one of its problem.

        Parameters
        ----------
        number : int
            Which pair.
        rows : ndarray of int
            Numbers of rows among all.
        """
        return np.asarray(self.labels.codes[rows] == self.pairs[number][1])

    def shared(self, rows: Rows, kernel: Kernel | None) -> Rows | SharedRows:
        """Return rows of which every pair takes its part; rows without weight are not among them.

        Parameters
        ----------
        rows : Rows
            The data.
        kernel : Kernel or None
            The kernel; of a matrix pairs take columns as well, and share nothing.
        """
        weights = self._whole.sample_weight
        if len(self.pairs) == 1 or isinstance(kernel, Precomputed):
            return rows
        if weights is None or bool(np.all(weights)):
            return SharedRows(rows)
        return SharedRows(rows, np.flatnonzero(weights))

    def own_rows(self, rows: Rows | SharedRows, kernel: Kernel | None, number: int) -> Rows:
        """Return the rows of a pair.

        Parameters
        ----------
        rows : Rows or SharedRows
            The data; of shared rows a part is returned, else a copy.
        kernel : Kernel or None
            The kernel; of a matrix the columns are those of the pair as well.
        number : int
            Which pair.
        """
        ids = self.rows_of(number)
        if ids is None:
            assert isinstance(rows, Rows)
            return rows
        return _taken(rows, ids, isinstance(kernel, Precomputed))

    def problem(
        self,
        rows: Rows | SharedRows,
        objective: Objective,
        number: int,
        own: Rows | None = None,
    ) -> Problem:
        """Return the problem of a pair; its second class is the positive one.

        Parameters
        ----------
        rows : Rows or SharedRows
            The data; of shared rows the problem has a part, else a copy of what it needs.
        objective : Objective
            Loss, C, intercept and kernel.
        number : int
            Which pair.
        own : Rows or None, default=None
            The rows of the pair, where they are known; see ``own_rows``.
        """
        ids = self.rows_of(number)
        weights, codes = self._weights, self.labels.codes
        if ids is not None:
            weights = None if weights is None else weights[ids]
            codes = codes[ids]
        positive = codes == self.pairs[number][1]
        return Problem(
            self.own_rows(rows, objective.kernel, number) if own is None else own,
            positive,
            loss=objective.loss,
            C=objective.C,
            intercept=objective.intercept,
            kernel=objective.kernel,
            sample_weight=None if weights is None else WeightsAsRead(weights),
        )

    @cached_property
    def _weights(self) -> Floats | None:
        """What multiplies C in every row; None if that is 1."""
        labels = self.labels
        if labels.class_weight is None:
            return labels.sample_weight
        factors: Floats = labels.class_weight[labels.codes]
        return factors if labels.sample_weight is None else factors * labels.sample_weight

    @cached_property
    def _members(self) -> list[Ids]:
        """The rows of every class that count."""
        labels = self._whole
        rows = np.arange(len(labels.codes))
        if labels.sample_weight is not None:
            rows = np.flatnonzero(labels.sample_weight)
        codes = labels.codes[rows]
        ordered = rows[np.argsort(codes, kind="stable")]
        ends = np.cumsum(np.bincount(codes, minlength=len(labels.classes)))
        return np.split(ordered, ends[:-1])


def _taken(rows: Rows | SharedRows, ids: Ids, is_precomputed: bool) -> Rows:
    """Return some of the rows; of a kernel matrix, their columns alone."""
    if isinstance(rows, SharedRows):
        return rows.part(ids)
    if not is_precomputed:
        return rows.take(ids)
    return Rows(rows.matrix[ids][:, ids])
