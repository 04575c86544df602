"""What every estimator that chooses C by cross-validation shares: values, scores, interruptions."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import Interrupted, InvalidParameterError
from hinge.solvers.arguments import values_of_C

Floats = NDArray[np.float64]

_DECADES = (-4, 4)  # what a number of values of C is spread over, as in scikit-learn


def spread_values(Cs: Any) -> list[float]:
    """Return the values of C that the parameter ``Cs`` stands for.

    Parameters
    ----------
    Cs : int or iterable of float
        How many, or which.
    """
    if isinstance(Cs, int | np.integer) and not isinstance(Cs, bool):
        if Cs < 1:
            message = f"Cs must be at least 1, or a list of values of C; got {Cs!r}."
            raise InvalidParameterError(message)
        return [float(C) for C in np.logspace(*_DECADES, int(Cs))]
    return values_of_C(Cs)


def scores_alone(model: Any) -> str | None:
    """Return why an estimator that has chosen C is not fitted; None if it has not chosen.

    Parameters
    ----------
    model : estimator
        An estimator, fitted or not.
    """
    if not hasattr(model, "scores_"):
        return None
    return (
        "This %(name)s instance has scores but no model: it was fitted with refit=False, or "
        "interrupted before its model was. Fit it with refit=True."
    )


def folds_interruption(began: float, scores: Floats) -> Interrupted:
    """Return the exception for an end during cross-validation.

    Parameters
    ----------
    began : float
        When the fit began.
    scores : ndarray
        Scores, NaN where a fit was not done.
    """
    done = np.count_nonzero(~np.isnan(scores))
    message = (
        f"fit interrupted after {time.perf_counter() - began:.1f} s during cross-validation; the "
        f"scores of the {done} fits of {scores.size} that were done are kept in scores_"
    )
    return Interrupted(message)


def no_score(scoring: Any) -> InvalidParameterError:
    """Return the error for a measure that tells no value of C from another.

    Parameters
    ----------
    scoring : object
        The parameter of that name.
    """
    message = (
        f"scoring={scoring!r} gives no number for any C: nothing to choose. Use "
        "another scoring, or look at scores_ for the folds where it fails."
    )
    return InvalidParameterError(message)
