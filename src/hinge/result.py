"""What goes into a run and what comes out of it: plain data, no computation.

``Stop`` says when to stop; a ``Solution`` is a ``Point`` with the ``Certificate`` that judges it,
the ``Trace`` of how it got there and a ``Status``.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hinge.parameters import count, not_negative

Floats = NDArray[np.float64]

_LEAST_SCALE = float(np.finfo(np.float64).tiny)  # of objective values, for relative gaps


class Status(enum.StrEnum):
    """How a run ended; only ``SOLVED`` is a claim, and it is always a recomputed one."""

    SOLVED = "solved"
    """Every criterion of ``Stop`` holds, recomputed from the raw data."""
    ITERATION_LIMIT = "iteration_limit"
    """``Stop.steps`` were done first."""
    TIME_LIMIT = "time_limit"
    """``Stop.seconds`` passed first."""
    STALLED = "stalled"
    """Nothing moves beyond rounding, or four times the work has not narrowed the gap by 1 %."""
    NOT_SEPARABLE = "not_separable"
    """C is infinite and no hyperplane separates the classes, exactly or beyond rounding."""
    INTERRUPTED = "interrupted"
    """Ctrl-C, or an observer asked to stop."""
    NUMERICAL_ERROR = "numerical_error"
    """The numbers left the range of floating point."""
    IMPORTED = "imported"
    """No run here: the weights come from another program, and nothing is proven of them."""


@dataclass(frozen=True)
class Stop:
    """When a run may stop: the criteria given must all hold, recomputed; limits end it early.

    Parameters
    ----------
    gap : float or None, default=1e-3
        Relative duality gap, ``(P - D) / max(|P|, |D|)``. Zero means: until nothing moves
        beyond rounding.
    kkt : float or None, default=None
        Largest violation of the optimality conditions, in units of the margin, rounding included.
    seconds : float or None, default=None
        Time limit; the final certificate of a kernel machine is part of it, by a forecast, that of
        a linear one, which is short, comes on top.
    steps : int or None, default=None
        Limit on the solver's own steps; with ``"auto"`` on those of all its methods together. For
        coordinate descent: sweeps over the active rows, beyond the first 100 by their work, in
        passes over all rows.
    """

    gap: float | None = 1e-3
    kkt: float | None = None
    seconds: float | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        for name in ("gap", "kkt", "seconds"):
            if getattr(self, name) is not None:
                not_negative(getattr(self, name), f"Stop({name}=)")
        if self.steps is not None:
            count(self.steps, "Stop(steps=)")

    def satisfied_by(self, certificate: Certificate) -> bool:
        """Return whether the certificate meets every criterion given; never with NaN.

        Parameters
        ----------
        certificate : Certificate
            What the judge has recomputed.

        Returns
        -------
        bool
            False also if no criterion is given.
        """
        if self.gap is None and self.kkt is None:
            return False
        gap_holds = self.gap is None or certificate.relative_gap <= self.gap
        kkt_holds = self.kkt is None or certificate.kkt <= self.kkt
        return bool(gap_holds and kkt_holds)


@dataclass(frozen=True)
class Point:
    """A primal point and, where there is one, a dual point; nothing the data cannot confirm.

    Parameters
    ----------
    coef : ndarray of shape (n_features,)
        Weights; empty for a kernel machine, which is its dual coefficients.
    intercept : float, default=0.0
        Intercept, already multiplied by the intercept scale where it is an augmented feature.
    dual_coef : ndarray of shape (n_samples,) or None, default=None
        Dual coefficients alpha, not negative and not multiplied by the label.
    """

    coef: Floats
    intercept: float = 0.0
    dual_coef: Floats | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "coef", np.asarray(self.coef, dtype=np.float64))
        object.__setattr__(self, "intercept", float(self.intercept))
        if self.dual_coef is not None:
            object.__setattr__(self, "dual_coef", np.asarray(self.dual_coef, dtype=np.float64))


@dataclass(frozen=True)
class BasisPoint(Point):
    """A point of a kernel problem whose function is not that of its dual coefficients.

    The function is ``sum_b basis_coef_b k(x_b, x) + intercept`` over a few *basis* rows, as
    low-rank methods find it; the dual coefficients bound the optimum from below.

    Parameters
    ----------
    basis : ndarray of int64 of shape (n_basis,)
        Numbers of the basis rows.
    basis_coef : ndarray of shape (n_basis,)
        Their coefficients, of either sign.
    """

    basis: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    basis_coef: Floats = field(default_factory=lambda: np.zeros(0))


class Region(Protocol):
    """Where the optimum must lie, as far as a certificate proves it."""

    def decision_bounds(self, X: Any) -> tuple[Floats, Floats]:
        """Return bounds on the optimum's decision value of every row."""

    def complete(self) -> None:
        """Find what is left to be found, so that what it is found from can be dropped."""


