"""LIBSVM text models in: any bytes give a valid model or a ``ModelFileError``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.estimators.svc import SVC
from hinge.models.imported_machine import imported_machine
from hinge.models.kernel_machine import (
    KernelMachine,
    class_slices,
    coefficient_row,
    overflowing_vector,
    pairs,
    wrong_sign,
)
from hinge.models.libsvm_model_header import read_header
from hinge.models.libsvm_model_text import MOST_FEATURES, Header
from hinge.models.libsvm_model_vectors import VectorReader
from hinge.models.text_models import refuse
from hinge.parameters import count, positive

Floats = NDArray[np.float64]

_VECTORS_AT_A_TIME = 1 << 14  # whose coefficients are moved at once


def read_libsvm(
    path: str | os.PathLike[str], *, C: float | None = None, n_features: int | None = None
) -> SVC:
    """Read a classifier that LIBSVM, or another program in its text format, has written.

    Parameters
    ----------
    path : str or path-like
        The file. Its ``svm_type`` must be c_svc or nu_svc and its kernel linear, polynomial, rbf,
        sigmoid or precomputed.
    C : float or None, default=None
        What the model was trained with, which the file does not say; None is the largest
        coefficient, which it is where any dual coefficient is at its bound. It matters for
        verifying the model and for fitting again, not for predictions.
    n_features : int or None, default=None
        Number of features, or of training rows of a precomputed kernel, which the file does not
        say either; None is the last one that a support vector has.

    Returns
    -------
    SVC
        A fitted estimator with sparse support vectors. Numbers are correctly rounded from the
        decimals of the file. Status ``imported``: nothing is proven of it until ``verify`` sees the
        training data.

    Raises
    ------
    ModelFileError
        If the file is anything else, with line and column; nothing is loaded then.
    InvalidParameterError
        If ``C`` or ``n_features`` cannot be right.
    OSError
        If the file cannot be opened or read.

    See Also
    --------
    write_libsvm : Write such a file.

    Notes
    -----
    LIBSVM writes the values of support vectors with eight digits, so a model of data with more is
    that of the rounded rows; hinge writes all digits. Features are called by the numbers in the
    file: the first one is 1, or 0 if that occurs, and ``index_base_`` says which.

    Classes are sorted, and so the second class of a pair, which gets a decision value of exactly
    zero, may be another. Of classes that have equally many votes LIBSVM takes the one that comes
    first in the file, and hinge the one whose decision values add up to the most.

    Memory is at most four times the file and 64 MB.
    """
    C = None if C is None else positive(C, "C")
    n_features = None if n_features is None else count(n_features, "n_features")
    name = str(path)
    with Path(path).open("rb") as file:
        header, line = read_header(file, name)
        order = np.argsort(np.asarray(header.labels, dtype=np.int64))
        coef, vectors = VectorReader(file, name, header, line).read(order)
    _reorder(coef, header, order)
    _check_signs(name, coef, header, order, line)
    _check_norms(name, vectors, header, order, line)
    machine, base = _machine(name, header, order, coef, vectors, n_features)
    model = imported_machine(
        machine,
        "LIBSVM",
        C=_bound(coef) if C is None else C,
        probability=header.sigmoids is not None,
    )
    if header.sigmoids is not None:
        model.probA_, model.probB_ = _sigmoids(header.sigmoids, order)
    if base is not None:
        model.index_base_ = base
    return model


def _reorder(coef: Floats, header: Header, order: NDArray[np.intp]) -> None:
    """Put coefficients into the rows and signs that sorted classes have, in place."""
    n_classes = len(order)
    slices = class_slices(np.asarray(header.n_support)[order])
    for own, part in enumerate(slices):
        old = [
            coefficient_row(int(order[own]), int(order[other]))
            for other in range(n_classes)
            if other != own
        ]
        turned = np.array(
            [
                # With two classes the second is the positive one; with more, the first of a pair.
                ((order[own] < order[other]) != (own < other)) ^ (n_classes == 2)
                for other in range(n_classes)
                if other != own
            ]
        )
        for start in range(part.start, part.stop, _VECTORS_AT_A_TIME):
            few = slice(start, min(start + _VECTORS_AT_A_TIME, part.stop))
            moved = coef[old, few]
            moved[turned] *= -1.0
            coef[:, few] = moved


def _intercepts(header: Header, order: NDArray[np.intp]) -> Floats:
    """Return the intercepts in the order and with the signs of sorted classes."""
    n_classes = len(order)
    place = {pair: number for number, pair in enumerate(pairs(n_classes))}
    found = np.empty(len(header.rho))
    for number, (first, second) in enumerate(pairs(n_classes)):
        i, j = int(order[first]), int(order[second])
        rho = header.rho[place[min(i, j), max(i, j)]]
        is_turned = (i > j) != (n_classes == 2)
        found[number] = rho if is_turned else -rho
    return found + 0.0


def _sigmoids(found: tuple[Floats, Floats], order: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the sigmoids of pairs of sorted classes: of a turned pair, that of its opposite."""
    place = {pair: number for number, pair in enumerate(pairs(len(order)))}
    slopes, offsets = np.empty(len(place)), np.empty(len(place))
    for number, (first, second) in enumerate(pairs(len(order))):
        i, j = int(order[first]), int(order[second])
        old = place[min(i, j), max(i, j)]
        slopes[number] = found[0][old]
        offsets[number] = found[1][old] if i < j else -found[1][old]
    return slopes, offsets


