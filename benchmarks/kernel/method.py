"""What a method is here: something that fits a kernel machine and predicts with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Setting:
    """What a method is given beside the arrays.

    Parameters
    ----------
    C, gamma : float
        Of the task; gamma is a number.
    tol : float
        The method's own tolerance, on the violation of the optimality conditions.
    threads : int
        How many it may use.
    cache_mb : int, default=200
        Megabytes for its cache of kernel rows, where it has one.
    """

    C: float
    gamma: float
    tol: float
    threads: int
    cache_mb: int = 200


@dataclass(frozen=True)
class Machine:
    """A fitted machine in the layout of scikit-learn's ``SVC``.

    For more than two classes, column s of ``dual_coef`` belongs to a support vector of some class
    i; its entry for the pair with class j is in row ``j - 1`` if i < j and in row j otherwise.
    Pairs (i, j), i < j, follow each other as (0, 1), (0, 2), ..., (1, 2), ... Where every class is
    against the rest, each has a row of ``dual_coef`` and an intercept.

    Parameters
    ----------
    support : ndarray of int of shape (n_support,)
        Numbers of the support vectors among the training rows.
    dual_coef : ndarray of shape (n_classes - 1, n_support) or (n_classes, n_support)
        Coefficients, of either sign.
    intercept : ndarray of shape (n_classes * (n_classes - 1) / 2,) or (n_classes,)
        One for each pair; added to the sum, and positive values mean the *second* of the pair's
        classes in sorted order, or the class that is against the rest.
    claims : dict
        What the method says of its own result.
    intercept_kind : {"free", "none"}
        Which problem it has solved.
    """

    support: Any
    dual_coef: Any
    intercept: Any
    claims: dict[str, Any] = field(default_factory=dict)
    intercept_kind: str = "free"


class KernelMethod(ABC):
    """One way of fitting a machine.

    Attributes
    ----------
    name : str
        As tables show it.
    peer : str
        The environment that it runs in; empty for hinge's own.
    dtype : {"float64", "float32"}
        Precision of the arrays that it is given.
    thread_counts : tuple of int
        For how many threads it is measured.
    tolerances : tuple of float
        From loose to tight; the next one is tried where the objective is not reached.
    note : str
        What a reader should know.
    """

    name: str
    peer: str = ""
    dtype: str = "float64"
    thread_counts: tuple[int, ...] = (1, 2)
    tolerances: tuple[float, ...] = (1e-3,)
    note: str = ""

    def refusal(self, n_classes: int) -> str | None:  # noqa: ARG002 - most take every task
        """Return why the task cannot be done, or None."""
        return None

    def prepare(self, X: Any, y: Any) -> Any:
        """Convert the caller's arrays into what ``fit`` takes; not timed."""
        return X, y

    @abstractmethod
    def fit(self, prepared: Any, setting: Setting) -> Any:
        """Fit; timed."""

    def certificate_seconds(self, model: Any, setting: Setting) -> float:  # noqa: ARG002
        """Return how much of the fit went into certificates, which no other method has."""
        return 0.0

    @abstractmethod
    def predict(self, model: Any, X: Any) -> Any:
        """Return the labels of the rows; timed."""

    @abstractmethod
    def machine(self, model: Any) -> Machine:
        """Return what was fitted; not timed."""
