"""Kernels: the reference in NumPy, one kernel per file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from hinge.errors import UnsupportedError, unknown_name
from hinge.kernels.base import Kernel
from hinge.kernels.callable_kernel import CallableKernel
from hinge.kernels.chi_squared import ChiSquared
from hinge.kernels.inner_product import InnerProductKernel
from hinge.kernels.laplacian import Laplacian
from hinge.kernels.linear import Linear
from hinge.kernels.normalised import Normalised
from hinge.kernels.polynomial import Polynomial
from hinge.kernels.precomputed import Precomputed
from hinge.kernels.rbf import RBF
from hinge.kernels.sigmoid import Sigmoid

__all__ = [
    "CallableKernel",
    "ChiSquared",
    "InnerProductKernel",
    "Kernel",
    "Laplacian",
    "Linear",
    "Normalised",
    "Polynomial",
    "Precomputed",
    "RBF",
    "Sigmoid",
    "get_kernel",
    "with_gamma",
]

_BY_NAME: dict[str, Callable[[], Kernel]] = {
    Linear.name: Linear,
    Polynomial.name: Polynomial,
    RBF.name: RBF,
    Sigmoid.name: Sigmoid,
    Laplacian.name: Laplacian,
    ChiSquared.name: ChiSquared,
    Precomputed.name: Precomputed,
}


def get_kernel(kernel: str | Kernel | Callable[[Any, Any], Any]) -> Kernel:
    """Return the kernel of that name, the kernel itself, or one that calls a function.

    Parameters
    ----------
    kernel : str, Kernel or callable
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``, ``"laplacian"``, ``"chi2"``,
        ``"precomputed"``, a configured kernel object, or a function of two arrays of rows.

    Returns
    -------
    Kernel
        The kernel object.

    Examples
    --------
    >>> get_kernel("rbf")
    RBF(gamma='scale')
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _BY_NAME:
        return _BY_NAME[kernel]()
    if callable(kernel):
        return CallableKernel(kernel)
    raise unknown_name(kernel, "kernel", _BY_NAME)


def with_gamma(kernel: Kernel, gamma: float) -> Kernel:
    """Return a kernel with another gamma.

    Parameters
    ----------
    kernel : Kernel
        A kernel that has one, or the normalisation of such a kernel.
    gamma : float
        Its new gamma.

    Returns
    -------
    Kernel
        The kernel, all else the same.

    Examples
    --------
    >>> with_gamma(Laplacian(0.1), 0.2)
    Laplacian(gamma=0.2)
    """
    if isinstance(kernel, Normalised):
        return Normalised(with_gamma(kernel.kernel, gamma))
    names = [own.name for own in fields(kernel)]  # type: ignore[arg-type]
    if "gamma" not in names:
        message = f"the kernel {kernel!r} has no gamma to change; leave gammas out."
        raise UnsupportedError(message)
    return replace(kernel, gamma=gamma)  # type: ignore[type-var]


def __dir__() -> list[str]:
    return list(__all__)