@dataclass(frozen=True)
class Certificate:
    """How far a point is from optimal, recomputed from the raw data.

    Parameters
    ----------
    primal, dual : float
        Objective of the primal point and of the dual point; ``-inf`` if there is no dual point
        or it is infeasible.
    gap : float
        ``primal - dual``, each widened by its rounding bound: the true suboptimality is smaller.
    relative_gap : float
        ``gap / max(|primal|, |dual|)``.
    rounding : float
        How much of ``gap`` is the rounding bound.
    kkt : float
        Largest violation of the optimality conditions, in units of the margin, widened by its
        rounding bound: the true violation is at most this.
    notes : tuple of str
        What could not be certified, and why.
    region : Region or None
        The ball, and interval for a free intercept, that holds the optimum.
    status : Status or None
        How the run ended that the certificate concludes; None if it is of no run. No part of what
        is proven: certificates that differ in it alone are equal.
    kkt_rounding : float
        How much of ``kkt`` is the rounding bound; NaN if nobody knows any more, as of a model that
        has been loaded. Certificates that differ in it alone are equal.
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    rounding: float
    kkt: float
    notes: tuple[str, ...] = ()
    region: Region | None = field(default=None, repr=False)
    status: Status | None = field(default=None, compare=False)
    kkt_rounding: float = field(default=float("nan"), compare=False)

    def __str__(self) -> str:
        least = self.primal - self.gap if math.isfinite(self.gap) else -math.inf
        lines = [
            f"objective        {self.primal:.10g}",
            f"proven at least  {least:.10g}",
            f"relative gap     {self.relative_gap:.3g}",
            f"violation        {self.kkt:.3g}",
        ]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    @property
    def is_rounding(self) -> bool:
        """Whether the gap is hardly more than its own rounding bound: as good as it gets."""
        return self.gap <= 2.0 * self.rounding < np.inf

    def decision_bounds(self, X: Any) -> tuple[Floats, Floats]:
        """Return bounds on the decision value that the exact optimum gives every row of X.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,)
            Infinite where nothing is proven.
        """
        if self.region is None:
            n = X.n_rows if hasattr(X, "n_rows") else int(np.shape(X)[0])
            return np.full(n, -np.inf), np.full(n, np.inf)
        return self.region.decision_bounds(X)

    def settled(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows' labels no further training can change.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            Any rows, those of the training set or new ones.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True where the sign of the exact optimum's decision value is proven.
        """
        lower, upper = self.decision_bounds(X)
        return (lower > 0.0) | (upper < 0.0)

    def unsettled(self, X: Any) -> int:
        """Return how many rows of X could still change their label.

        Parameters
        ----------
        X : array-like, sparse matrix or Rows of shape (n_samples, n_features)
            Any rows.

        Returns
        -------
        int
            The number of rows that are not settled.
        """
        return int(np.count_nonzero(~self.settled(X)))


@dataclass(frozen=True)
class Progress:
    """What a solver says of itself between steps; an opinion until the certificate confirms it.

    Parameters
    ----------
    steps : int
        Steps done.
    work : int
        Stored values touched.
    primal, dual : float
        Its own running objective values, NaN where it has none.
    at_rest : bool
        Nothing moves beyond rounding any more.
    kkt : float
        Its own violation of the optimality conditions, NaN where it does not know it.
    """

    steps: int
    work: int
    primal: float = float("nan")
    dual: float = float("nan")
    at_rest: bool = False
    kkt: float = float("nan")

    @property
    def relative_gap(self) -> float:
        """The claimed relative gap; NaN if the solver has no running objective values."""
        scale = max(abs(self.primal), abs(self.dual), _LEAST_SCALE)
        return (self.primal - self.dual) / scale


@dataclass(frozen=True)
class TraceRecord:
    """One line of a trace: what was known after so much work."""

    seconds: float
    steps: int
    work: int
    primal: float
    dual: float
    relative_gap: float
    certified: bool


@dataclass(frozen=True)
class Trace:
    """The history of a run; certified records come from the judge, others from the solver."""

    records: tuple[TraceRecord, ...] = ()

    def column(self, name: str, certified: bool | None = None) -> Floats:
        """Return one field over the run as an array.

        Parameters
        ----------
        name : str
            A field of ``TraceRecord``.
        certified : bool or None, default=None
            Keep only certified (True) or only claimed (False) records.
        """
        kept = [r for r in self.records if certified is None or r.certified == certified]
        return np.asarray([getattr(record, name) for record in kept], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.records)


@dataclass(frozen=True)
class Solution:
    """The result of a run.

    Parameters
    ----------
    point : Point
        The best primal and the best dual point seen.
    certificate : Certificate
        What is proven of them; its ``status`` is that of the run.
    trace : Trace
        How they were reached.
    status : Status
        How the run ended.
    state : object
        The solver's state; ``solve(problem, resume=solution.state)`` goes on from it.
    solver : str
        Name of the solver.
    seed : int
        The seed of the run.
    steps, work : int
        Steps done and stored values touched.
    seconds, certificate_seconds : float
        Time of the whole run, and the part of it that went into certificates.
    """

    point: Point
    certificate: Certificate
    trace: Trace
    status: Status
    state: Any = field(repr=False)
    solver: str
    seed: int
    steps: int
    work: int
    seconds: float
    certificate_seconds: float

    def __post_init__(self) -> None:
        if self.certificate.status is not self.status:
            concluded = replace(self.certificate, status=self.status)
            object.__setattr__(self, "certificate", concluded)

    @property
    def coef(self) -> Floats:
        """Weights, of shape (n_features,)."""
        return self.point.coef

    @property
    def intercept(self) -> float:
        """Intercept of the decision function."""
        return self.point.intercept

    @property
    def dual_coef(self) -> Floats | None:
        """Dual coefficients, of shape (n_samples,), not negative."""
        return self.point.dual_coef


@dataclass(frozen=True)
class CertifiedPrediction:
    """Labels of rows, with bounds on their decision values.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
        The labels; where ``decided`` is False, a guess.
    lower, upper : ndarray of shape (n_samples,) or (n_samples, n_functions)
        Bounds on the true decision values, intercept included; infinite where nothing is known.
    decided : ndarray of bool of shape (n_samples,)
        Whether the label is proven to be that of the full evaluation.
    terms : ndarray of int64 of shape (n_samples,)
        How many kernel values each row has cost.
    """

    labels: NDArray[Any]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    decided: NDArray[np.bool_]
    terms: NDArray[np.int64]
