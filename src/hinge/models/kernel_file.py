"""A fitted kernel classifier as a description with tensors, and back.

Everything that is read is checked against everything else: the numbers of support vectors of the
classes against the vectors and the coefficients, the signs of these against the classes, the kernel
against the parameters, the numbers of a certificate against each other.

The proof of a kernel machine is small: dual coefficients that are not zero are in ``dual_coef`` in
any case, so it is the numbers of the rows that they belong to, and a fingerprint of the data. The
regions of the optima are not kept; the data give them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError, ModelFileError
from hinge.estimators._kernel_options import kernel_objective, kernel_options
from hinge.estimators._sparse_form import as_scikit_learn_has_it
from hinge.estimators.svc import SVC
from hinge.kernels import Kernel, Precomputed
from hinge.models.adopted_machine import adopt, store_solutions
from hinge.models.budget import Budget
from hinge.models.class_labels import put_labels, take_labels, tensors_of_labels
from hinge.models.fields import Fields
from hinge.models.fitted_machine import fitted_machine
from hinge.models.kernel_content import is_resolved_from, put_kernel, take_kernel
from hinge.models.kernel_machine import (
    KernelMachine,
    differs_from_solutions,
    overflowing_vector,
    wrong_sign,
)
from hinge.models.linear_file import sparse_rows
from hinge.models.parameters import (
    check_options,
    plain_parameters,
    put_problem,
    read_parameters,
    same_problem,
)
from hinge.models.proof_fields import take_fingerprint
from hinge.models.solutions_reader import Claim, take_solutions
from hinge.models.solutions_table import COLUMNS, WORDS, certificate_summary, put_solutions
from hinge.models.support_tensors import put_vectors, take_vectors, tensors_of_vectors
from hinge.models.text_lists import Tensors, put_texts, take_texts, tensors_of_texts
from hinge.result import Solution

KIND = "kernel-classifier"
_NAMES = "feature_names"
_BASE = "index_base_"
_MOST = 2**40  # features or rows: more than any file can hold
_SIGMOIDS = ("probA", "probB")
# Extents: k classes, m support vectors; o = k - 1 and p pairs, or both k: classes against the rest.
_SHAPES: dict[str, tuple[str, tuple[Any, ...]]] = {
    "dual_coef": ("float64", ("o", "m")),
    "intercept": ("float64", ("p",)),
    "solutions": ("float64", ("p", len(COLUMNS))),
    "n_support": ("int64", ("k",)),
    "support": ("int64", ("m",)),
    "class_weight": ("float64", ("k",)),
    "probA": ("float64", ("p",)),
    "probB": ("float64", ("p",)),
}
_FINITE = ("dual_coef", "intercept", "class_weight", *_SIGMOIDS)


def put_machine(model: SVC, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return the description and the tensors of a fitted kernel classifier.

    Parameters
    ----------
    model : SVC
        A fitted estimator.
    proof : bool
        Whether the rows of the support vectors and the fingerprint of the data go in.
    """
    kernel_options(model)  # whoever set something illegal since the fit hears of it here
    machine = fitted_machine(model)
    solutions: list[Solution] = model.solutions_
    _check_unchanged(machine, solutions)
    if machine.is_against_rest != _is_against_rest(model, len(machine.classes)):
        message = (
            f"multiclass={model.multiclass!r} was set after the fit, which was of the other kind; "
            "fit again, or put it back."
        )
        raise InvalidParameterError(message)
    tensors: Tensors = {"intercept": machine.intercept, "n_support": machine.n_support}
    count = machine.dual_coef.shape[1]
    support = put_vectors(machine.vectors, count, tensors)
    if count:
        tensors["dual_coef"] = machine.dual_coef
    has_rows = machine.rows is not None and (proof or machine.is_precomputed)
    if has_rows and count:
        assert machine.rows is not None
        tensors["support"] = machine.rows
    for name in ("class_weight", *_SIGMOIDS):
        values = np.asarray(getattr(model, f"{name}_", ()), dtype=np.float64)
        if values.size:
            tensors[name] = values
    words = put_solutions(solutions, tensors, proof=False)
    base = getattr(model, _BASE, None)
    names = machine.feature_names
    shape = getattr(model, "shape_fit_", None)
    description = {
        "kind": KIND,
        "classes": put_labels(machine.classes, tensors),
        "n_features": machine.n_features,
        "n_rows": None if shape is None else int(shape[0]),
        _NAMES: None if names is None else put_texts(_NAMES, [*map(str, names)], tensors),
        "kernel": put_kernel(machine.kernel),
        "problem": put_problem(kernel_objective(model)),
        "parameters": _put_parameters(model),
        "support": support,
        "is_sparse": bool(sp.issparse(model.dual_coef_)),
        "seed": solutions[0].seed,
        "certificate": certificate_summary(model.certificate_),
        "proof": _proof(model, has_rows and proof),
        **words,
        **({} if base is None else {"index_base": int(base)}),
    }
    return description, tensors


