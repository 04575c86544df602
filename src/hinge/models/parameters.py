"""The constructor parameters of an estimator in a file: plain values, checked like any caller's."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hinge.errors import HingeError, ModelFileError, UnsupportedError
from hinge.estimators._options import linear_objective, linear_options
from hinge.estimators.linear_svc import LinearSVC
from hinge.models.fields import LARGEST_INTEGER, Fields
from hinge.models.strict_json import spelled_number
from hinge.multiclass import Objective
from hinge.problem import Intercept
from hinge.solvers import Solver

_LEFT_OUT = ("callback",)  # a function is code, and code does not go into a file
_LONGEST_TEXT = 100
_MOST_DIGITS = 2**128


def put_parameters(model: LinearSVC) -> dict[str, Any]:
    """Return the parameters of a linear classifier as plain content.

    Parameters
    ----------
    model : LinearSVC
        A fitted estimator.
    """
    linear_options(model)  # whoever set something illegal since the fit hears of it here
    return plain_parameters(model, model.get_params(deep=False))


def plain_parameters(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of an estimator as plain content.

    A solver object is kept as its name, a random generator as the seed that it gave.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted estimator.
    given : dict
        Its parameters, legal ones.
    """
    kept = {name: value for name, value in given.items() if name not in _LEFT_OUT}
    if isinstance(kept["solver"], Solver):
        kept["solver"] = kept["solver"].name
    if not isinstance(kept["random_state"], numbers.Integral | None):
        kept["random_state"] = model.solutions_[0].seed
    weights = kept.pop("class_weight")
    plain = {name: _plain(name, value) for name, value in kept.items() if name != "C"}
    plain["C"] = "inf" if kept["C"] == math.inf else _plain("C", kept["C"])
    if isinstance(weights, dict):
        plain["class_weight"] = [
            [_plain("class_weight", label, LARGEST_INTEGER), float(weight)]
            for label, weight in weights.items()
        ]
    else:
        plain["class_weight"] = weights
    return plain


def take_parameters(content: Any) -> LinearSVC:
    """Return an estimator with the parameters of a file, none of them illegal.

    Parameters
    ----------
    content : object
        What the description has.

    Returns
    -------
    LinearSVC
        Not fitted.
    """
    model = LinearSVC(**read_parameters(content, LinearSVC().get_params(deep=False)))
    check_options(linear_options, model)
    return model


def read_parameters(content: Any, known: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of a file, each of them a plain value.

    Parameters
    ----------
    content : object
        What the description has.
    known : iterable of str
        The parameters that the estimator has.
    """
    fields = Fields(content, "parameters")
    names = [name for name in known if name not in _LEFT_OUT]
    present = [name for name in names if isinstance(content, dict) and name in content]
    values = {name: fields.take(name) for name in present}
    fields.finish()
    weights = values.pop("class_weight", None)
    for name, value in values.items():
        if not _is_plain(value):
            raise fields.wrong(name, value, "a single value")
    if values.get("C") == "inf":  # JSON has no infinity
        values["C"] = math.inf
    return {**values, "class_weight": _class_weight(fields, weights)}


def check_options(read: Callable[[Any], Any], model: Any) -> None:
    """Refuse an estimator whose parameters no fitted model has.

    Parameters
    ----------
    read : callable
        What reads the options of such an estimator, and refuses illegal ones.
    model : object
        The estimator.
    """
    try:
        read(model)
    except HingeError as error:
        message = f"the parameters are not those of a fitted model: {error}"
        raise ModelFileError(message) from None


def put_problem(objective: Objective) -> dict[str, Any]:
    """Return an objective as plain content.

    Parameters
    ----------
    objective : Objective
        What a model minimises.
    """
    loss: dict[str, Any] = {"name": objective.loss.name}
    width = getattr(objective.loss, "h", None)
    if width is not None:
        loss["h"] = width
    return {
        "loss": loss,
        "penalty": "l2",
        "C": spelled_number(objective.C),
        "intercept": objective.intercept.value,
        "intercept_scale": objective.intercept_scale,
    }


def take_problem(content: Any, model: LinearSVC) -> Objective:
    """Return the objective of a model; the file must describe the same one.

    Parameters
    ----------
    content : object
        What the description says of the problem.
    model : LinearSVC
        The estimator, with the parameters of the file.
    """
    return same_problem(content, linear_objective(model))


def same_problem(content: Any, objective: Objective) -> Objective:
    """Return an objective, if a file describes the same one.

    Parameters
    ----------
    content : object
        What the description says of the problem.
    objective : Objective
        What the parameters of the file stand for.
    """
    if content != put_problem(objective):
        message = "the problem is not the one that the parameters stand for."
        raise ModelFileError(message)
    return objective


def has_intercept(objective: Objective) -> bool:
    """Return whether decision functions of this objective have an intercept.

    Parameters
    ----------
    objective : Objective
        What a model minimises.
    """
    return objective.intercept is not Intercept.NONE


def _plain(name: str, value: Any, longest: int = _LONGEST_TEXT) -> Any:
    """Return a parameter as a plain value; what is none cannot be saved."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real) and not isinstance(value, int | float):
        value = float(value)
    if not _is_plain(value, longest):
        message = (
            f"{name}={value!r} cannot be saved; use short text, a number, True, False or None."
        )
        raise UnsupportedError(message)
    return value


def _is_plain(value: Any, longest: int = _LONGEST_TEXT) -> bool:
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, str):
        return len(value) <= longest
    if isinstance(value, int):
        return abs(value) < _MOST_DIGITS
    return isinstance(value, float) and math.isfinite(value)


def _class_weight(fields: Fields, content: Any) -> dict[Any, float] | str | None:
    if content is None or content == "balanced":
        return None if content is None else "balanced"
    wanted = "null, 'balanced' or a list of labels with their weights"
    if not isinstance(content, list):
        raise fields.wrong("class_weight", content, wanted)
    weights: dict[Any, float] = {}
    for pair in content:
        fits = isinstance(pair, list) and len(pair) == 2 and _is_plain(pair[0], LARGEST_INTEGER)
        if not fits or not isinstance(pair[1], float) or not 0.0 < pair[1] < math.inf:
            raise fields.wrong("class_weight", pair, "a label and a weight greater than 0")
        weights[pair[0]] = pair[1]
    if len(weights) != len(content):
        message = "parameters.class_weight has a label twice."
        raise ModelFileError(message)
    return weights
