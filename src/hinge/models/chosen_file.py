"""A linear classifier whose C was chosen by cross-validation: its model file, and the choice.

The file is that of the chosen model, of another kind and with one field more, ``selection``, which
says how the choice was made. The values of C and the scores, gaps and seconds of every fold are
tensors. Which C is the best is not stored: it follows from the scores, and must be the model's.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import ModelFileError
from hinge.estimators._folds import best_position
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.linear_file import put_linear, take_linear, tensors_of_linear
from hinge.models.selection_fields import (
    put_division,
    put_measure,
    put_values,
    take_division,
    take_measure,
    take_values,
)
from hinge.models.text_lists import Tensors

KIND = "chosen-linear-classifier"
_FIELD = "selection"
_TABLES = ("scores", "gaps", "seconds")
_TENSORS = tuple(f"{_FIELD}.{name}" for name in ("Cs", *_TABLES))


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
        "Cs": put_values(model),
        "cv": put_division(model),
        "scoring": put_measure(model.scoring),
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
        take_values(selection, Cs),
        cv=take_division(selection),
        scoring=take_measure(selection),
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