def tensors_of_machine(description: dict[str, Any], present: set[str]) -> set[str]:
    """Return the names of the tensors that a description asks for.

    Parameters
    ----------
    description : dict
        What a file says of itself.
    present : set of str
        The tensors that the file has; those that may be left out are taken from it.
    """
    wanted = {"intercept", "solutions", "n_support"}
    wanted |= tensors_of_labels(description.get("classes"))
    wanted |= tensors_of_texts(_NAMES, description.get(_NAMES))
    for name in WORDS:
        wanted |= tensors_of_texts(name, description.get(name))
    wanted |= {name for name in ("class_weight", *_SIGMOIDS) if name in present}
    support = description.get("support")
    if not isinstance(support, dict) or not support.get("count"):
        return wanted
    wanted |= {"dual_coef"} | tensors_of_vectors(support)
    if description.get("proof") is not None or support.get("form") == "rows":
        wanted.add("support")
    return wanted


def take_machine(fields: Fields, tensors: Tensors, budget: Budget) -> SVC:
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
    SVC
        Ready to predict.
    """
    classes = take_labels(fields.take("classes"), tensors, budget)
    n_features = fields.integer("n_features", least=1, most=_MOST)
    n_rows = fields.integer_or_null("n_rows", least=1, most=_MOST)
    count, vectors = take_vectors(fields.take("support"), n_features, tensors)
    kernel = take_kernel(fields.take("kernel"), "kernel")
    fingerprint = take_fingerprint(fields.take("proof"))
    model = _take_parameters(fields.take("parameters"))
    extents = _extents(model, len(classes), count)
    _check_tensors(tensors, extents)
    objective = same_problem(fields.take("problem"), kernel_objective(model))
    assert objective.kernel is not None
    if not is_resolved_from(kernel, objective.kernel, n_features):
        message = "the kernel is not the one that the parameters stand for."
        raise ModelFileError(message)
    machine = KernelMachine(
        classes=classes,
        kernel=kernel,
        vectors=vectors,
        n_support=tensors["n_support"],
        dual_coef=tensors.get("dual_coef", np.zeros((extents["o"], 0))),
        intercept=tensors["intercept"],
        n_features=n_features,
        rows=_take_rows(tensors, count, n_rows),
        feature_names=_take_names(fields.take(_NAMES), n_features, tensors, budget),
    )
    _check_machine(machine, n_rows)
    words = {name: fields.take(name) for name in WORDS}
    claim = Claim(fields.integer("seed", most=2**128), float(model.tol), None, "kkt")
    solutions = _take_solutions(words, tensors, machine, claim, budget)
    summary = fields.take("certificate")
    is_sparse = fields.flag("is_sparse")
    base = fields.integer("index_base", most=1) if fields.has("index_base") else None
    fields.finish()
    adopt(model, machine, n_rows)
    if is_sparse:
        dual_coef = sp.csr_array(sparse_rows(machine.dual_coef))
        model.dual_coef_ = as_scikit_learn_has_it(dual_coef)
    _adopt_weights(model, tensors)
    store_solutions(model, solutions)
    if summary != certificate_summary(model.certificate_):
        message = "the certificate of the description is not that of the worst problem."
        raise ModelFileError(message)
    if fingerprint is not None:
        model.data_fingerprint_ = fingerprint
    if base is not None:
        setattr(model, _BASE, base)
    return model


def _is_against_rest(model: SVC, n_classes: int) -> bool:
    """Return whether the parameters make a machine for every class against the rest."""
    return model.multiclass == "ovr" and n_classes > 2


def _extents(model: SVC, n_classes: int, count: int) -> dict[str, int]:
    """Return the extents of tensors by their letters."""
    rows, functions = n_classes - 1, n_classes * (n_classes - 1) // 2
    if _is_against_rest(model, n_classes):
        rows = functions = n_classes
    return {"k": n_classes, "o": rows, "p": functions, "m": count}


def _check_unchanged(machine: KernelMachine, solutions: list[Solution]) -> None:
    if differs_from_solutions(machine, [solution.point for solution in solutions]):
        message = (
            "dual_coef_, intercept_ or support_ were changed after the fit, so the certificates "
            "are not theirs any more; fit again, or put them back to what solutions_ holds."
        )
        raise InvalidParameterError(message)


def _put_parameters(model: SVC) -> dict[str, Any]:
    given = model.get_params(deep=False)
    kernel = given.pop("kernel")
    plain = plain_parameters(model, given)
    plain["kernel"] = put_kernel(kernel) if isinstance(kernel, Kernel) else str(kernel)
    return plain


def _take_parameters(content: Any) -> SVC:
    """Return an estimator with the parameters of a file, none of them illegal."""
    kernel = content.get("kernel") if isinstance(content, dict) else None
    if isinstance(kernel, dict):
        made: Any = take_kernel(kernel, "parameters.kernel")
        content = {**content, "kernel": made.name}
    values = read_parameters(content, SVC().get_params(deep=False))
    if isinstance(kernel, dict):
        values["kernel"] = made
    model = SVC(**values)
    check_options(kernel_options, model)
    return model


def _proof(model: SVC, is_wanted: bool) -> dict[str, Any] | None:
    if not is_wanted:
        return None
    return {"fingerprint": getattr(model, "data_fingerprint_", None)}


def _take_rows(tensors: Tensors, count: int, n_rows: int | None) -> NDArray[np.int64] | None:
    """Return the rows of the support vectors: all different, and rows of the training data."""
    if "support" not in tensors:
        return None if count else np.zeros(0, dtype=np.int64)
    rows = tensors["support"]
    most = _MOST if n_rows is None else n_rows
    if rows.min() < 0 or rows.max() >= most or len(np.unique(rows)) < len(rows):
        message = "tensor 'support' does not hold different rows of the training data."
        raise ModelFileError(message)
    return rows


def _take_names(
    content: Any, n_features: int, tensors: Tensors, budget: Budget
) -> NDArray[Any] | None:
    if content is None:
        return None
    return np.array(take_texts(_NAMES, content, tensors, n_features, budget), dtype=object)


def _check_machine(machine: KernelMachine, n_rows: int | None) -> None:
    """Refuse support vectors, coefficients and classes that do not belong together."""
    counts = machine.n_support
    count = machine.dual_coef.shape[1]
    if counts.min() < 0 or counts.max() > count or int(counts.sum()) != count:
        message = f"n_support must add up to the {count} support vectors of the file."
        raise ModelFileError(message)
    if (machine.vectors is None) is not isinstance(machine.kernel, Precomputed):
        message = f"a machine with a {machine.kernel.name} kernel has other support vectors."
        raise ModelFileError(message)
    if machine.vectors is not None and overflowing_vector(machine.vectors) is not None:
        message = "a support vector has a squared norm beyond floating point; no fit takes such."
        raise ModelFileError(message)
    if machine.is_precomputed and n_rows not in (None, machine.n_features):
        message = f"a kernel matrix of {n_rows} rows has as many features; here it has others."
        raise ModelFileError(message)
    last_row = -1 if machine.rows is None else int(machine.rows.max(initial=-1))
    if machine.is_precomputed and last_row >= machine.n_features:
        message = "tensor 'support' names a row beyond those of the kernel matrix."
        raise ModelFileError(message)
    if wrong_sign(counts, machine.dual_coef) is not None:
        message = "a coefficient has the sign of the other class of its pair."
        raise ModelFileError(message)


def _check_tensors(tensors: Tensors, extents: dict[str, int]) -> None:
    """Refuse tensors of another type or shape than the description makes them, or not finite."""
    for name, (kind, shape) in _SHAPES.items():
        if name not in tensors:
            continue
        tensor = tensors[name]
        wanted = tuple(extents.get(extent, extent) for extent in shape)
        if tensor.dtype.name != kind or tensor.shape != wanted:
            message = (
                f"tensor {name!r} is {tensor.dtype} of shape {tensor.shape}; the rest of the file "
                f"makes it {kind} of shape {wanted}."
            )
            raise ModelFileError(message)
        if name in _FINITE and not np.isfinite(tensor).all():
            message = f"tensor {name!r} holds a number that is not finite."
            raise ModelFileError(message)
    if "class_weight" in tensors and not (tensors["class_weight"] > 0.0).all():
        message = "tensor 'class_weight' holds a weight that is not above 0."
        raise ModelFileError(message)
    if ("probA" in tensors) != ("probB" in tensors):
        message = "the sigmoids of the probabilities are incomplete."
        raise ModelFileError(message)


def _take_solutions(
    words: dict[str, Any], tensors: Tensors, machine: KernelMachine, claim: Claim, budget: Budget
) -> list[Solution]:
    """Return the solutions of the problems; their points know the intercept alone."""
    others = ("dual_coef", "intercept")
    own = {name: tensor for name, tensor in tensors.items() if name not in others}
    intercept = machine.sign * tensors["intercept"]
    own |= {"coef": np.zeros((len(intercept), 0)), "intercept": intercept}
    if tensors["solutions"][:, -2:].any():
        message = "the problems of a kernel machine have no dual coefficients of their own."
        raise ModelFileError(message)
    return take_solutions(words, own, claim, budget)


def _adopt_weights(model: Any, tensors: Tensors) -> None:
    """Set what the estimator has besides its machine."""
    if "class_weight" in tensors:
        model.class_weight_ = tensors["class_weight"]
        given = model.class_weight or {}
        if isinstance(given, dict):  # else they were balanced, which only the data can confirm
            wanted = [given.get(label, 1.0) for label in model.classes_.tolist()]
            if not np.array_equal(model.class_weight_, wanted):
                message = "tensor 'class_weight' is not what the parameters say."
                raise ModelFileError(message)
    nothing = np.zeros(0)
    model.probA_, model.probB_ = (tensors.get(name, nothing) for name in _SIGMOIDS)
