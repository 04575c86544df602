"""Fitted attributes of a kernel classifier that was not fitted here."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.estimators._sparse_form import as_scikit_learn_has_it
from hinge.estimators.svc import worst_solution
from hinge.models.kernel_machine import KernelMachine
from hinge.result import Solution, Status


def adopt(model: Any, machine: KernelMachine, n_rows: int | None = None) -> None:
    """Set the fitted attributes of an estimator that its support vectors make.

    Parameters
    ----------
    model : SVC
        An estimator with its parameters.
    machine : KernelMachine
        Checked parts, which are not copied.
    n_rows : int or None, default=None
        Rows of the training data, if that is known.
    """
    model.classes_ = machine.classes
    model.kernel_ = machine.kernel
    model._gamma = float(getattr(machine.kernel, "gamma", 0.0))
    model._C_of_fit = float(model.C)
    model.approximations_ = None
    vectors = np.zeros((0, 0)) if machine.vectors is None else machine.vectors
    model.support_vectors_ = as_scikit_learn_has_it(vectors) if sp.issparse(vectors) else vectors
    model.n_support_ = _narrow(machine.n_support)
    model.dual_coef_ = machine.dual_coef
    model.intercept_ = machine.intercept
    model.n_features_in_ = machine.n_features
    model.probA_ = model.probB_ = np.zeros(0)
    if machine.rows is not None:
        model.support_ = _narrow(machine.rows)
    if machine.feature_names is not None:
        model.feature_names_in_ = machine.feature_names
    if n_rows is not None:
        model.shape_fit_ = (n_rows, machine.n_features)


def store_solutions(model: Any, solutions: list[Solution]) -> None:
    """Set what an estimator knows of the problem of each pair.

    Parameters
    ----------
    model : SVC
        An estimator with its parameters.
    solutions : list of Solution
        One for each pair.
    """
    model.solutions_ = solutions
    model.certificates_ = [solution.certificate for solution in solutions]
    model.solution_ = worst_solution(solutions)
    model.certificate_ = model.solution_.certificate
    model.n_iter_ = np.array([solution.steps for solution in solutions], dtype=np.int32)
    ended_well = (Status.SOLVED, Status.IMPORTED)
    model.fit_status_ = int(any(solution.status not in ended_well for solution in solutions))


def _narrow(numbers: NDArray[np.int64]) -> NDArray[Any]:
    """Return whole numbers as int32, as scikit-learn has them, where all of them fit."""
    fits = int(numbers.max(initial=0)) <= np.iinfo(np.int32).max
    return numbers.astype(np.int32) if fits else numbers
