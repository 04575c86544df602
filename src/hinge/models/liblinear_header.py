"""The lines before the weights of a LIBLINEAR text model, read strictly.

Every line is a key, one space and a value. A key may stand only once and in any order, as
LIBLINEAR itself reads them; counts are compared with each other and with the bytes of the file
before anything is allocated for them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import BinaryIO

from hinge.models.liblinear_text import (
    FEWEST_CLASSES,
    OTHER_SOLVER_TYPES,
    SOLVER_TYPES,
    Header,
)
from hinge.models.text_models import LABEL_RANGE, MOST_CLASSES, decimal, refuse, shown

_KEYS = ("solver_type", "nr_class", "label", "nr_feature", "bias")
_LONGEST_LINE = 16 * MOST_CLASSES  # a label and its space take at most twelve bytes
_COUNT = re.compile(rb"[0-9]{1,18}")
_WHOLE = re.compile(rb"-?[0-9]{1,18}")


@dataclass(frozen=True)
class _Line:
    """The value of a key, and where it stands."""

    value: bytes
    number: int
    column: int


def read_header(file: BinaryIO, path: str) -> tuple[Header, int]:
    """Return what stands before the weights, and the number of the line that says ``w``.

    Parameters
    ----------
    file : binary file
        The file at its beginning; afterwards at the first byte of the weights.
    path : str
        Its name, for messages.
    """
    found: dict[str, _Line] = {}
    number = 0
    while True:
        number += 1
        line = file.readline(_LONGEST_LINE + 1)
        if not line.endswith(b"\n"):
            if len(line) > _LONGEST_LINE:
                reason = f"a line of more than {_LONGEST_LINE} bytes; this is no model."
                refuse(path, reason, number)
            if number == 1:
                refuse(path, _not_a_model(line), number, 1)
            refuse(path, "the file ends before its weights; it may be cut off.", number)
        key, _, value = line.rstrip(b"\r\n").partition(b" ")
        if key.rstrip() == b"w" and not value.strip():
            return _header(found, path, number), number
        name = key.decode("ascii", "backslashreplace")
        if name not in _KEYS:
            reason = _not_a_model(line) if number == 1 else _unknown_key(key)
            refuse(path, reason, number, 1)
        if name in found:
            refuse(path, f"{name} stands here again; line {found[name].number} has it.", number, 1)
        found[name] = _Line(value, number, len(key) + 2)
        if name == "solver_type":  # at once: a model of another kind has other lines as well
            _solver_type(found[name], path)


def _not_a_model(line: bytes) -> str:
    if not line.strip():
        return "this is no LIBLINEAR text model: it is empty or begins with an empty line."
    if line.startswith(b"svm_type"):
        return "this is a LIBSVM model, whose kernel machines this version cannot read."
    return (
        "this is no LIBLINEAR text model: it should begin with a line such as 'solver_type "
        f"L2R_L2LOSS_SVC_DUAL'; got {shown(line.strip())}."
    )


def _unknown_key(key: bytes) -> str:
    return f"expected one of {', '.join(_KEYS)} or w; got {shown(key)}."


def _header(found: dict[str, _Line], path: str, last: int) -> Header:
    """Return the header after comparing its parts with each other."""
    for name in _KEYS:
        if name not in found:
            refuse(path, f"the line {name} is missing before w; the header needs it.", last)
    n_classes = _count(found["nr_class"], "nr_class", path)
    where = found["nr_class"]
    if not FEWEST_CLASSES <= n_classes <= MOST_CLASSES:
        reason = f"nr_class must be {FEWEST_CLASSES} to {MOST_CLASSES}; got {n_classes}."
        refuse(path, reason, where.number, where.column)
    n_features = _count(found["nr_feature"], "nr_feature", path)
    if n_features < 1:
        where = found["nr_feature"]
        refuse(path, "nr_feature must be at least 1; got 0.", where.number, where.column)
    return Header(
        solver_type=_solver_type(found["solver_type"], path),
        labels=_labels(found["label"], n_classes, path),
        n_features=n_features,
        bias=_bias(found["bias"], path),
    )


def _solver_type(line: _Line, path: str) -> str:
    name = line.value.strip().decode("ascii", "backslashreplace")
    if name in OTHER_SOLVER_TYPES:
        reason = (
            f"solver_type {name} is {OTHER_SOLVER_TYPES[name]}, which hinge.LinearSVC is not; "
            f"only {', '.join(SOLVER_TYPES)} can be imported."
        )
        refuse(path, reason, line.number, line.column)
    if name not in SOLVER_TYPES:
        reason = f"solver_type must be one of {', '.join(SOLVER_TYPES)}; got {shown(line.value)}."
        refuse(path, reason, line.number, line.column)
    return name


def _count(line: _Line, name: str, path: str) -> int:
    value = line.value.strip()
    if not _COUNT.fullmatch(value):
        reason = f"{name} must be a whole number of at most 18 digits; got {shown(value)}."
        refuse(path, reason, line.number, line.column)
    return int(value)


def _labels(line: _Line, n_classes: int, path: str) -> tuple[int, ...]:
    tokens = line.value.split()
    if len(tokens) != n_classes:
        reason = f"nr_class is {n_classes}, but here are {len(tokens)} labels."
        refuse(path, reason, line.number, line.column)
    column = line.column
    labels: dict[int, int] = {}
    for token in tokens:
        column = line.column + line.value.index(token, column - line.column)
        label = int(token) if _WHOLE.fullmatch(token) else None
        if label is None or not LABEL_RANGE[0] <= label <= LABEL_RANGE[1]:
            reason = f"a label must be a whole number of 32 bits; got {shown(token)}."
            refuse(path, reason, line.number, column)
        if label in labels:
            refuse(path, f"label {label} stands here twice.", line.number, column)
        labels[label] = column
        column += len(token)
    return tuple(labels)


def _bias(line: _Line, path: str) -> float:
    value = line.value.strip()
    bias = decimal(value)
    if bias is None or not math.isfinite(bias):
        reason = f"bias must be a finite decimal number; got {shown(value)}."
        refuse(path, reason, line.number, line.column)
    return bias
