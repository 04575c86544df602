"""LIBLINEAR text models out, with every bit of the weights."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from hinge.durable import atomic_write
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.models._chosen_model import chosen_model
from hinge.models.liblinear_text import SOLVER_TYPES, SolverType
from hinge.models.linear_weights import LinearWeights, fitted_weights
from hinge.models.text_labels import whole_labels
from hinge.multiclass import Objective
from hinge.problem import Intercept

Floats = NDArray[np.float64]

_NUMBERS_AT_ONCE = 1 << 14


def write_liblinear(
    model: LinearSVC, path: str | os.PathLike[str], *, labels: Sequence[int] | None = None
) -> None:
    """Write a fitted model in LIBLINEAR's text format, which its ``predict`` reads.

    Parameters
    ----------
    model : LinearSVC or LinearSVCCV
        A fitted model of hinge with the hinge or squared hinge loss.
    path : str or path-like
        The file; one that exists is replaced at once and whole.
    labels : sequence of int or None, default=None
        What to write in place of each of ``model.classes_``, in their order. Needed where these
        are not whole numbers of 32 bits, the only labels that LIBLINEAR knows.

    Raises
    ------
    InvalidParameterError
        If the labels are not whole numbers, or the model's attributes contradict each other.
    UnsupportedError
        If LIBLINEAR has no such loss.
    OSError
        If the file cannot be written; what was there is still there.

    See Also
    --------
    read_liblinear : Read such a file.

    Notes
    -----
    Numbers have 17 digits, so that reading them gives the same bits: hinge's decision values are
    then equal, and LIBLINEAR's differ by the rounding of its sums alone, at most
    ``2 (n + 2) u sum |w_i x_i|`` for n terms with the intercept, where ``u = 2 ** -53``. The larger
    of two labels is written first, which makes both programs decide a value of zero alike.

    The intercept becomes the weight of a constant feature of the value ``intercept_scaling``; or,
    where no weight gives exactly this intercept and where it is free, of the value 1. The format
    has no place for feature names, C, class weights or the certificate, nor for whether the
    intercept was free: the file format of hinge has (``hinge.save``).
    """
    model = chosen_model(model)
    if not isinstance(model, LinearSVC):
        message = f"model must be a fitted hinge.LinearSVC; got {type(model).__name__}."
        raise InvalidParameterError(message)
    weights = fitted_weights(model)
    objective = linear_objective(model)
    solver_type = _solver_type(objective, model.dual)
    numbers = whole_labels(weights.classes, labels, "LIBLINEAR")
    bias, constant = _constant_feature(weights, objective)
    if len(numbers) == 2:
        numbers = numbers[::-1]
    header = (
        f"solver_type {solver_type}",
        f"nr_class {len(numbers)}",
        f"label {' '.join(str(number) for number in numbers)}",
        f"nr_feature {weights.n_features}",
        f"bias {bias:.17g}",
        "w",
    )
    with atomic_write(path) as file:
        file.write(("\n".join(header) + "\n").encode("ascii"))
        _write_weights(file, weights.coef)
        if constant is not None:
            _write_weights(file, constant.reshape(-1, 1))


def _solver_type(objective: Objective, dual: Any) -> str:
    wanted = SolverType(objective.loss.name, dual is not False or objective.loss.name == "hinge")
    for name, solver_type in SOLVER_TYPES.items():
        if solver_type == wanted:
            return name
    message = (
        f"LIBLINEAR has no model with loss={objective.loss.name!r}; fit with loss='hinge' or "
        "'squared_hinge', or export to ONNX."
    )
    raise UnsupportedError(message)


def _constant_feature(weights: LinearWeights, objective: Objective) -> tuple[float, Floats | None]:
    """Return the value of the constant feature and its weights; -1 and None without one."""
    if objective.intercept is Intercept.NONE:
        if np.any(weights.intercept):
            message = "model has no intercept by its parameters, and an intercept_ other than 0."
            raise InvalidParameterError(message)
        return -1.0, None
    if objective.intercept is Intercept.AUGMENTED:
        scale = objective.intercept_scale
        with np.errstate(over="ignore", invalid="ignore"):
            near = weights.intercept / scale
            for factors in (near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf)):
                near = np.where(near * scale == weights.intercept, near, factors)
            if np.array_equal(near * scale, weights.intercept):
                return scale, near
    return 1.0, weights.intercept


def _write_weights(file: BinaryIO, coef: Floats) -> None:
    """Write a line for each column, some of them at a time."""
    n_functions = len(coef)
    step = max(1, _NUMBERS_AT_ONCE // n_functions)
    line = "%.17g " * n_functions + "\n"
    for start in range(0, coef.shape[1], step):
        block = coef[:, start : start + step].T
        file.write((line * len(block) % tuple(block.ravel().tolist())).encode("ascii"))
