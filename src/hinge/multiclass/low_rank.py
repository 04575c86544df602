r"""Kernel machines by low-rank factors: every pair of classes as a linear problem over its factor.

The factor of a pair (:mod:`hinge.multiclass.pair_factor`) is made when its turn comes and dropped
after it. Its linear problem is solved and certified as any other. What comes of it is a function
over the basis rows, whose objective is the same for the exact kernel, and dual coefficients: the
judge bounds the exact optimum with them (:mod:`hinge.certificates.basis_gap`).
"""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.basis_gap import basis_gap, square_by_factor
from hinge.lowrank import Factor
from hinge.lowrank.factorise import check_kernel
from hinge.multiclass.binary_fits import Family, Plan, solve_family
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.labels import Objective
from hinge.multiclass.pair_factor import PairFactor, Target
from hinge.problem import Problem
from hinge.result import BasisPoint, Certificate, Point, Solution, Stop
from hinge.rows import Rows
from hinge.solvers import Settings, StopFlag

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_FACTOR_SHARE = 0.5  # of the time of a pair
_WORTH_ALL_PAIRS = 6  # kernel values of the judge for one of the factor,
_FEW_PAIRS = 200_000_000  # or so many, which are a few seconds


@dataclass(frozen=True)
class Approximation:
    """What is known of an approximate fit of one problem.

    Parameters
    ----------
    rank : int
        Columns of the factor.
    trace_error : float
        Trace of what it leaves of the kernel matrix.
    relative_error : float
        The same as a share of the trace of the kernel matrix.
    certificate : Certificate
        Of the approximate problem.
    exact : Certificate
        Of the exact problem: ``primal`` is the objective of the function that predicts, ``gap`` a
        bound on how far it is from the optimum.
    factor_seconds, solve_seconds, exact_seconds : float
        Time for the factor, for the approximate problem with its certificates, and for the exact
        bound.
    is_cut_short : bool
        Whether the time limit has left the factor with fewer columns than were asked for.
    """

    rank: int
    trace_error: float
    relative_error: float
    certificate: Certificate
    exact: Certificate
    factor_seconds: float
    solve_seconds: float
    exact_seconds: float
    is_cut_short: bool = False


@dataclass(frozen=True)
class _Begun:
    """A pair whose linear problem is being solved."""

    factor: Factor
    exact: Problem
    present: Ids | None
    seconds: float
    is_cut_short: bool


class _GivenUp(Exception):  # noqa: N818 - nothing is wrong: the user has asked for it
    """Raised by a certificate that nobody waits for any more."""


