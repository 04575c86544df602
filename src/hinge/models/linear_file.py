"""A fitted linear classifier as a description with tensors, and back.

Everything that is read is checked against everything else: a number of classes against the rows
of the weights, the objective against the parameters, the numbers of a certificate against each
other. The checks do not depend on the digest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.models.budget import Budget
from hinge.models.class_labels import put_labels, take_labels, tensors_of_labels
from hinge.models.fields import Fields
from hinge.models.parameters import (
    has_intercept,
    put_parameters,
    put_problem,
    take_parameters,
    take_problem,
)
from hinge.models.proof_fields import check_fingerprint
from hinge.models.solutions_reader import Claim, take_solutions
from hinge.models.solutions_table import (
    BOUNDS,
    COLUMNS,
    WORDS,
    certificate_summary,
    put_solutions,
)
from hinge.models.text_lists import Tensors, put_texts, take_texts, tensors_of_texts
from hinge.multiclass import Labels, Objective
from hinge.problem import Intercept
from hinge.result import Solution

KIND = "linear-classifier"
_NAMES = "feature_names"
_BASE = "index_base_"  # of the text file that the model was trained on, where there was one
_MOST = 2**40  # features, problems or rows: more than any file can hold
_PIECE = 1 << 13  # weights that are looked at together
# Extents: p problems, f features, r rows of the training data.
_SHAPES: dict[str, tuple[Any, ...]] = {
    "coef": ("p", "f"),
    "intercept": ("p",),
    "solutions": ("p", len(COLUMNS)),
    "dual_coef": ("p", "r"),
    "region.centre": ("p", "f"),
    "region.origin": ("p", "f"),
    "region.bounds": ("p", len(BOUNDS)),
}
_REQUIRED = {"coef", "intercept", "solutions"}
_FINITE = ("coef", "intercept", "dual_coef", "region.centre", "region.origin")


def put_linear(model: LinearSVC, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a fitted linear classifier.

    Parameters
    ----------
    model : LinearSVC
        A fitted estimator.
    proof : bool
        Whether what proves optimality goes in: dual coefficients, regions, fingerprint.
    """
    objective = linear_objective(model)
    solutions: list[Solution] = model.solutions_
    coef, intercept = _weights(model, objective)
    tensors: Tensors = {"coef": coef, "intercept": intercept}
    words = put_solutions(solutions, tensors, proof)
    names = getattr(model, "feature_names_in_", None)
    base = getattr(model, _BASE, None)
    description = {
        "kind": KIND,
        "classes": put_labels(np.asarray(model.classes_), tensors),
        "n_features": int(model.n_features_in_),
        _NAMES: None if names is None else put_texts(_NAMES, [*map(str, names)], tensors),
        "problem": put_problem(objective),
        "parameters": put_parameters(model),
        "is_sparse": bool(sp.issparse(model.coef_)),
        "seed": solutions[0].seed,
        "certificate": certificate_summary(model.certificate_),
        "proof": _proof(model, tensors),
        **words,
        **({} if base is None else {"index_base": int(base)}),
    }
    return description, tensors


def tensors_of_linear(description: dict[str, Any], present: set[str]) -> set[str]:
    """Return the names of the tensors that a description asks for.

    Parameters
    ----------
    description : dict
        What a file says of itself.
    present : set of str
        The tensors that the file has; those that may be left out are taken from it.
    """
    wanted = _REQUIRED | tensors_of_labels(description.get("classes"))
    wanted |= tensors_of_texts(_NAMES, description.get(_NAMES))
    for name in WORDS:
        wanted |= tensors_of_texts(name, description.get(name))
    if description.get("proof") is not None:
        wanted |= {name for name in _SHAPES if name in present}
    return wanted


