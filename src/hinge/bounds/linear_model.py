"""A linear machine as numbers, and bounds on how two of them differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.bounds.products import SMALLEST
from hinge.errors import InvalidParameterError
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor
from hinge.ingest import assemble
from hinge.rows import BLOCK_VALUES, Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]


class Pairs(NamedTuple):
    """For every pair of classes, how its decision function differs from that of an old machine.

    Parameters
    ----------
    norm, change : ndarray of shape (n_classes, n_classes)
        Upper bounds on the norm of the difference of two classes' weights, and on the norm of the
        change of that difference.
    shift : ndarray of shape (n_classes, n_classes)
        Change of the difference of their intercepts.
    """

    norm: Floats
    change: Floats
    shift: Floats


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Weights and intercepts of every class; of two classes the first one has zeros.

    Parameters
    ----------
    weights : ndarray of shape (n_classes, n_features)
        Weights.
    offsets : ndarray of shape (n_classes,)
        Intercepts.
    classes : ndarray of shape (n_classes,)
        Labels; of equal decision values the first one wins.
    """

    weights: Floats
    offsets: Floats
    classes: NDArray[Any]

    @property
    def n_classes(self) -> int:
        """How many classes there are, at least two."""
        return len(self.classes)

    @property
    def n_features(self) -> int:
        """How many features a row has."""
        return int(self.weights.shape[1])

    @property
    def largest_norm(self) -> float:
        """An upper bound on the norm of every class's weights."""
        squares = np.einsum("ij,ij->i", self.weights, self.weights)
        norms = np.sqrt(squares + self.n_features * SMALLEST)
        return float(np.max(norms)) * (1.0 + 2.0 * rounding_factor(self.n_features))

    @property
    def largest_offset(self) -> float:
        """The largest intercept in size."""
        return float(np.max(np.abs(self.offsets)))

    def scores(self, rows: Rows, picks: NDArray[np.int64]) -> Floats:
        """Return the decision values of some rows, of shape (len(picks), n_classes)."""
        out = np.empty((len(picks), self.n_classes))
        at_once = max(1, BLOCK_VALUES // max(1, self.n_features))
        # Two classes have one decision function: the other one's is zero.
        first = 1 if self.n_classes == 2 else 0
        out[:, :first] = 0.0
        with single_threaded_blas():
            for start in range(0, len(picks), at_once):
                part = picks[start : start + at_once]
                block = out[start : start + at_once, first:]
                block[...] = _picked(rows, part) @ self.weights[first:].T + self.offsets[first:]
        return out

    def pairs(self, old: LinearModel) -> Pairs:
        """Return how this machine's pairs of classes differ from an older machine's."""
        moved = self.weights - old.weights
        shifts = self.offsets[:, None] - self.offsets[None, :]
        shifts -= old.offsets[:, None] - old.offsets[None, :]
        return Pairs(_pair_norms(self.weights), _pair_norms(moved), shifts)

    def check_like(self, old: LinearModel) -> None:
        """Refuse a machine that has other classes or features than the one before it."""
        same = np.array_equal(self.classes, old.classes)
        if not same or self.weights.shape != old.weights.shape:
            message = (
                "the new machine must have the classes and features of the one before it, "
                f"{old.classes.tolist()!r} and {old.n_features}; got {self.classes.tolist()!r} and "
                f"{self.n_features}. Track the points under it with a new MovingPoints."
            )
            raise InvalidParameterError(message)


def read_model(model: Any) -> LinearModel:
    """Return the numbers of a fitted linear machine.

    Parameters
    ----------
    model : object
        With ``coef_``, ``intercept_`` and ``classes_``, or with ``coef`` and ``intercept``.

    Returns
    -------
    LinearModel
        Copies of its weights, intercepts and labels.
    """
    if all(hasattr(model, name) for name in ("coef_", "intercept_", "classes_")):
        coef, intercept, classes = model.coef_, model.intercept_, np.asarray(model.classes_)
    elif all(hasattr(model, name) for name in ("coef", "intercept")):
        coef, intercept, classes = model.coef, model.intercept, np.array([-1, 1])
    else:
        message = (
            "model must be a fitted linear machine, with coef_, intercept_ and classes_, or a "
            f"point with coef and intercept; got {type(model).__name__}."
        )
        raise InvalidParameterError(message)
    weights = np.atleast_2d(np.array(coef, dtype=np.float64))
    offsets = np.atleast_1d(np.array(intercept, dtype=np.float64))
    if offsets.shape == (1,):
        offsets = np.repeat(offsets, len(weights))  # one intercept for all, such as 0.0 for none
    if len(classes) == 2 and weights.shape[:-1] == offsets.shape == (1,):
        weights = np.vstack([np.zeros_like(weights), weights])
        offsets = np.append(0.0, offsets)
    if weights.ndim != 2 or offsets.shape != (len(weights),) or len(weights) != len(classes):
        message = (
            f"model has {len(classes)} classes, weights of shape {np.shape(coef)} and intercepts "
            f"of shape {np.shape(intercept)}; there must be one vector of weights and one "
            "intercept for two classes, else one of each for every class."
        )
        raise InvalidParameterError(message)
    if not (np.isfinite(weights).all() and np.isfinite(offsets).all()):
        message = "model has weights that are not finite: it labels nothing. Fit it again."
        raise InvalidParameterError(message)
    return LinearModel(weights, offsets, classes)


def _picked(rows: Rows, picks: NDArray[np.int64]) -> Any:
    """Return some rows as float64, dense or CSR."""
    if not rows.is_sparse:
        return rows.values[picks].astype(np.float64, copy=False)
    shape = (rows.n_rows, rows.n_features)
    return assemble((rows.values, rows.indices, rows.indptr), shape)[picks].astype(np.float64)


def _pair_norms(vectors: Floats) -> Floats:
    """Return upper bounds on the norms of all differences of the vectors."""
    lost = vectors.shape[1] * SMALLEST
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors) + lost)
    slack = 4.0 * UNIT_ROUNDOFF * (norms[:, None] + norms[None, :])
    lengths = np.empty((len(vectors), len(vectors)))
    for number, vector in enumerate(vectors):
        differences = vectors - vector
        lengths[number] = np.sqrt(np.einsum("ij,ij->i", differences, differences) + lost)
    return np.asarray(lengths * (1.0 + 2.0 * rounding_factor(vectors.shape[1])) + slack)
