"""Whole numbers in place of a model's labels, for programs that know no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.models.text_models import LABEL_RANGE, MOST_CLASSES


def whole_labels(classes: NDArray[Any], given: Sequence[int] | None, program: str) -> list[int]:
    """Return the whole numbers that stand for the classes, in their order.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The labels of a model.
    given : sequence of int or None
        What the caller wants in their place.
    program : str
        Whose labels they are to be, for messages.
    """
    if len(classes) > MOST_CLASSES:
        message = f"The model has {len(classes)} classes; this format takes {MOST_CLASSES}."
        raise UnsupportedError(message)
    values: list[Any] = list(classes if given is None else given)  # a date stays a date
    if len(values) != len(classes):
        message = f"labels has {len(values)} numbers; the model has {len(classes)} classes."
        raise InvalidParameterError(message)
    hint = " Pass labels= with a number for each class." if given is None else ""
    numbers = []
    for value in values:
        if not _is_whole(value) or not LABEL_RANGE[0] <= value <= LABEL_RANGE[1]:
            message = (
                f"{program}'s labels are whole numbers of 32 bits; got {str(value)[:40]!r}.{hint}"
            )
            raise InvalidParameterError(message)
        numbers.append(int(value))
    if len(set(numbers)) < len(numbers):
        message = "labels must give every class a number of its own; one stands there twice."
        raise InvalidParameterError(message)
    return numbers


def _is_whole(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return bool(np.isfinite(value)) and float(value).is_integer()
    if isinstance(value, np.timedelta64):  # which NumPy counts among the integers
        return False
    return isinstance(value, int | np.integer | np.bool_)