def take_linear(fields: Fields, tensors: Tensors, budget: Budget) -> LinearSVC:
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
    LinearSVC
        Ready to predict.
    """
    classes = take_labels(fields.take("classes"), tensors, budget)
    n_features = fields.integer("n_features", least=1, most=_MOST)
    n_problems = 1 if len(classes) == 2 else len(classes)
    n_rows, fingerprint = _take_proof(fields.take("proof"), tensors)
    _check_tensors(tensors, {"p": n_problems, "f": n_features, "r": n_rows})
    model = take_parameters(fields.take("parameters"))
    objective = take_problem(fields.take("problem"), model)
    if not has_intercept(objective) and tensors["intercept"].any():
        message = "the model has intercepts, which its objective rules out."
        raise ModelFileError(message)
    is_free = objective.intercept is Intercept.FREE
    constant = objective.intercept_scale if has_intercept(objective) else 0.0
    words = {name: fields.take(name) for name in WORDS}
    seed = fields.integer("seed", most=2**128)
    claim = Claim(seed, float(model.tol), None if is_free else constant)
    solutions = take_solutions(words, tensors, claim, budget)
    names, summary = fields.take(_NAMES), fields.take("certificate")
    is_sparse = fields.flag("is_sparse")
    base = fields.integer("index_base", most=1) if fields.has("index_base") else None
    fields.finish()
    labels = Labels(classes, np.zeros(0, dtype=np.int8))
    model._store(solutions, labels, objective.intercept)
    if summary != certificate_summary(model.certificate_):
        message = "the certificate of the description is not that of the worst problem."
        raise ModelFileError(message)
    model.n_features_in_ = n_features
    if names is not None:
        texts = take_texts(_NAMES, names, tensors, n_features, budget)
        model.feature_names_in_ = np.array(texts, dtype=object)
    if fingerprint is not None:
        model.data_fingerprint_ = fingerprint
    if base is not None:
        setattr(model, _BASE, base)
    if is_sparse:
        model.coef_ = sparse_rows(model.coef_)
    return model


def sparse_rows(coef: NDArray[np.float64]) -> Any:
    """Return weights as ``sparsify`` does, without the copies of them that SciPy makes.

    Parameters
    ----------
    coef : ndarray of shape (n, m)
        The weights.
    """
    starts = np.concatenate(([0], np.cumsum(np.count_nonzero(coef, axis=1))))
    index = np.int32 if max(int(starts[-1]), coef.shape[1]) < 2**31 else np.int64
    columns, values = np.empty(starts[-1], dtype=index), np.empty(starts[-1])
    reached = 0
    for row in coef:
        for first in range(0, len(row), _PIECE):
            places = np.flatnonzero(row[first : first + _PIECE])
            stop = reached + len(places)
            columns[reached:stop] = places + first
            values[reached:stop] = row[places + first]
            reached = stop
    return sp.csr_matrix((values, columns, starts.astype(index)), shape=coef.shape)


def _weights(model: LinearSVC, objective: Objective) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return weights and intercepts; they must be finite, and those of the certificates."""
    weights: Any = model.coef_
    coef = weights.toarray() if sp.issparse(weights) else np.asarray(weights)
    points = [solution.point for solution in model.solutions_]
    own = np.stack([point.coef for point in points])
    intercept = np.array([point.intercept for point in points])
    shown = intercept if has_intercept(objective) else np.zeros(len(points))
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        message = "the weights are not finite, so the model cannot be saved; fit it on scaled data."
        raise UnsupportedError(message)
    given = np.broadcast_to(np.asarray(model.intercept_), intercept.shape)
    if not np.array_equal(coef, own) or not np.array_equal(given, shown):
        message = (
            "coef_ or intercept_ were changed after the fit, so the certificates are not theirs "
            "any more; fit again, or put them back to what solutions_ holds."
        )
        raise InvalidParameterError(message)
    return own, shown


def _proof(model: LinearSVC, tensors: Tensors) -> dict[str, Any] | None:
    if "dual_coef" not in tensors:
        return None
    fingerprint = getattr(model, "data_fingerprint_", None)
    return {"n_rows": tensors["dual_coef"].shape[1], "fingerprint": fingerprint}


def _take_proof(content: Any, tensors: Tensors) -> tuple[int, str | None]:
    """Return the number of rows of the training data, and its fingerprint if it is known."""
    if content is None:
        return 0, None
    fields = Fields(content, "proof")
    n_rows = fields.integer("n_rows", least=1, most=_MOST)
    fingerprint = fields.take("fingerprint")
    fields.finish()
    if "dual_coef" not in tensors:
        message = "the file has a proof without dual coefficients."
        raise ModelFileError(message)
    check_fingerprint(fingerprint)
    return n_rows, fingerprint


def _check_tensors(tensors: Tensors, extents: dict[str, int]) -> None:
    """Refuse tensors of another type or shape than the description makes them, or not finite."""
    for name, tensor in tensors.items():
        if name not in _SHAPES:
            continue  # lists of labels and words are checked where they are read
        shape = tuple(extents.get(extent, extent) for extent in _SHAPES[name])
        if tensor.dtype != np.float64 or tensor.shape != shape:
            message = (
                f"tensor {name!r} is {tensor.dtype} of shape {tensor.shape}; the rest of the file "
                f"makes it float64 of shape {shape}."
            )
            raise ModelFileError(message)
        if name in _FINITE and not np.isfinite(tensor).all():
            message = f"tensor {name!r} holds a number that is not finite."
            raise ModelFileError(message)
    if "dual_coef" in tensors and tensors["dual_coef"].min() < 0.0:
        message = "tensor 'dual_coef' holds a negative coefficient."
        raise ModelFileError(message)
    parts = {name for name in tensors if name.startswith("region.")}
    if parts and not {"region.centre", "region.bounds"} <= parts:
        message = "the regions of the optima are incomplete."
        raise ModelFileError(message)