def _check_signs(
    path: str, coef: Floats, header: Header, order: NDArray[np.intp], line: int
) -> None:
    counts = np.asarray(header.n_support)[order]
    wrong = wrong_sign(counts, coef)
    if wrong is None:
        return
    number, own, other = wrong
    labels = np.asarray(header.labels)[order]
    reason = (
        f"the coefficient of this support vector of class {labels[own]} against class "
        f"{labels[other]} has the sign of the other class; label or nr_sv may be wrong."
    )
    refuse(path, reason, _line_of(number, header, order, line))


def _check_norms(
    path: str, vectors: Any, header: Header, order: NDArray[np.intp], line: int
) -> None:
    number = None if header.is_precomputed else overflowing_vector(vectors)
    if number is not None:
        reason = "the squared norm of this support vector overflows; no row of data has such a one."
        refuse(path, reason, _line_of(number, header, order, line))


def _line_of(number: int, header: Header, order: NDArray[np.intp], line: int) -> int:
    """Return the line of a support vector, given its number in the order of sorted classes."""
    ends = np.cumsum(np.asarray(header.n_support)[order])
    own = int(np.searchsorted(ends, number, side="right"))
    inside = number - (int(ends[own - 1]) if own else 0)
    return line + 1 + sum(header.n_support[: int(order[own])]) + inside


def _machine(
    path: str,
    header: Header,
    order: NDArray[np.intp],
    coef: Floats,
    vectors: Any,
    n_features: int | None,
) -> tuple[KernelMachine, int | None]:
    """Return the machine, and the index base of its features if it has any."""
    rows = None
    base = None
    if header.is_precomputed:
        rows = _row_numbers(path, vectors)
        vectors, width = None, int(rows.max()) + 1
    else:
        base = 1
        if vectors.nnz and int(vectors.indices.min()) == 0:
            base = 0
        elif vectors.nnz:
            vectors.indices -= 1
        width = max(1, vectors.shape[1] - base)
    if n_features is not None and n_features < width:
        what = "training row" if header.is_precomputed else "feature"
        reason = f"a support vector has {what} {width}; n_features is {n_features}."
        refuse(path, reason)
    width = width if n_features is None else n_features
    if vectors is not None:
        parts = (vectors.data, vectors.indices, vectors.indptr)
        vectors = sp.csr_array(parts, shape=(vectors.shape[0], width))
    machine = KernelMachine(
        classes=np.asarray(header.labels, dtype=np.int64)[order],
        kernel=header.kernel,
        vectors=vectors,
        n_support=np.asarray(header.n_support, dtype=np.int64)[order],
        dual_coef=coef,
        intercept=_intercepts(header, order),
        n_features=width,
        rows=rows,
    )
    return machine, base


def _row_numbers(path: str, vectors: Any) -> NDArray[np.int64]:
    """Return the numbers of training rows that stand for support vectors, counted from 0."""
    lengths = np.diff(vectors.indptr)
    numbers = vectors.data
    whole = (lengths == 1).all() and (numbers == np.floor(numbers)).all()
    if not whole or not ((numbers >= 1.0) & (numbers <= MOST_FEATURES)).all():
        reason = "a precomputed kernel has 0: and the number of a training row, counted from 1."
        refuse(path, reason)
    rows: NDArray[np.int64] = numbers.astype(np.int64) - 1
    if len(np.unique(rows)) < len(rows):
        refuse(path, "a training row stands here as two support vectors.")
    return rows


def _bound(coef: Floats) -> float:
    """Return the largest coefficient, or 1 where all are zero."""
    largest = float(max(coef.max(), -coef.min()))
    return largest if largest > 0.0 else 1.0
