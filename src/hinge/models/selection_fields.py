"""How a choice of C was made, in a file: values, folds and the measure, without any code."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators._scoring import spread_values
from hinge.models.fields import Fields

_MOST_FOLDS = 2**40
_SPREAD = 1e-12  # by which powers of ten may differ from one machine to the next


def put_values(model: Any) -> int | None:
    """Return the number that ``Cs`` is; None if it is a list, which the tensor holds.

    Parameters
    ----------
    model : LinearSVCCV or SVCCV
        A fitted estimator.
    """
    if not _are_values(spread_values(model.Cs), model.Cs_):
        message = "Cs was changed after the fit, so the scores are not of these values; fit again."
        raise InvalidParameterError(message)
    return int(model.Cs) if isinstance(model.Cs, int | np.integer) else None


def _are_values(Cs: Any, known: NDArray[np.float64]) -> bool:
    """Return whether values of C are the known ones, up to how a machine rounds powers."""
    values = np.asarray(Cs, dtype=np.float64)
    return values.shape == known.shape and np.allclose(values, known, rtol=_SPREAD, atol=0.0)


def put_division(model: Any) -> int | None:
    """Return a number of folds; a splitter is code, and stands as the number of its splits.

    Parameters
    ----------
    model : LinearSVCCV or SVCCV
        A fitted estimator.
    """
    if model.cv is None:
        return None
    count = int(model.cv) if isinstance(model.cv, numbers.Integral) else len(model.scores_)
    return count if count > 1 else None


def put_measure(scoring: Any) -> str | None:
    """Return the name of a score; a function is refused.

    Parameters
    ----------
    scoring : object
        The parameter of that name.
    """
    if scoring is not None and not isinstance(scoring, str):
        message = (
            "scoring is a function, which no file can hold; use the name of a score, or save "
            "best_estimator_ alone."
        )
        raise UnsupportedError(message)
    return scoring


def take_values(selection: Fields, Cs: NDArray[np.float64]) -> int | list[float]:
    """Return the parameter ``Cs``; a number must stand for the values of the tensor.

    Parameters
    ----------
    selection : Fields
        What the description says of the choice.
    Cs : ndarray of shape (n_Cs,)
        The values of C.
    """
    count = selection.integer_or_null("Cs", least=1)
    if count is None:
        values: list[float] = Cs.tolist()
        return values
    if count != len(Cs) or not _are_values(spread_values(count), Cs):
        message = f"the {len(Cs)} values of C are not those that Cs={count} stands for."
        raise ModelFileError(message)
    return count


def take_division(selection: Fields) -> int | None:
    """Return the parameter ``cv``.

    Parameters
    ----------
    selection : Fields
        What the description says of the choice.
    """
    return selection.integer_or_null("cv", least=2, most=_MOST_FOLDS)


def take_measure(selection: Fields) -> str | None:
    """Return the name of a score that scikit-learn has; nothing else is looked up by it.

    Parameters
    ----------
    selection : Fields
        What the description says of the choice.
    """
    scoring = selection.take("scoring")
    if scoring is not None and (not isinstance(scoring, str) or scoring not in get_scorer_names()):
        raise selection.wrong("scoring", scoring, "null or the name of a score of scikit-learn")
    return scoring
