"""Random kernel problems: weights, imbalance, duplicates, near-singular kernels, C over 12 decades.

Each has its kernel matrix in extended precision too, by formulas of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import hinge

Wide = np.longdouble


@dataclass(frozen=True)
class Case:
    """A problem with what is needed to judge it without hinge.

    Parameters
    ----------
    problem : hinge.Problem
        The problem.
    matrix : ndarray of longdouble of shape (n, n)
        Its kernel.
    traits : str
        What is special about it.
    """

    problem: hinge.Problem
    matrix: Any
    traits: str


def random_case(number: int) -> Case:
    """Return the case of that number, always the same one."""
    rng = np.random.default_rng(number)
    n, d = int(rng.integers(8, 90)), int(rng.integers(1, 7))
    X = rng.normal(size=(n, d))
    margin = X @ rng.normal(size=d) + rng.normal(size=n) * rng.choice([0.1, 1.0, 5.0])
    share = float(rng.choice([0.5, 0.5, 0.1, 0.02]))
    y = np.where(margin > np.quantile(margin, 1.0 - share), 1, -1)
    y[np.argmax(margin)], y[np.argmin(margin)] = 1, -1
    traits = [f"{n} x {d}", f"share {share:g}"]
    if rng.uniform() < 0.3:
        # Rows that are there twice, some of them with the other label.
        copies = rng.integers(0, n, size=n // 2)
        X = np.vstack([X, X[copies]])
        y = np.concatenate([y, y[copies] * rng.choice([1, 1, -1], size=len(copies))])
        traits.append("duplicates")
    weights = _weights(rng, y)
    name = list(_KERNELS)[number % len(_KERNELS)]
    kernel, X, matrix = _KERNELS[name](rng, X)
    C = float(10.0 ** rng.uniform(-6.0, 6.0))
    problem = hinge.Problem(
        X,
        y,
        loss=str(rng.choice(["hinge", "hinge", "squared_hinge", "huber"])),
        C=C,
        intercept=str(rng.choice(["free", "free", "none"])),
        kernel=kernel,
        sample_weight=weights,
    )
    traits += [name, f"C = {C:.3g}", problem.loss.name, problem.intercept.value]
    if weights is not None:
        traits.append("weights")
    return Case(problem, matrix, ", ".join(traits))


def _weights(rng: np.random.Generator, y: Any) -> Any:
    """Return no weights, some of them zero, or weights over many decades."""
    kind = int(rng.integers(4))
    if kind < 2:
        return None
    if kind == 2:
        return 10.0 ** rng.uniform(-3.0, 3.0, size=len(y))
    weights = rng.exponential(size=len(y)) * (rng.uniform(size=len(y)) < 0.8)
    for label in (-1, 1):
        weights[np.flatnonzero(y == label)[0]] = 1.0
    return weights


def _products(X: Any) -> Any:
    wide = X.astype(Wide)
    return wide @ wide.T


def _differences(X: Any) -> Any:
    wide = X.astype(Wide)
    return wide[:, None, :] - wide[None, :, :]


def _rbf(rng: np.random.Generator, X: Any, low: float = -2.0, high: float = 2.0) -> Any:
    gamma = float(10.0 ** rng.uniform(low, high))
    squares = np.sum(_differences(X) ** 2, axis=-1)
    return hinge.kernels.RBF(gamma=gamma), X, np.exp(-Wide(gamma) * squares)


def _near_singular(rng: np.random.Generator, X: Any) -> Any:
    """Return rows so near each other, for this width, that all values are almost 1."""
    return _rbf(rng, X, -9.0, -4.0)


def _linear(rng: np.random.Generator, X: Any) -> Any:
    X = X * float(rng.choice([1.0, 100.0]))
    return hinge.kernels.Linear(), X, _products(X)


def _polynomial(rng: np.random.Generator, X: Any) -> Any:
    degree, gamma = int(rng.integers(2, 6)), float(10.0 ** rng.uniform(-1.0, 0.5))
    coef0 = float(rng.choice([0.0, 1.0]))
    kernel = hinge.kernels.Polynomial(degree=degree, gamma=gamma, coef0=coef0)
    return kernel, X, (Wide(gamma) * _products(X) + Wide(coef0)) ** degree


def _laplacian(rng: np.random.Generator, X: Any) -> Any:
    gamma = float(10.0 ** rng.uniform(-2.0, 1.0))
    distances = np.sum(np.abs(_differences(X)), axis=-1)
    return hinge.kernels.Laplacian(gamma=gamma), X, np.exp(-Wide(gamma) * distances)


def _chi_squared(rng: np.random.Generator, X: Any) -> Any:
    gamma = float(10.0 ** rng.uniform(-1.0, 0.5))
    X = np.abs(X)
    wide = X.astype(Wide)
    sums = wide[:, None, :] + wide[None, :, :]
    ratios = _differences(X) ** 2 / np.where(sums > 0, sums, Wide(1))
    return hinge.kernels.ChiSquared(gamma=gamma), X, np.exp(-Wide(gamma) * ratios.sum(axis=-1))


def _normalised(rng: np.random.Generator, X: Any) -> Any:
    kernel, X, matrix = _polynomial(rng, X)
    norms = np.sqrt(np.diagonal(matrix))
    return hinge.kernels.Normalised(kernel), X, matrix / np.outer(norms, norms)


def _precomputed(rng: np.random.Generator, X: Any) -> Any:
    """Return a matrix of low rank, whose entries are what they are."""
    factor = np.round(rng.normal(size=(len(X), 3)) * 16.0) / 16.0
    matrix = factor @ factor.T  # of multiples of 1/16: exact
    return hinge.kernels.Precomputed(psd=True), matrix, matrix.astype(Wide)


_KERNELS: dict[str, Callable[[np.random.Generator, Any], Any]] = {
    "rbf": _rbf,
    "near-singular rbf": _near_singular,
    "linear": _linear,
    "poly": _polynomial,
    "laplacian": _laplacian,
    "chi2": _chi_squared,
    "normalised poly": _normalised,
    "precomputed": _precomputed,
}
