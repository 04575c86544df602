"""The lines before the support vectors of a LIBSVM text model, read strictly.

Every line is a key, one space and a value. A key may stand only once. ``nr_class`` comes before
everything that has a number for each class or pair, as LIBSVM's own reader needs it; it is compared
with the bytes of the file before anything is allocated for it.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from hinge.kernels import Kernel
from hinge.models.libsvm_model_text import (
    KERNEL_LINES,
    KERNEL_NAMES,
    OTHER_SVM_TYPES,
    SVM_TYPES,
    Header,
)
from hinge.models.text_models import (
    LABEL_RANGE,
    LONGEST_NUMBER,
    MOST_CLASSES,
    decimal,
    refuse,
    shown,
)

Floats = NDArray[np.float64]

_BEFORE_COUNT = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv")
_AFTER_COUNT = ("rho", "label", "probA", "probB", "prob_density_marks", "nr_sv")
_KEYS = (*_BEFORE_COUNT, *_AFTER_COUNT)
_NEEDED = ("svm_type", "kernel_type", "nr_class", "total_sv", "rho", "label", "nr_sv")
_LONGEST_WORD_LINE = 256
_COUNT = re.compile(rb"[0-9]{1,18}")
_WHOLE = re.compile(rb"-?[0-9]{1,18}")
_TOKEN = re.compile(rb"[^ \t\r\n]+")
_PER_PAIR = 1200  # bytes that Python needs for what is known of a pair
_SPARE = 45_000_000
_MOST_DEGREE = 2**31 - 1  # LIBSVM holds it as int


@dataclass(frozen=True)
class _Line:
    """The value of a key, and where it stands."""

    value: bytes
    number: int
    column: int


def read_header(file: BinaryIO, path: str) -> tuple[Header, int]:
    """Return what stands before the support vectors, and the number of the line that says ``SV``.

    Parameters
    ----------
    file : binary file
        The file at its beginning; afterwards at the first byte of the support vectors.
    path : str
        Its name, for messages.
    """
    return _HeaderReader(file, path).read()


@dataclass
class _HeaderReader:
    """The first lines of a file."""

    file: BinaryIO
    path: str
    found: dict[str, _Line] = field(default_factory=dict)
    number: int = 0
    n_classes: int = 0

    def read(self) -> tuple[Header, int]:
        """Return the header and the number of its last line."""
        while True:
            self.number += 1
            line = self._line()
            key, _, value = line.rstrip(b"\r\n").partition(b" ")
            if key.rstrip() == b"SV" and not value.strip():
                return self._header(), self.number
            name = key.decode("ascii", "backslashreplace")
            self._check_key(name, line)
            self.found[name] = _Line(value, self.number, len(key) + 2)
            if name == "svm_type":  # at once: a model of another kind has other lines as well
                self._svm_type()
            elif name == "nr_class":
                self.n_classes = self._class_count()

    def _line(self) -> bytes:
        """Return the next line, as long as the numbers of all pairs can make it."""
        longest = _LONGEST_WORD_LINE + (LONGEST_NUMBER + 1) * self._n_pairs
        line = self.file.readline(longest + 1)
        if line.endswith(b"\n"):
            return line
        if len(line) > longest:
            self._refuse(f"a line of more than {longest} bytes; this is no model.")
        if self.number == 1:
            self._refuse(_not_a_model(line), 1)
        return self._refuse("the file ends before its support vectors; it may be cut off.")

    def _check_key(self, name: str, line: bytes) -> None:
        if name not in _KEYS:
            unknown = f"expected one of {', '.join(_KEYS)} or SV; got {shown(name.encode())}."
            self._refuse(_not_a_model(line) if self.number == 1 else unknown, 1)
        if name in self.found:
            where = self.found[name].number
            self._refuse(f"{name} stands here again; line {where} has it.", 1)
        if name in _AFTER_COUNT and not self.n_classes:
            self._refuse(f"{name} stands before nr_class, which says how many numbers it has.", 1)

    def _header(self) -> Header:
        """Return the header after comparing its parts with each other."""
        for name in _NEEDED:
            if name not in self.found:
                self._refuse(f"the line {name} is missing before SV; the header needs it.")
        if "prob_density_marks" in self.found:
            self._refuse_at("prob_density_marks", "a classifier has no prob_density_marks.")
        if ("probA" in self.found) != ("probB" in self.found):
            name = "probA" if "probA" in self.found else "probB"
            self._refuse_at(name, "probA and probB come together; one of them is missing.")
        sigmoids = None
        if "probA" in self.found:
            sigmoids = self._numbers("probA"), self._numbers("probB")
        return Header(
            svm_type=self._svm_type(),
            kernel=self._kernel(),
            labels=self._labels(),
            n_support=self._support_counts(),
            rho=self._numbers("rho"),
            sigmoids=sigmoids,
        )

    @property
    def _n_pairs(self) -> int:
        return self.n_classes * (self.n_classes - 1) // 2

    def _svm_type(self) -> str:
        name = self.found["svm_type"].value.strip().decode("ascii", "backslashreplace")
        listed = " or ".join(SVM_TYPES)
        if name in OTHER_SVM_TYPES:
            reason = f"svm_type {name} is {OTHER_SVM_TYPES[name]}; only {listed} can be imported."
            self._refuse_at("svm_type", reason)
        if name not in SVM_TYPES:
            got = shown(self.found["svm_type"].value)
            self._refuse_at("svm_type", f"svm_type must be {listed}; got {got}.")
        return name

    def _kernel(self) -> Kernel:
        line = self.found["kernel_type"]
        name = line.value.strip().decode("ascii", "backslashreplace")
        if name not in KERNEL_NAMES:
            listed = ", ".join(KERNEL_NAMES)
            self._refuse_at(
                "kernel_type", f"kernel_type must be one of {listed}; got {shown(line.value)}."
            )
        wanted = KERNEL_LINES[name]
        for parameter in ("degree", "gamma", "coef0"):
            if parameter in wanted and parameter not in self.found:
                self._refuse_at("kernel_type", f"a {name} kernel needs the line {parameter}.")
            if parameter not in wanted and parameter in self.found:
                self._refuse_at(parameter, f"a {name} kernel has no {parameter}.")
        values: dict[str, float] = {}
        if "degree" in wanted:
            values["degree"] = self._count("degree")
            if values["degree"] > _MOST_DEGREE:
                self._refuse_at("degree", f"degree must be at most {_MOST_DEGREE}.")
        for parameter in ("gamma", "coef0"):
            if parameter in wanted:
                values[parameter] = self._number(parameter)
        if name == "rbf" and values["gamma"] < 0.0:
            self._refuse_at(
                "gamma", f"gamma of an rbf kernel must not be negative; got {values['gamma']:g}."
            )
        return KERNEL_NAMES[name](**values)

    def _class_count(self) -> int:
        count = self._count("nr_class")
        if not 2 <= count <= MOST_CLASSES:
            self._refuse_at("nr_class", f"nr_class must be 2 to {MOST_CLASSES}; got {count}.")
        needed = count * (count - 1)  # a digit and a space for each rho
        left = self._bytes_left()
        if needed > left:
            reason = (
                f"nr_class {count} asks for {needed // 2} numbers after rho, which take at least "
                f"{needed} bytes; {left} are left. The file may be cut off."
            )
            self._refuse_at("nr_class", reason)
        size = self._bytes_left() + self.file.tell()
        if needed // 2 * _PER_PAIR > 3 * size + _SPARE:
            reason = f"{count} classes make {needed // 2} pairs, too many for {size} bytes."
            self._refuse_at("nr_class", reason)
        return count

    def _bytes_left(self) -> int:
        here = self.file.tell()
        left = self.file.seek(0, os.SEEK_END) - here
        self.file.seek(here)
        return left

    def _count(self, name: str) -> int:
        value = self.found[name].value.strip()
        if not _COUNT.fullmatch(value):
            reason = f"{name} must be a whole number of at most 18 digits; got {shown(value)}."
            self._refuse_at(name, reason)
        return int(value)

    def _number(self, name: str) -> float:
        value = self.found[name].value.strip()
        number = decimal(value)
        if number is None or not math.isfinite(number):
            self._refuse_at(name, f"{name} must be a finite decimal number; got {shown(value)}.")
        return number

    def _numbers(self, name: str) -> Floats:
        """Return the finite numbers of a line that has one for each pair."""
        line = self.found[name]
        numbers = np.empty(self._n_pairs)
        count = 0
        for match in _TOKEN.finditer(line.value):
            number = decimal(match.group())
            if number is None or not math.isfinite(number):
                got = shown(match.group())
                reason = f"{name} must be finite decimal numbers; got {got}."
                refuse(self.path, reason, line.number, line.column + match.start())
            if count < len(numbers):
                numbers[count] = number
            count += 1
        if count != len(numbers):
            reason = (
                f"nr_class is {self.n_classes}, which makes {len(numbers)} pair(s) of classes, but "
                f"here are {count} number(s)."
            )
            self._refuse_at(name, reason)
        return numbers

    def _labels(self) -> tuple[int, ...]:
        line = self.found["label"]
        labels: dict[int, None] = {}
        for match in self._tokens("label"):
            token, column = match.group(), line.column + match.start()
            label = int(token) if _WHOLE.fullmatch(token) else None
            if label is None or not LABEL_RANGE[0] <= label <= LABEL_RANGE[1]:
                reason = f"a label must be a whole number of 32 bits; got {shown(token)}."
                refuse(self.path, reason, line.number, column)
            if label in labels:
                refuse(self.path, f"label {label} stands here twice.", line.number, column)
            labels[label] = None
        return tuple(labels)

    def _support_counts(self) -> tuple[int, ...]:
        line = self.found["nr_sv"]
        counts = []
        for match in self._tokens("nr_sv"):
            if not _COUNT.fullmatch(match.group()):
                reason = (
                    f"nr_sv must be whole numbers of at most 18 digits; got {shown(match.group())}."
                )
                refuse(self.path, reason, line.number, line.column + match.start())
            counts.append(int(match.group()))
        total = self._count("total_sv")
        if sum(counts) != total:
            reason = f"nr_sv adds up to {sum(counts)} support vectors; total_sv is {total}."
            self._refuse_at("nr_sv", reason)
        if total < 1:
            self._refuse_at("total_sv", "a machine needs at least one support vector; got 0.")
        return tuple(counts)

    def _tokens(self, name: str) -> list[re.Match[bytes]]:
        """Return the words of a line that has one for each class."""
        every = _TOKEN.finditer(self.found[name].value)
        tokens = list(itertools.islice(every, self.n_classes + 1))
        if len(tokens) != self.n_classes:
            here = len(tokens) if len(tokens) <= self.n_classes else "more"
            reason = f"nr_class is {self.n_classes}, but here are {here} number(s)."
            self._refuse_at(name, reason)
        return tokens

    def _refuse(self, reason: str, column: int | None = None) -> NoReturn:
        refuse(self.path, reason, self.number, column)

    def _refuse_at(self, name: str, reason: str) -> NoReturn:
        line = self.found[name]
        refuse(self.path, reason, line.number, line.column)


def _not_a_model(line: bytes) -> str:
    if not line.strip():
        return "this is no LIBSVM text model: it is empty or begins with an empty line."
    if line.startswith(b"solver_type"):
        return "this is a LIBLINEAR model; hinge.models.read_liblinear reads it."
    return (
        "this is no LIBSVM text model: it should begin with a line such as 'svm_type c_svc'; got "
        f"{shown(line.strip())}."
    )
