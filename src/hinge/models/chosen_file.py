"""A linear classifier whose C was chosen by cross-validation: its model file, and the choice.

The file is that of the chosen model, of another kind and with one field more, ``selection``, which
says how the choice was made. The values of C and the scores, gaps and seconds of every fold are
tensors. Which C is the best is not stored: it follows from the scores, and must be the model's.
"""

from __future__ import annotations

import copy
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer_names

from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators._folds import best_position
from hinge.estimators._scoring import spread_values
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.linear_file import put_linear, take_linear, tensors_of_linear
from hinge.models.text_lists import Tensors

KIND = "chosen-linear-classifier"
_FIELD = "selection"
_TABLES = ("scores", "gaps", "seconds")
_TENSORS = tuple(f"{_FIELD}.{name}" for name in ("Cs", *_TABLES))
_MOST_FOLDS = 2**40
_SPREAD = 1e-12  # by which powers of ten may differ from one machine to the next


def put_chosen(model: LinearSVCCV, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a fitted classifier with its choice of C.

    Parameters
    ----------
    model : LinearSVCCV
        A fitted estimator with a model of all rows.
    proof : bool
        Whether what proves optimality goes in.
    """
    description, tensors = put_linear(_machine(model), proof)
    columns = {"Cs": model.Cs_, "scores": model.scores_, "gaps": model.gaps_}
    for name, values in {**columns, "seconds": model.seconds_}.items():
        tensors[f"{_FIELD}.{name}"] = np.array(values, dtype=np.float64, order="C")
    selection = {
        "Cs": _put_values(model),
        "cv": _put_division(model),
        "scoring": _put_measure(model.scoring),
        "refit": bool(model.refit),
        "n_iter": int(model.n_iter_),
    }
    return {**description, "kind": KIND, _FIELD: selection}, tensors


def tensors_of_chosen(description: dict[str, Any], present: set[str]) -> set[str]:
    """Return the names of the tensors that a description asks for.

    Parameters
    ----------
    description : dict
        What a file says of itself.
    present : set of str
        The tensors that the file has.
    """
    return tensors_of_linear(description, present) | set(_TENSORS)


def take_chosen(fields: Fields, tensors: Tensors, budget: Budget) -> LinearSVCCV:
    """Return the fitted estimator that a description and its tensors stand for.

    Parameters
    ----------
    fields : Fields
        The description, without what every kind of file has.
    tensors : dict of str to ndarray
        The tensors that the description asks for, and no others.
    budget : Budget
        Memory that labels, names and solutions may take together.

    Returns
    -------
    LinearSVCCV
        Ready to predict.
    """
    selection = fields.fields(_FIELD)
    Cs, tables = _take_tables(tensors)
    machine = take_linear(fields, tensors, budget)
    own = machine.get_params(deep=False)
    shared = LinearSVCCV().get_params(deep=False).keys() & own.keys()
    model = LinearSVCCV(
        _take_values(selection, Cs),
        cv=_take_division(selection),
        scoring=_take_measure(selection),
        refit=selection.flag("refit"),
        **{name: own[name] for name in shared},
    )
    n_iter = selection.integer("n_iter", least=machine.n_iter_)
    selection.finish()
    best = best_position(tables["scores"], Cs.tolist())
    if best is None or Cs[best] != machine.C:
        message = f"the model's C={machine.C:g} is not the one that the scores choose."
        raise ModelFileError(message)
    model._adopt(machine)
    model.C_, model.Cs_, model.n_iter_ = float(Cs[best]), Cs, n_iter
    model.scores_, model.gaps_, model.seconds_ = (tables[name] for name in _TABLES)
    return model


def _machine(model: LinearSVCCV) -> LinearSVC:
    """Return the chosen model as the estimator shows it now, its parameters included."""
    machine = copy.copy(model.best_estimator_)
    shown = ("coef_", "intercept_", "solutions_", "classes_", "n_features_in_")
    for name in (*shown, "feature_names_in_"):
        if hasattr(model, name):
            setattr(machine, name, getattr(model, name))
    own = model.get_params(deep=False)
    shared = machine.get_params(deep=False).keys() & own.keys()
    machine.set_params(C=model.C_, **{name: own[name] for name in shared})
    return machine


def _put_values(model: LinearSVCCV) -> int | None:
    """Return the number that ``Cs`` is; None if it is a list, which the tensor holds."""
    if not _are_values(spread_values(model.Cs), model.Cs_):
        message = "Cs was changed after the fit, so the scores are not of these values; fit again."
        raise InvalidParameterError(message)
    return int(model.Cs) if isinstance(model.Cs, int | np.integer) else None


def _are_values(Cs: Any, known: NDArray[np.float64]) -> bool:
    """Return whether values of C are the known ones, up to how a machine rounds powers."""
    values = np.asarray(Cs, dtype=np.float64)
    return values.shape == known.shape and np.allclose(values, known, rtol=_SPREAD, atol=0.0)


def _put_division(model: LinearSVCCV) -> int | None:
    """Return a number of folds; a splitter is code, and stands as the number of its splits."""
    if model.cv is None:
        return None
    count = int(model.cv) if isinstance(model.cv, numbers.Integral) else len(model.scores_)
    return count if count > 1 else None


def _put_measure(scoring: Any) -> str | None:
    if scoring is not None and not isinstance(scoring, str):
        message = (
            "scoring is a function, which no file can hold; use the name of a score, or save "
            "best_estimator_ alone."
        )
        raise UnsupportedError(message)
    return scoring


def _take_tables(tensors: Tensors) -> tuple[NDArray[np.float64], Tensors]:
    """Return the values of C and the tables over folds, checked against each other."""
    Cs = tensors[f"{_FIELD}.Cs"]
    tables = {name: tensors[f"{_FIELD}.{name}"] for name in _TABLES}
    shape = tables["scores"].shape
    fits = Cs.ndim == 1 and len(shape) == 2 and shape[1] == len(Cs)
    fits = fits and all(table.shape == shape for table in tables.values())
    if not fits or any(tensor.dtype != np.float64 for tensor in (Cs, *tables.values())):
        message = "the scores, gaps and seconds are not those of folds and values of C."
        raise ModelFileError(message)
    if not (np.isfinite(Cs).all() and (Cs > 0.0).all()):
        message = "a value of C is not a number greater than 0."
        raise ModelFileError(message)
    seconds = tables["seconds"]
    if not ((tables["gaps"] >= 0.0).all() and (seconds >= 0.0).all() and (seconds < np.inf).all()):
        message = "a fold has a gap or a time that cannot be."
        raise ModelFileError(message)
    return Cs, tables


def _take_values(selection: Fields, Cs: NDArray[np.float64]) -> int | list[float]:
    """Return the parameter ``Cs``; a number must stand for the values of the tensor."""
    count = selection.integer_or_null("Cs", least=1)
    if count is None:
        values: list[float] = Cs.tolist()
        return values
    if count != len(Cs) or not _are_values(spread_values(count), Cs):
        message = f"the {len(Cs)} values of C are not those that Cs={count} stands for."
        raise ModelFileError(message)
    return count


def _take_division(selection: Fields) -> int | None:
    return selection.integer_or_null("cv", least=2, most=_MOST_FOLDS)


def _take_measure(selection: Fields) -> str | None:
    """Return the name of a score that scikit-learn has; nothing else is looked up by it."""
    scoring = selection.take("scoring")
    if scoring is not None and (not isinstance(scoring, str) or scoring not in get_scorer_names()):
        raise selection.wrong("scoring", scoring, "null or the name of a score of scikit-learn")
    return scoring
