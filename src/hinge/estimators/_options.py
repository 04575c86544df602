"""The constructor parameters of a linear classifier, checked and made into objects."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

from hinge.errors import InvalidParameterError, UnsupportedError, unknown_name
from hinge.estimators import _checks as check
from hinge.losses import get_loss, loss_names
from hinge.multiclass import Objective
from hinge.parameters import count, not_negative, positive, positive_or_infinite
from hinge.problem import Intercept
from hinge.result import Stop
from hinge.solvers import Solver, solver_names
from hinge.threads import thread_count

LOSSES = loss_names()
_EITHER = "auto"  # what dual= may be besides True and False


class _Penalty(enum.StrEnum):
    """What ``penalty=`` may be, as in scikit-learn."""

    L1 = "l1"
    L2 = "l2"


class _Scheme(enum.StrEnum):
    """What ``multi_class=`` may be, as in scikit-learn."""

    ONE_VS_REST = "ovr"
    CRAMMER_SINGER = "crammer_singer"


@dataclass(frozen=True)
class FitOptions:
    """What a fit is asked to do.

    Parameters
    ----------
    objective : Objective
        Loss, C and intercept.
    solver : str or Solver
        The solver.
    stop : Stop
        Criteria and limits.
    seed : int
        Seed of every random choice.
    threads : int
        How many threads may be used.
    """

    objective: Objective
    solver: str | Solver
    stop: Stop
    seed: int
    threads: int


def linear_options(model: Any) -> FitOptions:
    """Return the checked options of a linear classifier.

    Parameters
    ----------
    model : LinearSVC
        The estimator whose parameters to read.
    """
    stop = Stop(
        gap=not_negative(model.tol, "tol"),
        seconds=time_limit(model.time_limit),
        steps=count(model.max_iter, "max_iter"),
    )
    check.boolean("warm_start", model.warm_start)
    count(int(model.verbose) if model.verbose in (True, False) else model.verbose, "verbose")
    check.callback(model.callback)
    return FitOptions(
        objective=linear_objective(model),
        solver=_solver(model.solver),
        stop=stop,
        seed=check.seed(model.random_state),
        threads=thread_count(check.jobs(model.n_jobs)),
    )


def linear_objective(model: Any) -> Objective:
    """Return the objective that the parameters of a linear classifier describe.

    Parameters
    ----------
    model : LinearSVC
        hinge's, or scikit-learn's, which has no parameter ``intercept``.
    """
    penalty = _Penalty(check.choice("penalty", model.penalty, _Penalty))
    scheme = _Scheme(check.choice("multi_class", model.multi_class, _Scheme))
    if penalty is _Penalty.L1:
        message = (
            "penalty='l1' is not in this version of hinge; use penalty='l2', or scikit-learn's "
            "LinearSVC(penalty='l1', dual=False) for sparse weights."
        )
        raise UnsupportedError(message)
    if scheme is _Scheme.CRAMMER_SINGER:
        message = (
            "multi_class='crammer_singer' is not in this version of hinge; use multi_class='ovr', "
            "or scikit-learn's LinearSVC(multi_class='crammer_singer')."
        )
        raise UnsupportedError(message)
    if model.dual != _EITHER:
        try:
            check.boolean("dual", model.dual)
        except InvalidParameterError:
            message = f"dual must be True, False or 'auto'; got {model.dual!r}."
            raise InvalidParameterError(message) from None
    return Objective(
        loss=get_loss(check.choice("loss", model.loss, LOSSES)),
        C=positive_or_infinite(model.C, "C"),
        intercept=_intercept(model),
        intercept_scale=positive(model.intercept_scaling, "intercept_scaling"),
    )


def _intercept(model: Any) -> Intercept:
    wanted = check.boolean("fit_intercept", model.fit_intercept)
    kind = getattr(model, "intercept", None)
    if kind is None:
        return Intercept.AUGMENTED if wanted else Intercept.NONE
    if kind not in (Intercept.FREE, Intercept.NONE):
        message = f"intercept must be None, 'free' or 'none'; got {kind!r}."
        raise InvalidParameterError(message)
    if kind == Intercept.FREE and not wanted:
        message = "intercept='free' asks for an intercept and fit_intercept=False for none."
        raise InvalidParameterError(message)
    return Intercept(kind)


def time_limit(seconds: Any) -> float | None:
    return None if seconds is None else positive(seconds, "time_limit")


def _solver(solver: Any) -> str | Solver:
    names = ["auto", *solver_names()]
    if isinstance(solver, Solver) or (isinstance(solver, str) and solver in names):
        return solver
    raise unknown_name(parameter="solver", got=solver, allowed=names)
