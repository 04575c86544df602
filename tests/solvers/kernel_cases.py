"""Small kernel problems that are hard in one way each, for every solver that takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge import Problem
from hinge.kernels import RBF, ChiSquared, Laplacian, Normalised, Polynomial, Precomputed
from hinge.solvers import Solver, get_solver, kernel_solver_names
from hinge.testing import known_optimum

Maker = Callable[..., Problem]


@dataclass(frozen=True)
class Case:
    """A solver and a problem that it says it takes."""

    solver: Solver
    problem: Problem
    label: str

    def __str__(self) -> str:
        return self.label


def rows_of_two_classes(n: int = 40, seed: int = 0) -> tuple[Any, Any]:
    """Return rows of three features, and labels that no function of them explains altogether."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    y[:2] = (1, -1)
    return X, y


def ordinary(**options: Any) -> Problem:
    """Return a problem without any difficulty."""
    X, y = rows_of_two_classes()
    return Problem(X, y, **{"kernel": RBF(0.5), **options})


def _changed(change: Callable[[Any, Any], tuple[Any, Any]], **fixed: Any) -> Maker:
    def make(**options: Any) -> Problem:
        return ordinary_rows(change, **{**fixed, **options})

    return make


def ordinary_rows(change: Callable[[Any, Any], tuple[Any, Any]], **options: Any) -> Problem:
    """Return the problem of changed rows and labels."""
    X, y = change(*rows_of_two_classes())
    return Problem(X, y, **{"kernel": RBF(0.5), **options})


def _weights() -> Any:
    weights = 10.0 ** np.random.default_rng(1).uniform(-3.0, 3.0, size=40)
    weights[5::7] = 0.0
    weights[:2] = 1.0
    return weights


def _precomputed(**options: Any) -> Problem:
    """Return the problem of a matrix of rank three, whose entries are exact."""
    X, y = rows_of_two_classes()
    factor = np.round(X * 16.0) / 16.0
    return Problem(factor @ factor.T, y, kernel=Precomputed(psd=True), **options)


def _twice(X: Any, y: Any) -> tuple[Any, Any]:
    """Return rows that are there twice, a third of them with the other label."""
    again = np.where(np.arange(len(y)) % 3 == 0, -y, y)
    return np.vstack([X, X]), np.concatenate([y, again])


def _one_against_all(X: Any, y: Any) -> tuple[Any, Any]:
    return X, np.where(np.arange(len(y)) == 7, 1, -1)


def _one_decides(_: Any, y: Any) -> tuple[Any, Any]:
    """Return rows on a line, of which the one nearest to the origin holds all others off."""
    line = np.where(y > 0, 2.0, -3.0) * (1.0 + np.arange(len(y)))
    line[0] = 1.0
    return np.column_stack([line, 0.0 * line]), y


# What each does to a solver: every one has broken some method once.
CASES: dict[str, Maker] = {
    "ordinary": ordinary,
    "sparse float32": _changed(lambda X, y: (sp.csr_array(X.astype(np.float32)), y)),
    "linear kernel": _changed(lambda X, y: (X, y), kernel="linear"),
    "laplacian": _changed(lambda X, y: (X, y), kernel=Laplacian(0.5)),
    "chi2": _changed(lambda X, y: (np.abs(X), y), kernel=ChiSquared(0.5)),
    "normalised": _changed(lambda X, y: (X, y), kernel=Normalised(Polynomial(2, 1.0, 1.0))),
    "precomputed of low rank": _precomputed,
    "duplicates": _changed(_twice),
    "all rows the same": _changed(lambda X, y: (np.ones_like(X), y)),
    "rows of zeros": _changed(lambda X, y: (np.zeros_like(X), y), kernel="linear"),
    "one decides": _changed(_one_decides, kernel="linear", C=1e3),
    "one against all": _changed(_one_against_all, C=10.0),
    "all at a bound": _changed(lambda X, y: (X, np.where(np.arange(len(y)) % 2, 1, -1)), C=1e-6),
    "nearly a matrix of ones": _changed(lambda X, y: (X, y), kernel=RBF(1e-7), C=100.0),
    "nearly the identity": _changed(lambda X, y: (X, y), kernel=RBF(1e4), C=10.0),
    "large C": _changed(lambda X, y: (X, y), kernel=RBF(1.0), C=1e6),
    "small C": _changed(lambda X, y: (X, y), C=1e-6),
    "weights": lambda **options: ordinary(sample_weight=_weights(), **options),
    "far from the origin": _changed(lambda X, y: (X + 1e4, y)),
    "two rows": _changed(lambda X, y: (X[:2], y[:2])),
    "polynomial": _changed(lambda X, y: (3.0 * X, y), kernel=Polynomial(4, 1.0, 1.0)),
}


def kernel_solver(name: str) -> Solver:
    """Return the solver of kernel problems that has this name."""
    return get_solver(name, known_optimum(kernel="linear").problem)


def every_kernel_solver() -> list[Solver]:
    """Return every registered solver of kernel problems as it comes."""
    return [kernel_solver(name) for name in kernel_solver_names()]


def cases_of(solver: Solver, label: str) -> Iterator[Case]:
    """Yield all cases with the hinge loss, and the first ones with the others, if it takes them."""
    for loss in ("hinge", "squared_hinge", "huber"):
        for name, make in CASES.items():
            if loss != "hinge" and name not in ("ordinary", "duplicates", "weights", "large C"):
                continue
            for intercept in ("free", "none"):
                problem = make(loss=loss, intercept=intercept)
                if solver.supports(problem):
                    yield Case(solver, problem, f"{label}-{name}-{loss}-{intercept}")


def plain_problem(solver: Solver, **options: Any) -> Problem:
    """Return the first of some plain problems that the solver takes."""
    for loss in ("hinge", "squared_hinge", "huber"):
        for intercept in ("free", "none"):
            problem = ordinary(loss=loss, intercept=intercept, **options)
            if solver.supports(problem):
                return problem
    message = f"{solver.name} takes no plain problem"
    raise AssertionError(message)
