"""A fitted ``AnytimeClassifier``: the file of its classifier, with one field more.

The classifier keeps its certificates and its proof, so that ``verify`` takes the file as it takes
that of the classifier alone.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from hinge.anytime import ORDERINGS, AnytimePredictor
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators._scored_machines import ScoredMachine, scored_machine
from hinge.estimators.anytime_classifier import AnytimeClassifier, accelerated_classifier
from hinge.estimators.svc import SVC
from hinge.estimators.svc_cv import SVCCV
from hinge.models import chosen_kernel_file, kernel_file
from hinge.models._chosen_model import check_has_model
from hinge.models.anytime_content import FIELD, put_stages, take_stages, tensors_of_stages
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.text_lists import Tensors

_PREFIX = "anytime-"
# By the kind of the file of the classifier alone.
KINDS = {_PREFIX + kind: kind for kind in (kernel_file.KIND, chosen_kernel_file.KIND)}
_MOST_POINTS = 2**31 - 1
_MOST_SEED = 2**128

Taker = Callable[[Fields, Tensors, Budget], Any]
Names = Callable[[dict[str, Any], set[str]], set[str]]


def put_classifier(model: AnytimeClassifier, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a fitted classifier with its stages.

    Parameters
    ----------
    model : AnytimeClassifier
        A fitted estimator.
    proof : bool
        Whether what proves optimality goes in.
    """
    check_is_fitted(model)
    inner = model.estimator_
    if isinstance(inner, SVCCV):
        check_has_model(inner)
        description, tensors = chosen_kernel_file.put_chosen_machine(inner, proof)
    elif isinstance(inner, SVC):
        description, tensors = kernel_file.put_machine(inner, proof)
    else:
        message = (
            f"an AnytimeClassifier of {type(inner).__name__} of another library cannot be saved; "
            "save its predictor_, which has all that it predicts with."
        )
        raise UnsupportedError(message)
    _check_unchanged(model.predictor_, scored_machine(inner))
    stages = {
        "ordering": model.ordering,
        "n_points": int(model.n_points),
        "reduced_set": int(model.reduced_set),
        "random_state": int(model.random_state) if _is_whole(model.random_state) else None,
        "is_default": model.estimator is None,
        **put_stages(model.predictor_, tensors),
    }
    return {**description, "kind": _PREFIX + description["kind"], FIELD: stages}, tensors


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _check_unchanged(predictor: AnytimePredictor, now: ScoredMachine) -> None:
    """Refuse a classifier whose machine is not the one that the predictor was made of."""
    then = predictor.machine
    if then.kernel != now.machine.kernel or any(
        getattr(then, name).tobytes() != getattr(now.machine, name).tobytes()
        for name in ("coefficients", "intercept")
    ):
        message = (
            "estimator_ was changed after predictor_ was made of it; fit again, or save one of "
            "the two alone."
        )
        raise InvalidParameterError(message)


def names_of(tensors_of_model: Names) -> Names:
    """Return what names the tensors of a classifier with stages.

    Parameters
    ----------
    tensors_of_model : callable
        What names those of the classifier alone.
    """

    def names(description: dict[str, Any], present: set[str]) -> set[str]:
        return tensors_of_model(description, present) | tensors_of_stages(description.get(FIELD))

    return names


def taker_of(take_model: Taker) -> Taker:
    """Return what reads a classifier with stages.

    Parameters
    ----------
    take_model : callable
        What reads the classifier alone.
    """

    def take(fields: Fields, tensors: Tensors, budget: Budget) -> AnytimeClassifier:
        stages = fields.fields(FIELD)
        options: dict[str, Any] = {
            "ordering": stages.choice("ordering", ORDERINGS),
            "n_points": stages.integer("n_points", most=_MOST_POINTS),
            "random_state": stages.integer_or_null("random_state", most=_MOST_SEED),
        }
        if stages.has("reduced_set"):  # files of earlier versions have none
            options["reduced_set"] = stages.integer("reduced_set", most=_MOST_POINTS)
        is_default = stages.flag("is_default")
        inner = take_model(fields, tensors, budget)
        machine = scored_machine(inner)
        parts = take_stages(stages, machine.machine, machine.n_features, tensors, budget)
        predictor = AnytimePredictor(
            machine.machine, machine.rule, machine.classes, machine.n_features, parts
        )
        if is_default:
            options["estimator"] = None
        return accelerated_classifier(inner, predictor, **options)

    return take
