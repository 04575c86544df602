"""Labels of any number of classes, and the binary problems that they stand for.

One problem per class against the rest; two classes need one problem, with the second class as the
positive one. Every problem shares the rows; a problem's own are a byte per row for the signs and,
only where there are weights, eight for those.

Class weights follow LIBLINEAR, so that the objectives are scikit-learn's. Of two classes each has
its weight. Of more, the weight of a class multiplies its own rows where it is the positive one;
where it is part of the rest, its rows count as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.labels import WeightsAsRead
from hinge.losses import Loss
from hinge.problem import Intercept, Problem
from hinge.rows import Rows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Objective:
    """What to minimise, apart from data and labels.

    Parameters
    ----------
    loss : Loss
        The loss of a margin.
    C : float
        Weight of the losses.
    intercept : Intercept
        How the intercept enters the objective.
    intercept_scale : float
        Value of the constant feature of an augmented intercept.
    kernel : Kernel or None
        The kernel, with every parameter a number; None for a linear machine.
    """

    loss: Loss
    C: float
    intercept: Intercept
    intercept_scale: float = 1.0
    kernel: Kernel | None = None


@dataclass(frozen=True)
class Labels:
    """The labels of the rows, encoded, with their weights.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    codes : ndarray of int of shape (n_samples,)
        Position of every row's label in ``classes``.
    sample_weight : ndarray of shape (n_samples,) or None
        Weights of the rows.
    class_weight : ndarray of shape (n_classes,) or None
        Weights of the classes.
    """

    classes: NDArray[Any]
    codes: NDArray[np.integer[Any]]
    sample_weight: Floats | None = None
    class_weight: Floats | None = None

    @property
    def n_problems(self) -> int:
        """How many binary problems there are: one for two classes, else one per class."""
        return 1 if len(self.classes) == 2 else len(self.classes)

    def positive_class(self, number: int) -> int:
        """Return which class is the positive one of problem ``number``."""
        return 1 if len(self.classes) == 2 else number

    def weights(self, number: int) -> Floats | None:
        """Return the weights of the rows in problem ``number``; None if all are 1."""
        if self.class_weight is None:
            return self.sample_weight
        factors: Floats
        if len(self.classes) == 2:
            factors = self.class_weight[self.codes]
        else:
            factors = np.where(self.codes == number, self.class_weight[number], 1.0)
        return factors if self.sample_weight is None else factors * self.sample_weight


def class_problem(rows: Rows, labels: Labels, objective: Objective, number: int) -> Problem:
    """Return binary problem ``number``, which shares the rows with all the others.

    Parameters
    ----------
    rows : Rows
        The data.
    labels : Labels
        Labels and weights of the rows.
    objective : Objective
        Loss, C and intercept.
    number : int
        Which of the ``labels.n_problems`` problems.

    Returns
    -------
    Problem
        The class against the rest.
    """
    weights = labels.weights(number)
    return Problem(
        rows,
        labels.codes == labels.positive_class(number),
        loss=objective.loss,
        C=objective.C,
        intercept=objective.intercept,
        intercept_scale=objective.intercept_scale,
        kernel=objective.kernel,
        sample_weight=None if weights is None else WeightsAsRead(weights),
    )
