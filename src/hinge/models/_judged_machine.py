"""What a fitted kernel machine claims: its functions, and the objective that its parameters name.

``sklearn.svm.SVC`` and ``hinge.SVC`` share their parameters: a free intercept, and one problem for
each pair of classes, where the weight of a class multiplies C for its rows. gamma is what the fit
has made of its rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.utils.validation import check_is_fitted

from hinge.certificates import gap
from hinge.certificates.kernel_foreign import foreign_objective
from hinge.errors import InvalidParameterError
from hinge.estimators._division import Division
from hinge.estimators._kernel_machine import is_against_rest
from hinge.estimators.svc import SVC
from hinge.kernels import Kernel, Precomputed
from hinge.losses import get_loss
from hinge.models._judged import shown_name
from hinge.models.fitted_machine import fitted_machine
from hinge.models.kernel_machine import KernelMachine
from hinge.models.machine_functions import own_machine, point_of
from hinge.models.support_rows import Found, find_support
from hinge.multiclass import Objective
from hinge.problem import Intercept, Problem
from hinge.result import Point
from hinge.rows import Rows

Floats = NDArray[np.float64]

# gamma="scale" is a variance, which programs sum in different orders, and so are balanced weights.
_SAME = 1e-9
_AT_COST = 1.0 + 1e-9  # of a coefficient at its cost, whose factors were multiplied otherwise


@dataclass(frozen=True)
class JudgedMachine:
    """A fitted kernel machine, whoever made it.

    Parameters
    ----------
    model : SVC
        The estimator.
    name : str
        What to call it in a report.
    machine : KernelMachine
        Its parts.
    objective : Objective
        What its parameters say it minimises.
    class_weight : ndarray of shape (n_classes,)
        What its fit has multiplied C with, for each class.
    """

    model: Any
    name: str
    machine: KernelMachine
    objective: Objective
    class_weight: Floats

    @property
    def classes(self) -> NDArray[Any]:
        """Its labels."""
        return self.machine.classes

    @property
    def n_features(self) -> int:
        """How many features its rows have."""
        return self.machine.n_features


@dataclass(frozen=True)
class Worth:
    """What a function of a machine is worth for its problem.

    Parameters
    ----------
    primal, above : float
        Its objective, and an upper bound on it.
    below : float
        Lower bound on the optimum that its dual point proves, minus infinity if it proves none.
    violation : float
        Largest violation of the optimality conditions; infinite if it has no dual point.
    point : Point or None
        Its point, if that has a dual point for the rows of the problem.
    """

    primal: float
    above: float
    below: float
    violation: float
    point: Point | None


def needs_kernel_judge(*models: Any) -> bool:
    """Return whether models are kernel classifiers one of which is no single linear machine.

    Parameters
    ----------
    *models : estimator
        Whatever a caller gave as models.
    """
    if not all(isinstance(model, SVC | ScikitSVC) for model in models):
        return False
    for model in models:
        check_is_fitted(model)
    return not all(map(_is_linear, models))


def _is_linear(model: Any) -> bool:
    kernel = model.kernel_.name if isinstance(model, SVC) else model.kernel
    n_classes = len(model.classes_)
    return kernel == "linear" and (n_classes == 2 or is_against_rest(model.dual_coef_, n_classes))


def judged_machine(model: Any, role: str) -> JudgedMachine:
    """Return what a fitted kernel machine claims.

    Parameters
    ----------
    model : SVC
        hinge's or scikit-learn's, fitted.
    role : str
        Which argument it is, for messages.
    """
    machine = fitted_machine(model, role)
    loss = get_loss(model.loss if isinstance(model, SVC) else "hinge")
    objective = Objective(loss, float(model.C), Intercept.FREE, kernel=machine.kernel)
    weights = np.asarray(getattr(model, "class_weight_", 1.0), dtype=np.float64)
    weights = np.broadcast_to(weights, (len(machine.classes),))
    return JudgedMachine(model, shown_name(model), machine, objective, weights)


def machine_differences(a: JudgedMachine, b: JudgedMachine) -> list[str]:
    """Return a phrase for every respect in which two machines' objectives differ.

    Parameters
    ----------
    a, b : JudgedMachine
        The machines.
    """
    first, second = a.objective, b.objective
    found = []
    if not _is_same_kernel(a.machine.kernel, b.machine.kernel):
        found.append(f"kernel is {a.machine.kernel!r} and {b.machine.kernel!r}")
    divisions = ["ovr" if each.machine.is_against_rest else "ovo" for each in (a, b)]
    pairs = [
        ("loss", first.loss.name, second.loss.name),
        ("C", first.C, second.C),
        ("multiclass", *divisions),
    ]
    found += [f"{name} is {x!r} and {y!r}" for name, x, y in pairs if x != y]
    weights = a.class_weight, b.class_weight
    if len(weights[0]) == len(weights[1]) and not np.allclose(*weights, rtol=_SAME, atol=0.0):
        found.append(f"class_weight_ is {weights[0].tolist()} and {weights[1].tolist()}")
    return found


def _is_same_kernel(a: Kernel, b: Kernel) -> bool:
    """Return whether kernels are the same, but for the rounding of their parameters."""
    if type(a) is not type(b):
        return False
    if a == b or isinstance(a, Precomputed):
        return True
    values = [(getattr(a, field.name), getattr(b, field.name)) for field in fields(a)]  # type: ignore[arg-type]
    are_numbers = all(isinstance(value, int | float) for pair in values for value in pair)
    return are_numbers and all(math.isclose(*pair, rel_tol=_SAME) for pair in values)


class PlacedMachine:
    """A machine whose support vectors have been looked for among the rows of the data.

    Parameters
    ----------
    judged : JudgedMachine
        The machine.
    division : ClassPairs or ClassesAgainstRest
        The problems, with the labels of the rows.
    rows : Rows
        The data.
    role : str
        Which argument it is, for messages.
    """

    def __init__(self, judged: JudgedMachine, division: Division, rows: Rows, role: str) -> None:
        self._machine = judged.machine
        self._division = division
        self._support: Found | None = find_support(judged.machine, rows, division.labels.codes)
        if self._support is None and judged.machine.vectors is None:
            message = (
                f"{role} has support_ that are not rows of these classes; X and y must be the "
                "kernel matrix and the labels that it was fitted on."
            )
            raise InvalidParameterError(message)

    def worth(self, problem: Problem, number: int) -> Worth:
        """Return what a function of the machine is worth, recomputed from the data.

        Parameters
        ----------
        problem : Problem
            The problem of the function.
        number : int
            Which one it is.
        """
        if self._support is None:
            return Worth(*self._objective(problem, number), -math.inf, math.inf, None)
        point = _inside_box(
            problem, point_of(self._machine, self._division, self._support.rows, number)
        )
        found = gap(problem, point, region=False)
        below = found.primal - found.gap if math.isfinite(found.gap) else -math.inf
        if not self._support.is_exact:
            # Rounded support vectors: what the rows that they stand for prove holds all the same.
            return Worth(*self._objective(problem, number), below, math.inf, point)
        above = found.primal + found.rounding
        if not math.isfinite(above):
            above = self._objective(problem, number)[1]
        return Worth(found.primal, above, below, found.kkt, point)

    def _objective(self, problem: Problem, number: int) -> tuple[float, float]:
        """Return the objective of the machine's own support vectors, and an upper bound on it."""
        if self._machine.vectors is None:
            return math.nan, math.inf
        found = foreign_objective(problem, own_machine(self._machine, number))
        return found.value, found.above


def _inside_box(problem: Problem, point: Point) -> Point:
    """Return a point whose coefficients at their cost are not above it by a rounding error."""
    assert point.dual_coef is not None
    bound = problem.loss.upper_bound(problem.costs)
    is_at_bound = (point.dual_coef > bound) & (point.dual_coef <= _AT_COST * bound)
    return replace(point, dual_coef=np.where(is_at_bound, bound, point.dual_coef))
