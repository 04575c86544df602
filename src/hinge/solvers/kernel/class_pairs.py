"""The problems of pairs of classes, solved by native code over kernel rows that they share.

Each of them is solved by the rounds of :mod:`hinge.solvers.kernel.resident`, with the same bits.
The kernel of rows of one class with each other is half of what a pair needs, and other pairs of
that class need much of it again: it is computed once (``cpp/include/hinge/class_rows.hpp``). Rows
are packed once for all pairs. Several threads may solve pairs at once; whoever comes first to a
kernel row of a class computes it for the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.losses import Loss
from hinge.solvers.kernel.dual_state import Ends, intercept_at
from hinge.solvers.kernel.held_out import without_rows
from hinge.solvers.kernel.resident import NO_LIMIT, WORK_A_CALL, WORK_A_ROUND
from hinge.solvers.kernel.working_sets import MOST_PAIRS, fewest_rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_ARRIVED, _PAUSED, _SLOW = 0, 1, 4  # why native code has ended, as it numbers them
MOST_FEATURES = 4096  # of rows that are packed with all of them
_FEWEST_TERMS, _MOST_TERMS = 64, 256  # that are packed at a time


@dataclass(frozen=True)
class PairEnd:
    """Where the problem of a pair has arrived.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Dual coefficients of the rows of the first class, then of those of the second.
    intercept : float
        The intercept.
    steps, work : int
        Steps on pairs of rows; stored values touched, as if no kernel value were shared.
    scores : ndarray of shape (n,)
        Decision values of the rows without the intercept.
    """

    alpha: Floats
    intercept: float
    steps: int
    work: int
    scores: Floats


@dataclass(frozen=True)
class PairSettings:
    """How pairs of classes are solved.

    Parameters
    ----------
    tolerance : float
        The violation at which a pair has arrived.
    largest_set : int
        The most rows of a working set.
    shared_mb : float
        Memory for kernel rows that pairs share.
    """

    tolerance: float
    largest_set: int
    shared_mb: float


class PairSolver:
    """Solves the problems of pairs of classes.

    Parameters
    ----------
    rows : core.KernelRowsFloat
        The rows of all classes, for a kernel that is a function of inner products.
    classes : sequence of ndarray of int64
        Numbers of the rows of every class.
    costs : sequence of ndarray
        Their costs, all positive.
    stored : sequence of int
        Values that are stored of the rows of every class.
    loss : Loss
        The loss of a margin.
    settings : PairSettings
        How to solve.

    Attributes
    ----------
    most_bytes : float
        What kernel rows that pairs share may take.
    """

    def __init__(
        self,
        rows: core.KernelRowsFloat,
        classes: Sequence[Ids],
        costs: Sequence[Floats],
        stored: Sequence[int],
        loss: Loss,
        settings: PairSettings,
    ) -> None:
        self._rows, self._numbers = rows, [np.ascontiguousarray(ids) for ids in classes]
        self._stored, self._loss = stored, loss
        # What a class brings along as the first and as the second of a pair.
        self._sides = [_programs(loss, of) for of in costs]
        self._settings = settings
        values = 4.0 * sum(len(ids) ** 2 for ids in classes)
        self._share = min(1.0, settings.shared_mb * 2**20 / values)
        self.most_bytes = self._share * values
        self._classes: list[core.ClassOfRows] = []
        self.release()

    def release(self) -> None:
        """Let go of kernel rows that pairs share; they are computed again when asked for."""
        self._classes = [
            core.ClassOfRows(self._rows, ids, int(self._share * len(ids))) for ids in self._numbers
        ]

    def solve(self, first: int, second: int, check: Callable[[], None]) -> PairEnd | None:
        """Return where the problem of two classes arrives; None if it is one for others.

        Parameters
        ----------
        first, second : int
            The classes; the second is the positive one.
        check : callable
            Called every few milliseconds; may raise to give up.
        """
        linear, diagonal, lower, upper, costs = self._both(first, second)
        count = len(costs)
        program = core.ResidentProgram(
            linear, diagonal, lower, upper, np.zeros(count, dtype=bool), True
        )
        beta, scores = np.zeros((2, count))
        stored = self._stored_of(first, second)
        run = core.PairRun(
            self._classes[first],
            self._classes[second],
            program,
            beta,
            scores,
            self._limits(count, stored, self._settings.tolerance),
        )
        stop = _PAUSED
        while stop == _PAUSED:
            check()
            steps, computed, stop, up, down = run.advance()
        if stop != _ARRIVED:
            return None
        ends = Ends(up, down, is_balanced=True)
        intercept = intercept_at(ends, self._loss, scores, self.signs(first, second), costs)
        work = (computed + 2 * count) * stored
        return PairEnd(np.abs(beta), intercept, steps, work, scores)

    def held_out_scores(
        self,
        pair: tuple[int, int],
        end: PairEnd,
        folds: Sequence[Ids],
        violation: float,
        check: Callable[[], None],
        is_late: Callable[[], bool] = lambda: False,
    ) -> list[Floats | None]:
        """Return decision values of rows of a pair by machines that were not trained on them.

        Each begins where the pair has arrived, without the coefficients of the rows, and may do
        about as much as its part of the work of the pair.

        Parameters
        ----------
        pair : tuple of int
            The two classes.
        end : PairEnd
            Where their problem has arrived.
        folds : sequence of ndarray of int
            The rows of the pair that are held out together.
        violation : float
            Violation of the optimality conditions at which a machine is good enough.
        check : callable
            Called every few milliseconds; may raise to give up.
        is_late : callable
            Returns whether there is no time left; a machine that is under way is taken as it is.

        Returns
        -------
        list of ndarray or None
            The decision values of each fold's rows; None where there was no time for them.
        """
        if is_late():
            return [None] * len(folds)
        linear, diagonal, lower, upper, _ = self._both(*pair)
        first, second = (self._classes[which] for which in pair)
        beta = self.signs(*pair) * end.alpha
        starts = without_rows(beta, lower, upper, folds)
        scores = end.scores + self._sums(pair, starts - beta, check)
        count, work = len(beta), max(1, end.work // len(folds))
        limits = self._limits(count, self._stored_of(*pair), violation, work)
        found: list[Floats | None] = []
        for held, start, sums in zip(folds, starts, scores, strict=True):
            if is_late():
                found.append(None)
                continue
            is_held = np.zeros(count, dtype=bool)
            is_held[held] = True
            program = core.ResidentProgram(linear, diagonal, lower, upper, is_held, True)
            run = core.PairRun(first, second, program, start, sums, limits)
            ends = _advanced(run, -(-work // WORK_A_CALL), check, is_late)
            if ends is None:
                group = np.full(count, -1, dtype=np.int8)
                variables = core.ProgramVariables(start, lower, upper, group, is_held)
                ends = core.gradient_ends(variables, sums + diagonal * start - linear)
            found.append(sums[held] + Ends(*ends, is_balanced=True).intercept)
        return found

    def _both(self, first: int, second: int) -> Floats:
        """Return what the dual program has of the rows of two classes."""
        return np.concatenate((self._sides[first][0], self._sides[second][1]), axis=1)

    def signs(self, first: int, second: int) -> NDArray[np.int8]:
        """Return the signs of the rows of two classes: the second is the positive one."""
        counts = [len(self._numbers[which]) for which in (first, second)]
        return np.repeat(np.array([-1, 1], dtype=np.int8), counts)

    def _stored_of(self, first: int, second: int) -> int:
        """Return how many values are stored of a row of two classes."""
        count = len(self._numbers[first]) + len(self._numbers[second])
        return max(1, (self._stored[first] + self._stored[second]) // count)

    def _limits(
        self, count: int, stored: int, aim: float, work: int = WORK_A_CALL
    ) -> core.RoundLimits:
        return core.RoundLimits(
            aim,
            fewest_rows(count),
            self._settings.largest_set,
            NO_LIMIT,
            MOST_PAIRS,
            stored,
            min(work, WORK_A_CALL),
            WORK_A_ROUND,
        )

    def _sums(self, pair: tuple[int, int], changes: Floats, check: Callable[[], None]) -> Floats:
        """Return what changes of coefficients, a row for each of several, do to all scores."""
        numbers = np.concatenate([self._numbers[which] for which in pair])
        changed = np.flatnonzero(changes.any(axis=0))
        sums = np.zeros((len(numbers), len(changes)))
        values = len(numbers) * self._stored_of(*pair)
        limit = min(max(WORK_A_CALL // values, _FEWEST_TERMS), _MOST_TERMS)
        for first in range(0, len(changed), limit):
            check()
            some = changed[first : first + limit]
            terms = core.KernelTermsFloat(self._rows, numbers[some])
            terms.add(self._rows, np.ascontiguousarray(changes[:, some]), 0, numbers, sums)
        return np.ascontiguousarray(sums.T)


def _advanced(
    run: core.PairRun, calls: int, check: Callable[[], None], is_late: Callable[[], bool]
) -> tuple[float, float] | None:
    """Let a run go on; return the ends of its gradient, None if it does not know them."""
    ends = None
    for call in range(calls):
        check()
        if call and is_late():
            break
        _, _, stop, up, down = run.advance()
        # Those of a slow run are of before its last set.
        ends = None if stop == _SLOW else (up, down)
        if stop != _PAUSED:
            break
    return ends


@dataclass(frozen=True)
class SolvedPair:
    """A pair of classes that has been solved, for those who go on from there.

    Parameters
    ----------
    solver : PairSolver
        What has solved it.
    classes : tuple of int
        The two classes, as the solver numbers them.
    end : PairEnd
        Where it has arrived.
    weights : ndarray of shape (n,)
        Weights of the rows of the first class, then of those of the second.
    """

    solver: PairSolver
    classes: tuple[int, int]
    end: PairEnd
    weights: Floats

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Which rows are those of the second class."""
        return self.solver.signs(*self.classes) > 0

    @property
    def scores(self) -> Floats:
        """Decision values of the rows by the machine itself."""
        return self.end.scores + self.end.intercept


def _programs(loss: Loss, costs: Floats) -> Floats:
    """Return what dual programs have of the rows of a class, with their costs below.

    First as those of the first class of a pair, and then of the second.
    """
    reach = loss.upper_bound(costs)
    both = np.zeros((2, 5, len(costs)))
    both[:, 0] = ((-loss.dual_linear,), (loss.dual_linear,))
    both[:, 1] = loss.dual_curvature / costs
    both[0, 2], both[1, 3] = -reach, reach
    both[:, 4] = costs
    return both
