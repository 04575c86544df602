"""An accelerated predictor as a description with tensors, and back.

The file holds the machine (kernel, support vectors, coefficients, intercepts), the rule that makes
labels of its values, the labels, and what :mod:`hinge.models.anytime_content` says of its stages.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.anytime import AnytimePredictor, LargestRule, Rule, SignRule, VoteRule
from hinge.errors import InvalidParameterError, ModelFileError
from hinge.kernels import Kernel, Precomputed
from hinge.machines import Machine
from hinge.models.anytime_content import FIELD, put_stages, take_stages, tensors_of_stages
from hinge.models.budget import Budget
from hinge.models.class_labels import put_labels, take_labels, tensors_of_labels
from hinge.models.fields import Fields
from hinge.models.kernel_content import put_kernel, take_kernel
from hinge.models.kernel_machine import overflowing_vector
from hinge.models.support_tensors import put_vectors, take_vectors, tensors_of_vectors
from hinge.models.text_lists import Tensors
from hinge.rows import Rows

KIND = "anytime-predictor"
_RULES = ("sign", "strict sign", "largest", "votes")
_MOST = 2**40  # features: more than any file can hold
_COLUMNS = "support"  # of a kernel matrix, in place of support vectors


def put_predictor(model: AnytimePredictor) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a predictor.

    Parameters
    ----------
    model : AnytimePredictor
        The predictor.
    """
    machine = model.machine
    tensors: Tensors = {"intercept": np.array(machine.intercept, dtype=np.float64)}
    count = len(machine.coefficients)
    vectors: Any = None
    if isinstance(machine.support, Rows):
        vectors = machine.support.matrix
    elif not isinstance(machine.kernel, Precomputed):
        vectors = np.empty((0, model.n_features))
    if count:
        tensors["coefficients"] = np.array(machine.coefficients, dtype=np.float64, order="C")
    if count and vectors is None:
        tensors[_COLUMNS] = np.asarray(machine.support, dtype=np.int64)
    description = {
        "kind": KIND,
        "classes": put_labels(np.asarray(model.classes), tensors),
        "rule": _put_rule(model.rule),
        "n_features": int(model.n_features),
        "kernel": put_kernel(machine.kernel),
        "support": put_vectors(vectors, count, tensors),
        FIELD: put_stages(model, tensors),
    }
    return description, tensors


def tensors_of_predictor(description: dict[str, Any], present: set[str]) -> set[str]:
    """Return the names of the tensors that a description asks for.

    Parameters
    ----------
    description : dict
        What a file says of itself.
    present : set of str
        The tensors that the file has.
    """
    del present  # none may be left out
    wanted = {"intercept"} | tensors_of_labels(description.get("classes"))
    wanted |= tensors_of_stages(description.get(FIELD))
    support = description.get("support")
    if not isinstance(support, dict) or not support.get("count"):
        return wanted
    wanted |= {"coefficients"} | tensors_of_vectors(support)
    return wanted | {_COLUMNS} if support.get("form") == "rows" else wanted


def take_predictor(fields: Fields, tensors: Tensors, budget: Budget) -> AnytimePredictor:
    """Return the predictor that a description and its tensors stand for.

    Parameters
    ----------
    fields : Fields
        The description, without what every kind of file has.
    tensors : dict of str to ndarray
        The tensors that the description asks for, and no others.
    budget : Budget
        Memory that labels and the embedding may take together.
    """
    classes = take_labels(fields.take("classes"), tensors, budget)
    rule, n_functions = _take_rule(fields.choice("rule", _RULES), len(classes))
    n_features = fields.integer("n_features", least=1, most=_MOST)
    kernel = take_kernel(fields.take("kernel"), "kernel")
    if isinstance(getattr(kernel, "gamma", None), str):
        message = "the kernel of a predictor must have numbers, not rules, as parameters."
        raise ModelFileError(message)
    count, vectors = take_vectors(fields.take("support"), n_features, tensors)
    machine = _machine(kernel, count, vectors, n_features, n_functions, tensors)
    stages = fields.fields(FIELD)
    fields.finish()
    parts = take_stages(stages, machine, n_features, tensors, budget)
    return AnytimePredictor(machine, rule, classes, n_features, parts)


def _put_rule(rule: Rule) -> str:
    if isinstance(rule, SignRule):
        return "strict sign" if rule.is_strict else "sign"
    if isinstance(rule, LargestRule):
        return "largest"
    if isinstance(rule, VoteRule):
        return "votes"
    message = f"a predictor with the rule {type(rule).__name__} cannot be saved."
    raise InvalidParameterError(message)


def _take_rule(name: str, n_classes: int) -> tuple[Rule, int]:
    """Return a rule and how many functions it needs."""
    if name in ("sign", "strict sign") and n_classes == 2:
        return SignRule(name != "sign"), 1
    if name == "largest":
        return LargestRule(), n_classes
    if name == "votes" and n_classes > 2:
        return VoteRule(n_classes), n_classes * (n_classes - 1) // 2
    message = f"the rule {name!r} cannot be of {n_classes} classes."
    raise ModelFileError(message)


def _machine(
    kernel: Kernel, count: int, vectors: Any, n_features: int, n_functions: int, tensors: Tensors
) -> Machine:
    """Return a machine whose parts fit each other."""
    is_matrix = isinstance(kernel, Precomputed)
    if (vectors is None) is not is_matrix:
        message = f"a machine with a {kernel.name} kernel has other support vectors."
        raise ModelFileError(message)
    _check(tensors, "intercept", (n_functions,), "float64")
    if not count:
        return Machine(kernel, None, np.zeros((0, n_functions)), tensors["intercept"])
    _check(tensors, "coefficients", (count, n_functions), "float64")
    support: Any
    if is_matrix:
        _check(tensors, _COLUMNS, (count,), "int64")
        support = tensors[_COLUMNS]
        if support.min() < 0 or support.max() >= n_features:
            message = f"tensor {_COLUMNS!r} names a column beyond those of the kernel matrix."
            raise ModelFileError(message)
    else:
        if overflowing_vector(vectors) is not None:
            message = "a support vector has a squared norm beyond floating point."
            raise ModelFileError(message)
        support = Rows(sp.csr_array(vectors) if sp.issparse(vectors) else vectors)
    return Machine(kernel, support, tensors["coefficients"], tensors["intercept"])


def _check(tensors: Tensors, name: str, shape: tuple[int, ...], kind: str) -> None:
    tensor = tensors[name]
    if tensor.dtype.name != kind or tensor.shape != shape:
        message = (
            f"tensor {name!r} is {tensor.dtype} of shape {tensor.shape}; the rest of the file "
            f"makes it {kind} of shape {shape}."
        )
        raise ModelFileError(message)
    if not np.isfinite(tensor).all():
        message = f"tensor {name!r} holds a number that is not finite."
        raise ModelFileError(message)
