r"""The factor that a pair of classes is trained over: how exact, by which rows, in what time.

Few rows choose their pivots by the trace alone. Of many, an eighth chooses them
(:mod:`hinge.lowrank.sample`): by the trace first, until the share that was asked for is left; then
a machine is trained on this eighth over its first factor, and further pivots are chosen by what is
left of the rows times their squared coefficients. What a factor costs in objective is
:math:`\tfrac12 \beta'E\beta`, in which other rows do not appear.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hinge.labels import WeightsAsRead
from hinge.lowrank import Factor
from hinge.lowrank.cholesky import IncompleteCholesky
from hinge.lowrank.factorise import begin, finished, most_columns
from hinge.lowrank.sample import SampledPivots
from hinge.machines.source import source
from hinge.problem import Problem
from hinge.result import Stop
from hinge.rows import Rows
from hinge.solvers import Settings, StopFlag, get_solver, run

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

METHOD = "random-cholesky"
_MANY_ROWS = 50_000  # from which on factors are stored as float32
_WORTH_A_SAMPLE = 100_000  # from which on pivots are chosen among a sample of them
_MOST_MB = 4096.0  # of a factor
# Of the time that a factor has: pivots that an eighth of the rows has chosen in it have columns of
# all rows in the rest.
_CHOICE_SHARE = 0.1
_AT_ONCE = 64  # columns that are made whatever the time: some 0.1 s for 200,000 rows
_FIRST_GAP = 1e-2  # of a machine that is only to tell how much rows count


@dataclass(frozen=True)
class Target:
    """How exact a factor is to be.

    Parameters
    ----------
    rank : int or None
        Columns at the most.
    tolerance : float
        Share of the trace of the kernel matrix that may be left; 0 for none.
    """

    rank: int | None
    tolerance: float


class _Enough(Exception):  # noqa: N818 - nothing is wrong: time is over
    """Raised between two pieces of a factor to be content with what there is."""


class _Ranked(Protocol):
    """What has columns, or pivots for them."""

    @property
    def rank(self) -> int:
        """How many."""


class PairFactor:
    """The making of one factor.

    Parameters
    ----------
    exact : Problem
        The problem with the kernel.
    target : Target
        How exact the factor is to be.
    settings : Settings
        Seed, threads, and with ``stop.seconds`` the time that the factor may take.
    flag : StopFlag
        Ends it when set.

    Attributes
    ----------
    present : ndarray of int64 or None
        The rows that have a weight, which the factor is of; None for all.
    is_cut_short : bool
        Whether the factor has fewer columns than were asked for, because time was over.
    """

    def __init__(self, exact: Problem, target: Target, settings: Settings, flag: StopFlag) -> None:
        self.exact, self.target, self.settings, self.flag = exact, target, settings, flag
        weights = exact.sample_weight
        self.present: Ids | None = None
        if weights is not None and not bool(np.all(weights > 0.0)):
            self.present = np.flatnonzero(weights > 0.0)
        self.is_cut_short = False
        seconds = math.inf if settings.stop.seconds is None else settings.stop.seconds
        now = time.perf_counter()
        self._deadline = now + seconds
        self._choice_deadline = now + _CHOICE_SHARE * seconds

    def make(self) -> Factor:
        """Return a factor that is exact enough, or what time allows."""
        exact, present = self.exact, self.present
        assert exact.kernel is not None
        n = exact.n_rows if present is None else len(present)
        single = n >= _MANY_ROWS
        most = most_columns(n, _MOST_MB, single)
        most = min(most, n, most if self.target.rank is None else self.target.rank)
        values = source(exact.kernel, exact.rows, present=present)
        seed = self.settings.seed
        growth = begin(exact.kernel, exact.rows, values, most, METHOD, seed, single, present)
        try:
            if n >= _WORTH_A_SAMPLE:
                self._from_sample(growth)
            threads, check = self.settings.threads, self._checked(growth, self._deadline)
            growth.grow(most, self.target.tolerance, threads, check)
        except _Enough:
            self.is_cut_short = True
        return finished(growth, exact.kernel, exact.rows, METHOD, present)

    def linear(self, columns: NDArray[np.floating], ids: Ids | None = None) -> Problem:
        """Return the linear problem over columns of the factor.

        Parameters
        ----------
        columns : ndarray of shape (n, rank)
            The columns.
        ids : ndarray of int64 or None, default=None
            Which of the rows that are present they are of; None for all.

        Returns
        -------
        Problem
            The problem, with the labels and weights of these rows.
        """
        exact = self.exact
        some: Ids | slice = slice(None) if self.present is None else self.present
        if ids is not None:
            some = ids if self.present is None else self.present[ids]
        weights = exact.sample_weight
        return Problem(
            Rows(columns if columns.shape[1] else np.zeros((len(columns), 1))),
            exact.signs[some] > 0,
            loss=exact.loss,
            C=exact.C,
            intercept=exact.intercept,
            sample_weight=None if weights is None else WeightsAsRead(weights[some]),
        )

    def _from_sample(self, growth: IncompleteCholesky) -> None:
        """Take the columns of pivots of a sample; a few of them where time is over."""
        exact, threads = self.exact, self.settings.threads
        assert exact.kernel is not None
        pivots = SampledPivots(growth, (exact.kernel, exact.rows, self.present), self.settings.seed)
        try:
            try:
                check = self._checked(pivots, self._choice_deadline)
                pivots.choose(self.target.tolerance, threads, check, self._weights)
            except _Enough:
                self.is_cut_short = True  # the pivots so far will do
            try:
                pivots.adopt(threads, self._check)
            except _Enough:
                self.is_cut_short = True
                pivots.adopt(threads, self._check_flag, most=_AT_ONCE)
        finally:
            pivots.count_values()

    def _weights(self, columns: NDArray[np.floating], ids: Ids) -> Floats | None:
        """Return the squared coefficients of a machine of a sample, the largest of them 1."""
        signs = self.exact.signs[ids if self.present is None else self.present[ids]]
        if not math.isfinite(self.exact.C) or bool(np.all(signs == signs[0])):
            return None
        problem = self.linear(columns, ids)
        seconds = self._choice_deadline - time.perf_counter()
        stop = Stop(gap=_FIRST_GAP, seconds=None if math.isinf(seconds) else max(0.0, seconds))
        settings = replace(self.settings, stop=stop, observers=())
        solver = get_solver("auto", problem, _FIRST_GAP, None)
        solution = run(problem, solver, settings, None, None, self.flag)
        if self.flag or time.perf_counter() >= self._choice_deadline:
            raise _Enough
        alpha = solution.point.dual_coef
        if alpha is None or not alpha.any():
            return None
        return np.asarray(np.square(alpha / np.max(alpha)))

    def _checked(self, growing: _Ranked, deadline: float) -> Callable[[], None]:
        """Return what ends growth by the clock, but not before there are columns."""

        def check() -> None:
            self._check_flag()
            if growing.rank and time.perf_counter() >= deadline:
                raise _Enough

        return check

    def _check(self) -> None:
        self._check_flag()
        if time.perf_counter() >= self._deadline:
            raise _Enough

    def _check_flag(self) -> None:
        if self.flag:
            raise _Enough
