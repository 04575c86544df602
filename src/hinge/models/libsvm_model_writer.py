"""LIBSVM text models out, with every bit of the support vectors."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp

from hinge.durable import atomic_write
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.estimators.svc import SVC
from hinge.models._chosen_model import chosen_model
from hinge.models.fitted_machine import fitted_machine
from hinge.models.kernel_machine import KernelMachine
from hinge.models.libsvm_model_text import KERNEL_LINES, KERNEL_NAMES, MOST_FEATURES
from hinge.models.text_labels import whole_labels

_BASE = "index_base_"
_NUMBERS_AT_ONCE = 1 << 15


def write_libsvm(
    model: SVC, path: str | os.PathLike[str], *, labels: Sequence[int] | None = None
) -> None:
    """Write a fitted kernel classifier in LIBSVM's text format, which ``svm-predict`` reads.

    Parameters
    ----------
    model : SVC or SVCCV
        A fitted model of hinge whose kernel is linear, polynomial, RBF, sigmoid or precomputed.
    path : str or path-like
        The file; one that exists is replaced at once and whole.
    labels : sequence of int or None, default=None
        What to write in place of each of ``model.classes_``, in their order. Needed where these
        are not whole numbers of 32 bits, the only labels that LIBSVM knows.

    Raises
    ------
    InvalidParameterError
        If the labels are not whole numbers, or the model's attributes contradict each other.
    UnsupportedError
        If LIBSVM has no such kernel, or no such machine: it has one for every pair of classes.
    OSError
        If the file cannot be written; what was there is still there.

    See Also
    --------
    read_libsvm : Read such a file.

    Notes
    -----
    Numbers have 17 digits, so that reading them gives the same bits: hinge's decision values are
    then equal. LIBSVM's differ by the rounding of its sums and of its kernel: each of the m terms
    of a decision value by a few units of roundoff of ``|coefficient| k``, more where the exponent
    of the kernel is large, and their sum by at most ``2 m u sum |coefficient k|`` with
    ``u = 2 ** -53``. Both programs give a value of exactly zero to the second class of a pair. Of
    classes that have equally many votes LIBSVM takes the first, and hinge the one whose decision
    values add up to the most.

    The format has no place for feature names, C, the loss, class weights or the certificate: the
    file format of hinge has (``hinge.save``).
    """
    model = chosen_model(model)
    if not isinstance(model, SVC):
        message = f"model must be a fitted hinge.SVC; got {type(model).__name__}."
        raise InvalidParameterError(message)
    machine = fitted_machine(model)
    if machine.is_against_rest:
        message = (
            "LIBSVM has a machine for every pair of classes, and this model one for every class "
            "(multiclass='ovr'). Fit with multiclass='ovo', save the model in hinge's own format, "
            "or export it to ONNX."
        )
        raise UnsupportedError(message)
    name = _kernel_name(machine)
    if not len(machine.dual_coef[0]):
        message = "the model has no support vectors, so LIBSVM could not read it; fit it further."
        raise UnsupportedError(message)
    base = getattr(model, _BASE, 1)
    if machine.n_features + base > MOST_FEATURES:
        message = f"the model has {machine.n_features} features; LIBSVM takes {MOST_FEATURES - 1}."
        raise UnsupportedError(message)
    numbers = whole_labels(machine.classes, labels, "LIBSVM")
    if len(numbers) == 2:  # LIBSVM's decision value is positive for the first one
        machine = replace(machine, dual_coef=-machine.dual_coef, intercept=-machine.intercept)
    header = [
        "svm_type c_svc",
        f"kernel_type {name}",
        *(f"{line} {_spelled(getattr(machine.kernel, line))}" for line in KERNEL_LINES[name]),
        f"nr_class {len(numbers)}",
        f"total_sv {machine.dual_coef.shape[1]}",
        f"rho {' '.join(_spelled(value) for value in -machine.intercept + 0.0)}",
        f"label {' '.join(str(number) for number in numbers)}",
        *_sigmoids(model),
        f"nr_sv {' '.join(str(count) for count in machine.n_support.tolist())}",
        "SV",
    ]
    with atomic_write(path) as file:
        file.write(("\n".join(header) + "\n").encode("ascii"))
        _write_vectors(file, machine, base)


def _kernel_name(machine: KernelMachine) -> str:
    for name, kind in KERNEL_NAMES.items():
        if type(machine.kernel) is kind:
            return name
    message = (
        f"LIBSVM has no {machine.kernel.name} kernel; it has {', '.join(KERNEL_NAMES)}. Save the "
        "model in hinge's own format, or export it to ONNX."
    )
    raise UnsupportedError(message)


def _spelled(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.17g}"


def _sigmoids(model: SVC) -> list[str]:
    """Return the lines of the sigmoids of probabilities, if there are any."""
    slopes, offsets = (np.asarray(getattr(model, name, ())) for name in ("probA_", "probB_"))
    n_pairs = len(model.classes_) * (len(model.classes_) - 1) // 2
    if not slopes.size:
        return []
    if slopes.shape != (n_pairs,) or offsets.shape != (n_pairs,):
        message = f"probA_ and probB_ must hold {n_pairs} numbers each."
        raise InvalidParameterError(message)
    named = {"probA": slopes, "probB": offsets}
    return [f"{name} {' '.join(map(_spelled, values))}" for name, values in named.items()]


def _write_vectors(file: BinaryIO, machine: KernelMachine, base: int) -> None:
    """Write a line for each support vector, some of them at a time."""
    coef = machine.dual_coef.T
    step = max(1, _NUMBERS_AT_ONCE // max(1, machine.n_features + coef.shape[1]))
    for start in range(0, len(coef), step):
        few = slice(start, start + step)
        features = _features(machine, few, base)
        lines = [
            " ".join([*map(_spelled, own), *pairs]) + " \n"
            for own, pairs in zip(coef[few].tolist(), features, strict=True)
        ]
        file.write("".join(lines).encode("ascii"))


def _features(machine: KernelMachine, few: slice, base: int) -> list[list[str]]:
    """Return the features of some support vectors as words."""
    if machine.vectors is None:
        assert machine.rows is not None
        return [[f"0:{row + 1}"] for row in machine.rows[few].tolist()]
    rows: Any = sp.csr_array(machine.vectors[few])
    words = [
        f"{index + base}:{value:.17g}"
        for index, value in zip(rows.indices.tolist(), rows.data.tolist(), strict=True)
    ]
    return [words[a:b] for a, b in zip(rows.indptr[:-1], rows.indptr[1:], strict=True)]
