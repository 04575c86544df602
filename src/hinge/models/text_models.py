"""Text models of other programs: words, numbers and complaints that their readers share."""

from __future__ import annotations

import re
from typing import NoReturn

from hinge.errors import ModelFileError

LONGEST_NUMBER = 64  # bytes; the programs write at most 24
LABEL_RANGE = (-(2**31), 2**31 - 1)  # they hold labels as int
MOST_CLASSES = 1 << 16  # keeps the objects that a class needs within a bounded memory
_DECIMAL = re.compile(rb"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")


def refuse(path: str, reason: str, line: int | None = None, column: int | None = None) -> NoReturn:
    """Raise the error of a file that is no model.

    Parameters
    ----------
    path : str
        The file.
    reason : str
        What is wrong and what to do, as a sentence.
    line, column : int or None, default=None
        Where, counted from one.
    """
    places = [path]
    places += [] if line is None else [f"line {line}"]
    places += [] if column is None else [f"column {column}"]
    message = f"{', '.join(places)}: {reason}"
    raise ModelFileError(message)


def shown(token: bytes) -> str:
    """Return a short, printable form of bytes from a file.

    Parameters
    ----------
    token : bytes
        Anything.
    """
    text = repr(token[:40].decode("ascii", "backslashreplace"))
    return text if len(token) <= 40 else f"{text} ..."


def decimal(token: bytes) -> float | None:
    """Return the number that a decimal stands for, correctly rounded; None if it is no decimal.

    Parameters
    ----------
    token : bytes
        A piece without white space.
    """
    if len(token) > LONGEST_NUMBER or not _DECIMAL.fullmatch(token):
        return None
    return float(token)
