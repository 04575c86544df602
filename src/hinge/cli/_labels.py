"""How labels and other text from files are written: one line each, never a terminal command."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_LISTED = 10


def plain(text: str) -> str:
    """Return the text with everything that a terminal would not print escaped.

    Parameters
    ----------
    text : str
        Text out of a file: a label, a name, a path.

    Returns
    -------
    str
        One line of printable characters.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def label_text(label: Any) -> str:
    """Return a label as a line of an output file has it.

    Parameters
    ----------
    label : object
        A class: a number, a truth value or a string.

    Returns
    -------
    str
        Whole numbers without a point, others with as many digits as tell them apart.
    """
    value = _plain_value(label)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return repr(int(value)) if abs(value) < 1e16 else repr(value)
    return plain(str(value))


def label_json(label: Any) -> Any:
    """Return a label as a JSON value: whole floats as integers, text as it is.

    Parameters
    ----------
    label : object
        A class: a number, a truth value or a string.

    Returns
    -------
    bool, int, float or str
        What ``json`` takes.
    """
    value = _plain_value(label)
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        return int(value)
    return value


def _plain_value(label: Any) -> Any:
    """Return a label as a number, a truth value or text; dates and durations are text."""
    if isinstance(label, np.datetime64 | np.timedelta64):
        return str(label)  # item() makes some of them whole numbers that mean nothing
    return label.item() if isinstance(label, np.generic) else label


def listed(names: list[str]) -> str:
    """Return names on one line, the middle ones left out where there are many.

    Parameters
    ----------
    names : list of str
        The names.

    Returns
    -------
    str
        Printable.
    """
    shown = names if len(names) <= _LISTED else [*names[: _LISTED - 2], "...", names[-1]]
    return ", ".join(plain(name) for name in shown)