class ApproximateFits:
    """The fits of all pairs over their factors.

    Parameters
    ----------
    rows : Rows
        The data.
    pairs : ClassPairs
        The pairs, with labels and weights of the rows.
    objective : Objective
        Loss, C, intercept and kernel.
    target : Target
        How exact the factors are to be.
    plan : Plan
        Solver of the linear problems, limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.
    bounds_exact : bool, default=True
        Whether the exact optimum is bounded; not needed where the exact problem is solved next.
    """

    def __init__(
        self,
        rows: Rows,
        pairs: ClassPairs,
        objective: Objective,
        target: Target,
        plan: Plan,
        flag: StopFlag,
        *,
        bounds_exact: bool = True,
    ) -> None:
        assert objective.kernel is not None
        check_kernel(objective.kernel)
        self.rows, self.pairs, self.objective = rows, pairs, objective
        self.target, self.plan, self.flag = target, plan, flag
        self.bounds_exact = bounds_exact
        self.approximations: list[Approximation | None] = [None] * len(pairs)
        self._points: dict[int, tuple[BasisPoint, Certificate]] = {}
        self._begun: dict[int, _Begun] = {}
        self._waiting = len(pairs)
        self._lock = threading.Lock()
        seconds = plan.stop.seconds
        self._deadline = math.inf if seconds is None else time.perf_counter() + seconds

    def solve(self) -> list[Solution]:
        """Solve every pair.

        Returns
        -------
        list of Solution
            One for each pair, without their states; the points are of the exact problems, and so
            are the certificates.
        """
        family = Family(
            make=self._make,
            untrained=lambda number: Point(np.zeros(0), 0.0, np.zeros(self.pairs.size(number))),
            unit=self.pairs.unit,
        )
        plan = replace(self.plan, finish=self._finish)
        solutions = solve_family(family, [None] * len(self.pairs), plan, self.flag)
        return [self._exact(number, solution) for number, solution in enumerate(solutions)]

    def _make(self, number: int) -> Problem:
        """Return the linear problem of a pair over a factor of its rows."""
        began = time.perf_counter()
        exact = self.pairs.problem(self.rows, self.objective, number)
        settings = Settings(
            stop=Stop(seconds=self._factor_time()),
            seed=self.plan.seed,
            threads=max(1, self.plan.threads // len(self.pairs)),
        )
        pair = PairFactor(exact, self.target, settings, self.flag)
        factor = pair.make()
        linear = pair.linear(factor.values)
        seconds = time.perf_counter() - began
        self._begun[number] = _Begun(factor, exact, pair.present, seconds, pair.is_cut_short)
        return linear

    def _factor_time(self) -> float | None:
        """Return the time that the next factor may take: half of what its pair has."""
        if math.isinf(self._deadline):
            return None
        with self._lock:
            self._waiting -= 1
            turns = math.ceil((self._waiting + 1) / self.plan.threads)
        return _FACTOR_SHARE * max(0.0, self._deadline - time.perf_counter()) / turns

    def _finish(self, number: int, _: Problem, solution: Solution) -> None:
        """Take the solution of a linear problem to the exact one, and let its factor go."""
        begun = self._begun.pop(number)
        factor, exact, present = begun.factor, begun.exact, begun.present
        point = _basis_point(factor, exact, present, solution.point)
        began = time.perf_counter()
        certificate = self._judged(factor, exact, present, point)
        self._points[number] = point, certificate
        self.approximations[number] = Approximation(
            rank=factor.rank,
            trace_error=factor.trace_error,
            relative_error=factor.relative_error,
            certificate=replace(solution.certificate, region=None),
            exact=certificate,
            factor_seconds=begun.seconds,
            solve_seconds=solution.seconds,
            exact_seconds=time.perf_counter() - began,
            is_cut_short=begun.is_cut_short,
        )

    def _judged(
        self, factor: Factor, exact: Problem, present: Ids | None, point: BasisPoint
    ) -> Certificate:
        """Return the certificate of the exact problem."""
        if self.flag or not self.bounds_exact:
            return _unknown()
        assert point.dual_coef is not None
        n_support = int(np.count_nonzero(point.dual_coef))
        above = None
        if n_support**2 > 2 * max(_WORTH_ALL_PAIRS * factor.values.size, _FEW_PAIRS):
            some = slice(None) if present is None else present
            pulls = (exact.signs * point.dual_coef)[some]
            diagonal = exact.image_squares[some]
            above = square_by_factor(factor.values, factor.remainder, diagonal, pulls)
        threads = max(1, self.plan.threads // len(self.pairs))
        try:
            return basis_gap(exact, point, threads=threads, check=self._give_up, square_above=above)
        except _GivenUp:
            return _unknown()

    def _give_up(self) -> None:
        if self.flag:
            raise _GivenUp

    def _exact(self, number: int, solution: Solution) -> Solution:
        """Return a solution with what is known of the exact problem."""
        if number not in self._points:
            return solution
        point, certificate = self._points[number]
        return replace(solution, point=point, certificate=certificate)


def _unknown() -> Certificate:
    """Return the certificate of a problem that nobody has looked at."""
    nan, inf = math.nan, math.inf
    note = "the exact problem has not been looked at: nothing is proven of it"
    return Certificate(nan, -inf, inf, inf, inf, inf, (note,))


def _basis_point(factor: Factor, exact: Problem, present: Ids | None, point: Point) -> BasisPoint:
    """Return the point of the exact problem that a point of the linear one is."""
    alpha = np.zeros(exact.n_rows)
    if point.dual_coef is not None:
        alpha[slice(None) if present is None else present] = point.dual_coef
    weights = point.coef if factor.rank else np.zeros(0)
    return BasisPoint(
        coef=np.zeros(0),
        intercept=point.intercept,
        dual_coef=alpha,
        basis=factor.basis,
        basis_coef=factor.coefficients(weights),
    )
