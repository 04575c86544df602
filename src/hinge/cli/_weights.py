"""``--class-weight``: from LABEL=WEIGHT to what an estimator takes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hinge.cli._errors import UsageError
from hinge.cli._labels import label_text, plain

BALANCED = "balanced"


def class_weights(texts: list[str] | None, y: Any) -> dict[Any, float] | str | None:
    """Return the weights of classes.

    Parameters
    ----------
    texts : list of str or None
        ``LABEL=WEIGHT`` for some classes, or the word ``balanced`` alone.
    y : ndarray of shape (n_samples,)
        The labels, for a weight belongs to one that occurs.

    Returns
    -------
    dict, str or None
        The parameter ``class_weight`` of an estimator.
    """
    if not texts:
        return None
    if texts == [BALANCED]:
        return BALANCED
    known = {label_text(label): label for label in np.unique(np.asarray(y))}
    weights: dict[Any, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        if not equals:
            message = f"--class-weight takes LABEL=WEIGHT or the word balanced; got {text!r}."
            raise UsageError(message)
        label = _known_label(name, known)
        if label in weights:
            message = f"--class-weight gives class {plain(name)!r} two weights."
            raise UsageError(message)
        weights[label] = _number(number, text)
    return weights


def _known_label(name: str, known: dict[str, Any]) -> Any:
    if name in known:
        return known[name]
    for label in known.values():
        if _same_number(name, label):
            return label
    listed = ", ".join(list(known)[:10])
    message = f"--class-weight: there is no class {plain(name)!r} in the data; it has {listed}."
    raise UsageError(message)


def _same_number(name: str, label: Any) -> bool:
    """Return whether +1 and 1.0 mean the label 1."""
    try:
        return not isinstance(label, str) and float(name) == float(label)
    except ValueError:
        return False


def _number(text: str, whole: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not 0.0 < weight < math.inf:
        message = f"--class-weight takes a weight that is a finite number above 0; got {whole!r}."
        raise UsageError(message)
    return weight
