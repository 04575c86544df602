"""The checked machine of a fitted model, kept from one call to the next.

To check a model's attributes, and to pack its support vectors, takes many times as long as to score
one row. Both are kept beside the model, never in it: a pickle, a clone or a copy has nothing of it.
What is kept serves as long as the attributes are the same objects and hold the same numbers. Arrays
that nobody may write to are known by being the same; others are compared with a copy. A model whose
attributes are anything but arrays is checked in every call.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.machines import KeptMachine, Machine

_NAMES = (
    "kernel_",
    "classes_",
    "n_support_",
    "support_",
    "support_vectors_",
    "dual_coef_",
    "intercept_",
    "n_features_in_",
)
_SMALL = 1 << 16  # bytes that are copied sooner than NumPy compares arrays
_kept: weakref.WeakKeyDictionary[Any, tuple[_Attributes, KeptMachine]] = weakref.WeakKeyDictionary()


def kept_machine(model: Any, check: Callable[[Any], Machine]) -> KeptMachine:
    """Return the machine of a fitted model, checked now or in an earlier call.

    Parameters
    ----------
    model : KernelClassifier
        A fitted classifier.
    check : callable
        Makes a machine of the model's attributes, or refuses them.
    """
    found = _kept.get(model)
    if found is not None and found[0].are_those_of(model):
        return found[1]
    attributes = _Attributes(model)
    machine = KeptMachine(check(model))
    if attributes.are_known:
        _kept[model] = attributes, machine
    else:
        _kept.pop(model, None)
    return machine


class _Attributes:
    """What a machine was made of.

    Parameters
    ----------
    model : KernelClassifier
        A fitted classifier.
    """

    def __init__(self, model: Any) -> None:
        self._values = [model.__dict__.get(name) for name in _NAMES]
        pieces = [_pieces(value) for value in self._values]
        self.are_known = all(arrays is not None for arrays in pieces)
        self._arrays = [
            (array, _form(array), _copy(array) if array.flags.writeable else None)
            for arrays in pieces
            for array in arrays or ()
        ]

    def are_those_of(self, model: Any) -> bool:
        """Return whether a model still has the same attributes, with the same numbers."""
        now = [model.__dict__.get(name) for name in _NAMES]
        if any(new is not old for new, old in zip(now, self._values, strict=True)):
            return False
        pieces = [array for value in now for array in _pieces(value) or ()]
        if len(pieces) != len(self._arrays):
            return False
        return all(
            array is old and _form(array) == form and _is_unchanged(array, copy)
            for array, (old, form, copy) in zip(pieces, self._arrays, strict=True)
        )


def _pieces(value: Any) -> list[NDArray[Any]] | None:
    """Return the arrays that an attribute consists of; None if it is of an unknown kind."""
    if type(value) is np.ndarray:
        return None if value.dtype.hasobject and value.flags.writeable else [value]
    if sp.issparse(value) and value.format == "csr":
        return [value.data, value.indices, value.indptr]
    return [] if isinstance(value, Kernel | int) else None


def _form(array: NDArray[Any]) -> tuple[Any, ...]:
    return array.shape, array.dtype


def _copy(array: NDArray[Any]) -> Any:
    """Return what an array is compared with: bytes of a small one, since that takes no time."""
    return array.tobytes() if array.nbytes <= _SMALL else array.copy()


def _is_unchanged(array: NDArray[Any], copy: Any) -> bool:
    if not array.flags.writeable:
        return copy is None
    if isinstance(copy, bytes):
        return array.tobytes() == copy
    return copy is not None and bool(np.array_equal(array, copy))
