"""LIBLINEAR text models in: any bytes give a valid model or a ``ModelFileError``.

The weights are read a piece at a time straight into the array that the model keeps, after the
number of them has been compared with the bytes that are left: a weight takes at least two bytes,
so the array is at most four times the file.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError
from hinge.estimators._options import linear_objective
from hinge.estimators.linear_svc import LinearSVC
from hinge.models.imported import imported_model
from hinge.models.liblinear_header import read_header
from hinge.models.liblinear_text import SOLVER_TYPES, Header
from hinge.models.linear_weights import LinearWeights
from hinge.models.text_models import LONGEST_NUMBER, decimal, refuse, shown
from hinge.parameters import positive

Floats = NDArray[np.float64]

_PIECE = 1 << 18  # bytes that are parsed at once
_NUMBER_BYTES = b"0123456789+-.eE \t\r\n"
_LAST_WHITE_BYTE = 32
_TOKEN = re.compile(rb"[^ \t\r\n]+")


def read_liblinear(
    path: str | os.PathLike[str], *, C: float = 1.0, intercept: str | None = None
) -> LinearSVC:
    """Read a model that LIBLINEAR, or another program in its text format, has written.

    Parameters
    ----------
    path : str or path-like
        The file. Its ``solver_type`` must be L2R_L2LOSS_SVC_DUAL, L2R_L2LOSS_SVC or
        L2R_L1LOSS_SVC_DUAL; other kinds of model are refused by name.
    C : float, default=1.0
        What the model was trained with, which the file does not say. It matters for verifying
        the model and for fitting again, not for predictions.
    intercept : {"free"} or None, default=None
        ``"free"`` if it was trained with LIBLINEAR's option ``-R``, which the file does not say
        either; None is a regularised intercept.

    Returns
    -------
    LinearSVC
        A fitted estimator with the weights of the file, correctly rounded from its decimals; with
        LIBLINEAR's 17 digits they are the same bits. The intercept is weight times ``bias``,
        rounded once as in LIBLINEAR. Status ``imported``: nothing is proven of it.

    Raises
    ------
    ModelFileError
        If the file is anything else, with line and column; nothing is loaded then.
    InvalidParameterError
        If ``C`` or ``intercept`` cannot be right.
    OSError
        If the file cannot be opened or read.

    See Also
    --------
    write_liblinear : Write such a file.

    Notes
    -----
    The labels are whole numbers. Where two decision values are exactly equal, or that of two
    classes is exactly zero, hinge takes the smaller label and LIBLINEAR the one that comes first
    in the file (of two classes the second); no other prediction differs but by rounding.

    Memory is at most four times the file and 64 MB.
    """
    positive(C, "C")
    if intercept not in (None, "free"):
        message = f"intercept must be None or 'free'; got {intercept!r}."
        raise InvalidParameterError(message)
    name = str(path)
    with Path(path).open("rb") as file:
        header, last_line = read_header(file, name)
        model = _estimator(header, C, intercept)
        coef, constant = _Weights(file, name, header, last_line).read()
    return imported_model(model, _in_order(header, coef, constant, name), "LIBLINEAR")


def _estimator(header: Header, C: float, intercept: str | None) -> LinearSVC:
    """Return an estimator with the parameters of the file and of the caller."""
    solver_type = SOLVER_TYPES[header.solver_type]
    has_intercept = header.bias > 0.0
    model = LinearSVC(
        loss=solver_type.loss,
        dual=solver_type.dual,
        C=C,
        fit_intercept=has_intercept,
        intercept_scaling=header.bias if has_intercept else 1.0,
        intercept=intercept,
    )
    linear_objective(model)
    return model


def _in_order(header: Header, coef: Floats, constant: Floats, path: str) -> LinearWeights:
    """Return the weights with classes and signs as hinge has them; ``coef`` is changed in place."""
    labels = np.asarray(header.labels, dtype=np.int64)
    order = np.argsort(labels)
    with np.errstate(over="ignore"):
        intercepts = constant * max(header.bias, 0.0)
    if not np.isfinite(intercepts).all():
        refuse(path, "bias times its weight is beyond the range of floating point.")
    if len(labels) == 2:
        if order[0] == 0:  # the first label is LIBLINEAR's positive one, the larger is hinge's
            np.negative(coef, out=coef)
            np.negative(intercepts, out=intercepts)
    elif not np.array_equal(order, np.arange(len(order))):
        coef, intercepts = _reordered(coef, order), intercepts[order]
    return LinearWeights(labels[order], coef, intercepts)


def _reordered(coef: Floats, order: NDArray[np.intp]) -> Floats:
    """Return the array with its rows in that order, a few columns at a time in place."""
    step = max(1, _PIECE // len(order))
    for start in range(0, coef.shape[1], step):
        coef[:, start : start + step] = coef[order, start : start + step]
    return coef


@dataclass
class _Weights:
    """The part of a file after ``w``.

    Parameters
    ----------
    file : binary file
        The file, at the first byte of the weights.
    path : str
        Its name, for messages.
    header : Header
        What stands before.
    line : int
        The number of the last line read.
    """

    file: BinaryIO
    path: str
    header: Header
    line: int

    def read(self) -> tuple[Floats, Floats]:
        """Return the weights of the features, a row for each function, and of the constant."""
        header = self.header
        self._require_bytes()
        coef = np.empty((header.n_functions, header.n_features))
        constant = np.zeros(header.n_functions)
        done = 0
        for piece in self._whole_lines():
            block = self._parsed(piece)
            if done + len(block) > header.n_lines:
                reason = f"more weights than the {header.n_lines} lines that the header asks for."
                refuse(self.path, reason, self.line + header.n_lines - done + 1)
            kept = block[: header.n_features - done]
            coef[:, done : done + len(kept)] = kept.T
            if len(kept) < len(block):
                constant[:] = block[-1]
            done += len(block)
            self.line += len(block)
        if done < header.n_lines:
            reason = f"{done} lines of weights; the header asks for {header.n_lines}."
            refuse(self.path, reason, self.line)
        return coef, constant

    def _require_bytes(self) -> None:
        """Refuse counts that the rest of the file cannot hold; memory is asked for after this."""
        header = self.header
        here = self.file.tell()
        left = self.file.seek(0, os.SEEK_END) - here
        self.file.seek(here)
        needed = 2 * header.n_functions * header.n_lines  # a digit, and a space or line end
        if needed > left:
            reason = (
                f"the header asks for {header.n_lines} lines of {header.n_functions} weight(s), "
                f"which take at least {needed} bytes; {left} are left. The file may be cut off."
            )
            refuse(self.path, reason, self.line)

    def _whole_lines(self) -> Iterator[bytes]:
        """Yield the rest of the file in pieces that end where a line ends."""
        rest = b""
        while piece := self.file.read(_PIECE):
            piece = rest + piece
            end = piece.rfind(b"\n") + 1
            rest = piece[end:]
            if end:
                yield piece[:end]
            if len(rest) > self._longest_line:
                refuse(self.path, self._too_long, self.line + 1)
        if rest:
            reason = "the last line does not end; the file may be cut off in a number."
            refuse(self.path, reason, self.line + 1, len(rest) + 1)

    def _parsed(self, piece: bytes) -> Floats:
        """Return the numbers of some lines, of shape (lines, functions)."""
        n_functions = self.header.n_functions
        tokens: list[bytes] = []
        if not piece.translate(None, _NUMBER_BYTES) and self._is_regular(piece):
            tokens = piece.split()
        try:
            numbers = np.fromiter(map(float, tokens), np.float64, len(tokens))
        except ValueError:
            numbers = np.empty(0)
        longest = max(map(len, tokens), default=0)
        if not len(numbers) or not np.isfinite(numbers).all() or longest > LONGEST_NUMBER:
            reason, line, column = next(self._problems(piece))
            refuse(self.path, reason, line, column)
        return numbers.reshape(-1, n_functions)

    def _problems(self, piece: bytes) -> Iterator[tuple[str, int, int]]:
        """Yield what is wrong with some lines, and where."""
        for number, line in enumerate(piece.split(b"\n")[:-1], start=self.line + 1):
            tokens = list(_TOKEN.finditer(line))
            for match in tokens:
                token = match.group()
                value = decimal(token)
                if value is None or not math.isfinite(value):
                    reason = f"a weight must be a finite decimal number; got {shown(token)}."
                    yield reason, number, match.start() + 1
            if len(line) > self._longest_line:
                yield self._too_long, number, self._longest_line + 1
            wanted = self.header.n_functions
            if len(tokens) != wanted:
                reason = f"{len(tokens)} number(s); every line of weights has {wanted}."
                yield reason, number, len(line) + 1

    def _is_regular(self, piece: bytes) -> bool:
        """Return whether every line has its number of weights and is not too long."""
        characters = np.frombuffer(piece, np.uint8)
        filled = characters > _LAST_WHITE_BYTE
        starts = filled.copy()
        starts[1:] &= ~filled[:-1]
        ends = np.flatnonzero(characters == ord("\n"))
        until = np.cumsum(starts, dtype=np.int64)[ends]
        wanted = self.header.n_functions * np.arange(1, len(ends) + 1)
        lengths = np.diff(ends, prepend=-1) - 1
        return np.array_equal(until, wanted) and int(lengths.max()) <= self._longest_line

    @property
    def _longest_line(self) -> int:
        return (LONGEST_NUMBER + 1) * self.header.n_functions

    @property
    def _too_long(self) -> str:
        return (
            f"a line of more than {self._longest_line} bytes; {self.header.n_functions} weight(s) "
            "are shorter."
        )
