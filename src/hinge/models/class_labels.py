"""Class labels in a file: whole numbers, floats, truth values, text, dates and durations.

The description says of which kind they are, out of a fixed list; no type is ever looked up by a
name that a file gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import ModelFileError, UnsupportedError
from hinge.models.budget import Budget
from hinge.models.fields import Fields
from hinge.models.strict_json import read_number, spelled_number
from hinge.models.text_lists import Tensors, put_texts, take_texts, tensors_of_texts

_WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_FLOATS = ("float16", "float32", "float64")
_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
_TIMES = tuple(f"{kind}[{unit}]" for kind in ("datetime64", "timedelta64") for unit in _UNITS)
_TEXTS = ("text", "object")  # an array of NumPy's own text, and one of Python's strings
KINDS = ("bool", *_WHOLE, *_FLOATS, *_TIMES, *_TEXTS)
MOST_INLINE = 500  # numbers that stay in the description; more of them are a tensor
_NAME = "classes"
_NUMBERS = f"{_NAME}.numbers"


def put_labels(labels: NDArray[Any], tensors: Tensors) -> dict[str, Any]:
    """Return what the description says of the labels; many of them become tensors.

    Parameters
    ----------
    labels : ndarray of shape (n_classes,)
        The labels, as an estimator has them.
    tensors : dict of str to ndarray
        Where tensors are added.
    """
    kind = _kind(labels)
    if kind in _TEXTS:
        values = put_texts(_NAME, [str(label) for label in labels.tolist()], tensors)
    elif len(labels) > MOST_INLINE:
        tensors[_NUMBERS] = _as_numbers(labels)
        values = "tensors"
    else:
        values = [spelled_label(label) for label in _as_numbers(labels).tolist()]
    return {"kind": kind, "count": len(labels), "values": values}


def tensors_of_labels(content: Any) -> set[str]:
    """Return the names of the tensors that labels need, by what the description says of them.

    Parameters
    ----------
    content : object
        What the description says.
    """
    if not isinstance(content, dict):
        return set()
    if content.get("kind") in _TEXTS:
        return tensors_of_texts(_NAME, content.get("values"))
    return {_NUMBERS} if content.get("values") == "tensors" else set()


def take_labels(content: Any, tensors: Tensors, budget: Budget) -> NDArray[Any]:
    """Return the labels: at least two, different, in order.

    Parameters
    ----------
    content : object
        What the description says of them.
    tensors : dict of str to ndarray
        The tensors of the file.
    budget : Budget
        Memory that they may take.

    Returns
    -------
    ndarray of shape (n_classes,)
        The labels.
    """
    fields = Fields(content, _NAME)
    kind, count = fields.choice("kind", KINDS), fields.integer("count", least=2)
    values = fields.take("values")
    fields.finish()
    if kind in _TEXTS:
        labels = _texts(take_texts(_NAME, values, tensors, count, budget), kind, budget)
    else:
        labels = _numbers(values, tensors, kind)
    if len(labels) != count:
        message = f"{_NAME} has {len(labels)} labels; its count is {count}."
        raise ModelFileError(message)
    is_missing = labels.dtype.kind == "f" and not np.isfinite(labels).all()
    is_missing |= labels.dtype.kind in "mM" and bool(np.isnat(labels).any())
    if is_missing or not np.all(labels[:-1] < labels[1:]):
        message = f"{_NAME} must all be different and in order, and none missing."
        raise ModelFileError(message)
    return labels


def spelled_label(label: Any) -> Any:
    """Return a label as JSON has it.

    Parameters
    ----------
    label : str, bool, int or float
        A Python object.
    """
    return spelled_number(label) if isinstance(label, float) else label


def _kind(labels: NDArray[Any]) -> str:
    name = labels.dtype.newbyteorder("=").name
    if labels.dtype.kind == "U":
        return "text"
    if labels.dtype == object and all(isinstance(label, str) for label in labels):
        return "object"
    if name not in KINDS or name in _TEXTS:
        message = (
            f"labels of dtype {labels.dtype} cannot be saved; use text, whole numbers, truth "
            "values or dates as labels."
        )
        raise UnsupportedError(message)
    return name


def _as_numbers(labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels that are not text as numbers: dates as the integers that they are."""
    return labels.astype(np.int64) if labels.dtype.kind in "mM" else labels


def _stored_dtype(kind: str) -> np.dtype[Any]:
    return np.dtype("int64" if kind in _TIMES else kind)


def _texts(texts: list[str], kind: str, budget: Budget) -> NDArray[Any]:
    if kind == "object":
        labels = np.empty(len(texts), dtype=object)
        labels[:] = texts
        return labels
    widest = max(1, *map(len, texts))
    shown = f"{_NAME} has {len(texts)} labels of up to {widest} characters"
    budget.spend(4 * widest * len(texts), shown)
    labels = np.array(texts, dtype=f"<U{widest}")
    if any(len(label) != len(text) for label, text in zip(labels, texts, strict=True)):
        message = f"{_NAME} has a label that ends in a zero, which NumPy's text cannot hold."
        raise ModelFileError(message)
    return labels


def _numbers(values: Any, tensors: Tensors, kind: str) -> NDArray[Any]:
    stored = _stored_dtype(kind)
    if values == "tensors":
        numbers = tensors[_NUMBERS]
        if numbers.dtype != stored or numbers.ndim != 1:
            message = f"the tensor of {_NAME} is not the list of {kind} that it should be."
            raise ModelFileError(message)
    else:
        numbers = _inline_numbers(values, stored)
    return numbers.astype(kind) if kind in _TIMES else numbers


def _inline_numbers(values: Any, stored: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers of the description as an array that holds every one of them exactly."""
    wanted = {"b": bool, "f": float}.get(stored.kind, int)
    is_list = isinstance(values, list) and len(values) > 0
    if is_list and wanted is float:
        values = [read_number(value) for value in values]
    if not is_list or any(type(value) is not wanted for value in values):
        message = f"{_NAME} must be a list of {stored} labels."
        raise ModelFileError(message)
    try:
        with np.errstate(over="ignore"):
            numbers = np.array(values, dtype=stored)
    except OverflowError:
        numbers = np.zeros(len(values), dtype=stored)
    if numbers.tolist() != values:
        message = f"{_NAME} has a label that {stored} cannot hold."
        raise ModelFileError(message)
    return numbers
