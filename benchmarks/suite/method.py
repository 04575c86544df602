"""What a method is: something that turns rows and labels into weights and an intercept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.suite.task import Task

Floats = NDArray[np.float64]
Setting = Mapping[str, Any]
Ladder = Sequence[Setting]


@dataclass(frozen=True)
class Fitted:
    """What a method returns.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        Weights.
    intercept : float
        Intercept of the decision function.
    iterations : int or None
        The method's own count, if it tells.
    claims : dict
        What the method says of its own result: hinge's certificate, a peer's warning.
    """

    coef: Floats
    intercept: float
    iterations: int | None = None
    claims: dict[str, Any] = field(default_factory=dict)


class Method(ABC):
    """One way of solving a task, swept over its tolerance and iteration limits.

    Attributes
    ----------
    name : str
        As tables show it.
    arithmetic : str
        Precision that it computes in, whatever it is given.
    note : str
        How its objective was made to agree, and what could not be.
    """

    name: str
    arithmetic: str = "float64"
    note: str = ""

    @abstractmethod
    def refusal(self, task: Task) -> str | None:
        """Return why the task cannot be done, or None."""

    @abstractmethod
    def ladders(self, task: Task, quick: bool) -> Sequence[Ladder]:
        """Return sequences of settings, each from loose to tight."""

    @abstractmethod
    def prepare(self, X: Any, y: Floats, task: Task) -> Any:
        """Convert the caller's arrays into what ``fit`` takes; not timed."""

    @abstractmethod
    def fit(self, prepared: Any, task: Task, setting: Setting) -> Any:
        """Solve; the only timed part."""

    @abstractmethod
    def result(self, prepared: Any, fitted: Any) -> Fitted:
        """Return weights and intercept; not timed."""


@dataclass(frozen=True)
class Peer:
    """A library to compare with, in an environment of its own.

    Parameters
    ----------
    name : str
        Name of its module and of its environment.
    requirements : tuple of str
        What pip installs, with dependencies.
    methods : tuple of Method
        The ways in which it solves a task.
    bare_requirements : tuple of str, default=()
        What pip installs without dependencies, after them and built with them.
    """

    name: str
    requirements: tuple[str, ...]
    methods: tuple[Method, ...]
    bare_requirements: tuple[str, ...] = ()


def with_constant_column(X: Any) -> Any:
    """Return the rows with a feature that is constantly 1, for a method without an intercept."""
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    if sp.issparse(X):
        return sp.csr_matrix(sp.hstack([X, ones], format="csr"))
    return np.hstack([X, ones])


def from_augmented(weights: Any, iterations: int | None = None) -> Fitted:
    """Return the result of a method whose last weight belongs to a constant feature."""
    flat = np.asarray(weights, dtype=np.float64).ravel()
    return Fitted(flat[:-1].copy(), float(flat[-1]), iterations)
