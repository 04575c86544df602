r"""LIBLINEAR's text format for models: what it holds, and what it leaves out.

::

    solver_type L2R_L2LOSS_SVC_DUAL     loss and algorithm
    nr_class 3
    label 1 2 3                         whole numbers; of two, the first is the positive one
    nr_feature 4
    bias 1                              value of the constant feature; negative for none
    w
    0.25 -1 0.5                         a line for each feature, a number for each decision
    ...                                 function; the constant feature is the last line

Two classes have one decision function, more have one each. The file does not record C, weights of
classes, or whether the constant feature was regularised.
"""

from __future__ import annotations

from dataclasses import dataclass

FEWEST_CLASSES = 2


@dataclass(frozen=True)
class SolverType:
    """A kind of training that hinge's parameters can describe.

    Parameters
    ----------
    loss : str
        hinge's name of the loss.
    dual : bool
        Whether LIBLINEAR solved the dual problem.
    """

    loss: str
    dual: bool


SOLVER_TYPES = {
    "L2R_L2LOSS_SVC_DUAL": SolverType("squared_hinge", dual=True),
    "L2R_L2LOSS_SVC": SolverType("squared_hinge", dual=False),
    "L2R_L1LOSS_SVC_DUAL": SolverType("hinge", dual=True),
}

# What LIBLINEAR also trains, and what stands against calling it a LinearSVC.
OTHER_SOLVER_TYPES = {
    "L2R_LR": "logistic regression",
    "L2R_LR_DUAL": "logistic regression",
    "L1R_LR": "logistic regression",
    "L1R_L2LOSS_SVC": "a machine with an l1 penalty",
    "MCSVM_CS": "a machine of Crammer and Singer",
    "L2R_L2LOSS_SVR": "a regression",
    "L2R_L2LOSS_SVR_DUAL": "a regression",
    "L2R_L1LOSS_SVR_DUAL": "a regression",
    "ONECLASS_SVM": "a one-class machine",
}


@dataclass(frozen=True)
class Header:
    """What stands before the weights.

    Parameters
    ----------
    solver_type : str
        One of ``SOLVER_TYPES``.
    labels : tuple of int
        The labels in the order of the file, all different.
    n_features : int
        Number of features, without the constant one.
    bias : float
        Value of the constant feature; negative if there is none.
    """

    solver_type: str
    labels: tuple[int, ...]
    n_features: int
    bias: float

    @property
    def n_functions(self) -> int:
        """How many decision functions there are, which is the numbers in a line."""
        return 1 if len(self.labels) == 2 else len(self.labels)

    @property
    def n_lines(self) -> int:
        """How many lines of weights there are."""
        return self.n_features + (self.bias >= 0.0)
