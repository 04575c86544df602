"""A kernel classifier whose C and gamma were chosen by cross-validation, and the choice.

As for linear classifiers (:mod:`hinge.models.chosen_file`): the file of the chosen model, of
another kind, with one field more and tables of the folds. Which values are the best is not stored:
it follows from the scores, and must be the model's.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import HingeError, InvalidParameterError, ModelFileError
from hinge.estimators.svc import SVC
from hinge.estimators.svc_cv import SVCCV
from hinge.kernels.gamma import checked_gamma
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.kernel_file import put_machine, take_machine, tensors_of_machine
from hinge.models.selection_fields import (
    put_division,
    put_measure,
    put_values,
    take_division,
    take_measure,
    take_values,
)
from hinge.models.text_lists import Tensors

KIND = "chosen-kernel-classifier"
_FIELD = "selection"
_TABLES = ("scores", "gaps", "violations", "seconds")
_GAMMAS = f"{_FIELD}.gammas"
_REQUIRED = {f"{_FIELD}.{name}" for name in ("Cs", *_TABLES)}

Floats = NDArray[np.float64]


def put_chosen_machine(model: SVCCV, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a fitted classifier with its choice.

    Parameters
    ----------
    model : SVCCV
        A fitted estimator with a model of all rows.
    proof : bool
        Whether what proves optimality goes in.
    """
    machine: SVC = model.best_estimator_
    for name in ("dual_coef_", "intercept_", "solutions_", "support_vectors_"):
        if getattr(model, name) is not getattr(machine, name):
            message = (
                f"{name} was changed after the fit, so the certificates are not the model's any "
                "more; fit again, or save best_estimator_ alone."
            )
            raise InvalidParameterError(message)
    description, tensors = put_machine(machine, proof)
    for name in ("Cs", *_TABLES):
        values = getattr(model, f"{name}_")
        tensors[f"{_FIELD}.{name}"] = np.array(values, dtype=np.float64, order="C")
    if model.gammas_ is not None:
        tensors[_GAMMAS] = np.array(model.gammas_, dtype=np.float64)
    selection = {
        "Cs": put_values(model),
        "has_gammas": model.gammas_ is not None,
        "gamma": model.gamma if isinstance(model.gamma, str) else float(model.gamma),
        "cv": put_division(model),
        "scoring": put_measure(model.scoring),
        "refit": bool(model.refit),
    }
    return {**description, "kind": KIND, _FIELD: selection}, tensors


def tensors_of_chosen_machine(description: dict[str, Any], present: set[str]) -> set[str]:
    """Return the names of the tensors that a description asks for.

    Parameters
    ----------
    description : dict
        What a file says of itself.
    present : set of str
        The tensors that the file has.
    """
    selection = description.get(_FIELD)
    has_gammas = isinstance(selection, dict) and selection.get("has_gammas") is True
    gammas = {_GAMMAS} if has_gammas else set()
    return tensors_of_machine(description, present) | _REQUIRED | gammas


def take_chosen_machine(fields: Fields, tensors: Tensors, budget: Budget) -> SVCCV:
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
    SVCCV
        Ready to predict.
    """
    selection = fields.fields(_FIELD)
    has_gammas = selection.flag("has_gammas")
    Cs, gammas, tables = _take_tables(tensors, has_gammas)
    machine = take_machine(fields, tensors, budget)
    own = machine.get_params(deep=False)
    shared = SVCCV().get_params(deep=False).keys() & own.keys() - {"gamma"}
    gamma = _take_gamma(selection)
    model = SVCCV(
        take_values(selection, Cs),
        gammas=None if gammas is None else gammas.tolist(),
        gamma=gamma,
        cv=take_division(selection),
        scoring=take_measure(selection),
        refit=selection.flag("refit"),
        **{name: own[name] for name in shared},
    )
    selection.finish()
    _check_choice(machine, model.gamma, Cs, gammas, tables["scores"])
    _adopt(model, machine)
    model.C_ = float(machine.C)
    model.gamma_ = None if gammas is None else float(machine.gamma)
    model.Cs_, model.gammas_ = Cs, gammas
    for name in _TABLES:
        setattr(model, f"{name}_", tables[name])
    return model


def _take_gamma(selection: Fields) -> float | str:
    """Return the parameter ``gamma``: a number or a rule."""
    gamma = selection.take("gamma")
    if isinstance(gamma, str | float):
        with contextlib.suppress(HingeError):
            return checked_gamma(gamma)
    raise selection.wrong("gamma", gamma, "a number of at least 0 or the name of a rule")


def _take_tables(tensors: Tensors, has_gammas: bool) -> tuple[Floats, Floats | None, Tensors]:
    """Return the values and the tables over folds, checked against each other."""
    Cs = tensors[f"{_FIELD}.Cs"]
    gammas = tensors[_GAMMAS] if has_gammas else None
    tables = {name: tensors[f"{_FIELD}.{name}"] for name in _TABLES}
    values = [Cs] if gammas is None else [gammas, Cs]
    shape = (tables["scores"].shape[0], *(len(value) for value in values if value.ndim))
    arrays = (*values, *tables.values())
    fits = all(value.ndim == 1 for value in values)
    fits = fits and all(table.shape == shape for table in tables.values())
    if not fits or any(array.dtype != np.float64 for array in arrays):
        message = "the scores, gaps, violations and seconds are not those of folds and values."
        raise ModelFileError(message)
    if not (np.isfinite(Cs).all() and (Cs > 0.0).all()):
        message = "a value of C is not a number greater than 0."
        raise ModelFileError(message)
    if gammas is not None and not (np.isfinite(gammas).all() and (gammas >= 0.0).all()):
        message = "a value of gamma is not a number of at least 0."
        raise ModelFileError(message)
    seconds = tables["seconds"]
    proven = (tables["gaps"] >= 0.0).all() and (tables["violations"] >= 0.0).all()
    if not (proven and (seconds >= 0.0).all() and (seconds < np.inf).all()):
        message = "a fold has a gap, a violation or a time that cannot be."
        raise ModelFileError(message)
    return Cs, gammas, tables


def _check_choice(
    machine: SVC, gamma: Any, Cs: Floats, gammas: Floats | None, scores: Floats
) -> None:
    """Refuse a model that is not of the values that the scores choose."""
    with np.errstate(invalid="ignore", over="ignore"):
        means = scores.mean(axis=0).reshape(-1, len(Cs))
    # Of the best scores the least C counts, and of these the least gamma; in arrays, since as
    # Python's own numbers a large table would take many times the file.
    usable = np.where(np.isfinite(means), means, -np.inf)
    rows, columns = np.nonzero((usable == usable.max(initial=-np.inf)) & np.isfinite(means))
    is_best = len(rows) > 0
    if is_best:
        least = columns[Cs[columns] == Cs[columns].min()][0]
        rows = rows[Cs[columns] == Cs[least]]
        is_gamma = machine.gamma == (gamma if gammas is None else float(gammas[rows].min()))
        is_best = Cs[least] == machine.C and is_gamma
    if not is_best:
        message = "the model is not of the values that the scores choose."
        raise ModelFileError(message)


def _adopt(model: SVCCV, machine: SVC) -> None:
    """Give an estimator the model of all rows, whose fitted attributes it shows as well."""
    model.best_estimator_ = machine
    own = machine.get_params(deep=False).keys()
    for name, value in vars(machine).items():
        if name not in own:
            setattr(model, name, value)
