"""What a LIBLINEAR text model means, read in the plainest way: the reference for the reader.

It takes whatever has the right words in the right number; it need not refuse anything that the
reader refuses, only agree with it on what the reader accepts.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_KEYS = {"solver_type", "nr_class", "label", "nr_feature", "bias"}


def decision_functions(content: bytes) -> tuple[list[int], Floats, Floats]:
    """Return sorted labels, weights and intercepts, with hinge's signs.

    Parameters
    ----------
    content : bytes
        A file that the reader has accepted.
    """
    before, _, after = content.decode("ascii").partition("\nw")
    header = {line.split(" ", 1)[0]: line.split(" ", 1)[1] for line in before.split("\n")}
    assert header.keys() == _KEYS, header
    labels = [int(token) for token in header["label"].split()]
    assert len(set(labels)) == len(labels) == int(header["nr_class"]) >= 2
    n_features, bias = int(header["nr_feature"]), float(header["bias"])
    n_functions = 1 if len(labels) == 2 else len(labels)
    numbers = [rounded(token) for token in after.split()]
    n_lines = n_features + (1 if bias >= 0 else 0)
    assert len(numbers) == n_lines * n_functions, (len(numbers), n_lines, n_functions)
    table = np.asarray(numbers).reshape(n_lines, n_functions)
    coef = table[:n_features].T
    intercepts = table[-1] * bias if bias > 0 else np.zeros(n_functions)
    if n_functions == 1:
        sign = 1.0 if labels[0] > labels[1] else -1.0
        return sorted(labels), sign * coef, sign * intercepts
    order = sorted(range(len(labels)), key=labels.__getitem__)
    return sorted(labels), coef[order], intercepts[order]


def rounded(token: str) -> float:
    """Return a decimal correctly rounded, by way of the exact fraction.

    Parameters
    ----------
    token : str
        The decimal.
    """
    mantissa, _, exponent = token.lower().partition("e")
    power = int(exponent or 0)
    if power < -400:
        return -0.0 if mantissa.startswith("-") else 0.0
    value = Fraction(mantissa) * Fraction(10) ** power
    nearest = value.numerator / value.denominator
    return -0.0 if nearest == 0 and mantissa.startswith("-") else nearest
