"""The constructor parameters of a kernel classifier, checked and made into objects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hinge.errors import InvalidParameterError, unknown_name
from hinge.estimators import _checks as check
from hinge.estimators._division import check_division
from hinge.estimators._options import LOSSES, FitOptions, time_limit
from hinge.kernels import (
    RBF,
    CallableKernel,
    ChiSquared,
    Kernel,
    Laplacian,
    Polynomial,
    Sigmoid,
    get_kernel,
)
from hinge.kernels.gamma import checked_gamma
from hinge.losses import get_loss
from hinge.multiclass import Objective
from hinge.parameters import count, not_negative, positive, positive_or_infinite, real_number
from hinge.problem import Intercept
from hinge.result import Stop
from hinge.rows import Rows
from hinge.solvers import SMO, Decomposition, KernelDualCoordinate, Solver, kernel_solver_names
from hinge.solvers.kernel.set_memory import LARGEST_SET, beside_results
from hinge.threads import thread_count

_NO_LIMIT = -1  # of max_iter
_TIGHT = 1e-6  # violation at which resting rows rejoin if tol is 0
_DEPRECATED = "deprecated"  # scikit-learn's default of probability from 1.9 on


def kernel_options(model: Any) -> FitOptions:
    """Return the checked options of a kernel classifier; gamma may still be a rule.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    """
    check.boolean("warm_start", model.warm_start)
    count(int(model.verbose) if model.verbose in (True, False) else model.verbose, "verbose")
    check.callback(model.callback)
    check_division(model)
    check.boolean("break_ties", model.break_ties)
    threads = thread_count(check.jobs(model.n_jobs))
    objective, tol = kernel_objective(model), not_negative(model.tol, "tol")
    if isinstance(objective.kernel, CallableKernel):
        threads = 1  # a caller's function need not be safe in several
    return FitOptions(
        objective=objective,
        solver=solver_of(model, threads),
        stop=Stop(
            gap=None,
            kkt=tol,
            seconds=time_limit(model.time_limit),
            steps=_steps(model.max_iter),
        ),
        seed=check.seed(model.random_state),
        threads=threads,
    )


def kernel_objective(model: Any) -> Objective:
    """Return the objective that the parameters of a kernel classifier describe.

    Parameters
    ----------
    model : SVC
        hinge's, or scikit-learn's, which has no parameter ``loss``.
    """
    return Objective(
        loss=get_loss(check.choice("loss", getattr(model, "loss", "hinge"), LOSSES)),
        C=_finite_cost(model.C),
        intercept=Intercept.FREE,
        kernel=kernel_of(model),
    )


def _finite_cost(C: Any) -> float:
    if positive_or_infinite(C, "C") == math.inf:
        message = (
            "C must be finite; got inf. A hard margin is there for linear machines: use "
            "hinge.LinearSVC(C=float('inf')). With a kernel, use a large C, such as 1e6."
        )
        raise InvalidParameterError(message)
    return float(C)


def kernel_of(model: Any) -> Kernel:
    """Return the kernel that ``kernel``, ``degree``, ``gamma`` and ``coef0`` describe.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    """
    degree = count(model.degree, "degree")
    gamma = checked_gamma(model.gamma)
    coef0 = real_number(model.coef0, "coef0")
    if isinstance(model.kernel, str):
        by_name: dict[str, Kernel] = {
            Polynomial.name: Polynomial(degree, gamma, coef0),
            RBF.name: RBF(gamma),
            Sigmoid.name: Sigmoid(gamma, coef0),
            Laplacian.name: Laplacian(gamma),
            # Its distances do not grow with the scale of the rows alone: no rule for gamma.
            ChiSquared.name: ChiSquared() if isinstance(gamma, str) else ChiSquared(gamma),
        }
        if model.kernel in by_name:
            return by_name[model.kernel]
    return get_kernel(model.kernel)


def wants_probability(model: Any) -> bool:
    """Return whether a kernel classifier is to be calibrated.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    """
    if isinstance(model.probability, str) and model.probability == _DEPRECATED:
        return False
    return check.boolean("probability", model.probability)


def _steps(max_iter: Any) -> int | None:
    try:
        return None if max_iter == _NO_LIMIT else count(max_iter, "max_iter")
    except InvalidParameterError:
        message = f"max_iter must be -1 (no limit) or a whole number at least 0; got {max_iter!r}."
        raise InvalidParameterError(message) from None


def solver_of(model: Any, at_once: int, sizes: Sequence[int] = ()) -> str | Solver:
    """Return the solver; one that keeps kernel rows has its share of the cache.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    at_once : int
        How many problems are solved at a time, each with a cache of its own.
    sizes : sequence of int, default=()
        How many rows each problem has, if there are several whose results are kept.
    """
    cache = beside_results(positive(model.cache_size, "cache_size"), sizes)
    shrinking = check.boolean("shrinking", model.shrinking)
    names = ["auto", *kernel_solver_names()]
    if isinstance(model.solver, Solver):
        return model.solver
    if not isinstance(model.solver, str) or model.solver not in names:
        raise unknown_name(parameter="solver", got=model.solver, allowed=names)
    for kind in (Decomposition, KernelDualCoordinate, SMO):
        if model.solver == kind.name or (model.solver == "auto" and kind is Decomposition):
            tolerance = model.tol or _TIGHT
            return kind(cache_mb=cache / at_once, shrinking=shrinking, tolerance=tolerance)
    from hinge.solvers import ActiveSet, GradientProjection  # noqa: PLC0415 - few fits need them

    for other in (ActiveSet, GradientProjection):
        if model.solver == other.name:
            return other(cache_mb=cache / at_once)
    return model.solver


def problems_at_once(model: Any, sizes: Sequence[int], rows: Rows) -> int:
    """Return how many problems of a fit may be solved at a time, each with a part of the cache.

    As many as keep their whole kernel matrix, a working set's matrix and a compact copy of the rows
    in it; where two do not, one after the other has all of the cache, and threads share the work on
    it. That depends on the data alone: what is kept, and so the last bits, never on threads.

    Parameters
    ----------
    model : SVC
        The estimator whose parameters to read.
    sizes : sequence of int
        How many rows each problem has.
    rows : Rows
        The rows of all problems.
    """
    cache = positive(model.cache_size, "cache_size") * 2**20
    largest = max(sizes)
    values = largest**2 + min(largest, LARGEST_SET) ** 2 + rows.n_stored
    return max(1, min(int(cache / (4.0 * values)), len(sizes)))
