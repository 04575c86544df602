"""Every class against the rest, for kernel machines: the same rows in every problem.

Rows of the kernel matrix do not depend on labels, so that what one problem has computed of it
serves all others. Weights of classes are those of :mod:`hinge.multiclass.labels`: the weight of a
class multiplies its rows where it is the positive one.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.multiclass.labels import Labels, Objective, class_problem
from hinge.problem import Problem
from hinge.rows import Rows


class ClassesAgainstRest:
    """The classes, each of them against all others, in the order of the labels.

    Parameters
    ----------
    labels : Labels
        Labels and weights of the rows, of three or more classes.
    """

    is_of_pairs: ClassVar[bool] = False
    unit: ClassVar[str] = "class"

    def __init__(self, labels: Labels) -> None:
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels.classes)

    def rows_of(self, number: int) -> None:
        """Return the rows of a problem; None, since it is all of them.

        Parameters
        ----------
        number : int
            Which class.
        """

    def size(self, number: int) -> int:  # noqa: ARG002 - as for pairs of classes
        """Return how many rows a problem has.

        Parameters
        ----------
        number : int
            Which class.
        """
        return len(self.labels.codes)

    def label(self, number: int) -> Any:
        """Return what a problem is about: its positive class.

        Parameters
        ----------
        number : int
            Which class.
        """
        return self.labels.classes[number]

    def is_positive(self, number: int, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which rows belong to the positive class of a problem.

        Parameters
        ----------
        number : int
            Which class.
        rows : ndarray of int
            Numbers of rows among all.
        """
        return np.asarray(self.labels.codes[rows] == number)

    def problem(self, rows: Rows, objective: Objective, number: int) -> Problem:
        """Return the problem of a class; it has the rows in common with all others.

        Parameters
        ----------
        rows : Rows
            The data.
        objective : Objective
            Loss, C, intercept and kernel.
        number : int
            Which class.
        """
        return class_problem(rows, self.labels, objective, number)
