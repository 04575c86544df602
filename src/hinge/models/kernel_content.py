"""Kernels in a file: a name out of a fixed list, and plain numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from hinge.errors import HingeError, ModelFileError
from hinge.kernels import (
    RBF,
    ChiSquared,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from hinge.models.fields import Fields
from hinge.models.fitted_machine import refuse_code

_NUMBERS: dict[str, tuple[type[Kernel], tuple[str, ...]]] = {
    Linear.name: (Linear, ()),
    Polynomial.name: (Polynomial, ("degree", "gamma", "coef0")),
    RBF.name: (RBF, ("gamma",)),
    Sigmoid.name: (Sigmoid, ("gamma", "coef0")),
    Laplacian.name: (Laplacian, ("gamma",)),
    ChiSquared.name: (ChiSquared, ("gamma",)),
    Precomputed.name: (Precomputed, ("psd", "asymmetry")),
}
_MOST_DEGREE = 2**31 - 1


def put_kernel(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as plain content; a Python function is refused.

    Parameters
    ----------
    kernel : Kernel
        Its gamma may be a number or a rule.
    """
    refuse_code(kernel, "the model")
    if isinstance(kernel, Normalised):
        return {"name": kernel.name, "kernel": put_kernel(kernel.kernel)}
    names = _NUMBERS[kernel.name][1]
    return {"name": kernel.name, **{name: getattr(kernel, name) for name in names}}


def take_kernel(content: Any, where: str) -> Kernel:
    """Return the kernel that some content describes.

    Parameters
    ----------
    content : object
        What the description says.
    where : str
        What it is, for messages.
    """
    fields = Fields(content, where)
    name = fields.choice("name", (*_NUMBERS, Normalised.name))
    if name == Normalised.name:
        inner = take_kernel(fields.take("kernel"), f"{where}.kernel")
        fields.finish()
        return _made(Normalised, {"kernel": inner}, where)
    kind, names = _NUMBERS[name]
    values = {key: fields.take(key) for key in names}
    fields.finish()
    for key, value in values.items():
        if not _fits(key, value):
            raise fields.wrong(key, value, "what such a kernel can have")
    return _made(kind, values, where)


def is_resolved_from(kernel: Kernel, asked: Kernel, n_features: int) -> bool:
    """Return whether a kernel with numbers can be what a fit made of another.

    Parameters
    ----------
    kernel : Kernel
        The kernel of a fitted model.
    asked : Kernel
        What its parameters ask for; gamma may be a rule.
    n_features : int
        Number of features of the fit.
    """
    if isinstance(kernel, Normalised) and isinstance(asked, Normalised):
        return is_resolved_from(kernel.kernel, asked.kernel, n_features)
    gamma, rule = getattr(kernel, "gamma", None), getattr(asked, "gamma", None)
    if isinstance(gamma, str):
        return False
    if isinstance(rule, str):
        if rule == "auto" and gamma != 1.0 / n_features:
            return False
        if not isinstance(gamma, float) or not gamma > 0.0 or type(kernel) is not type(asked):
            return False
        asked = replace(asked, gamma=gamma)  # type: ignore[type-var]
    if isinstance(kernel, Precomputed) and isinstance(asked, Precomputed):
        return kernel.psd is asked.psd
    return kernel == asked


def _fits(name: str, value: Any) -> bool:
    if name == "psd":
        return value is None or isinstance(value, bool)
    if isinstance(value, bool):
        return False
    if name == "degree":
        return isinstance(value, int) and 0 <= value <= _MOST_DEGREE
    if name == "gamma" and isinstance(value, str):
        return True  # the kernel knows the rules
    if name == "asymmetry" and isinstance(value, float) and value < 0.0:
        return False
    return isinstance(value, float) and math.isfinite(value)


def _made(kind: Any, values: dict[str, Any], where: str) -> Kernel:
    try:
        made: Kernel = kind(**values)
    except HingeError as error:
        message = f"{where} cannot be: {error}"
        raise ModelFileError(message) from None
    return made
