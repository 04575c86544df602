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
from hinge.solvers.kernel.resident import NO_LIMIT, WORK_A_CALL, WORK_A_ROUND
from hinge.solvers.kernel.working_sets import MOST_PAIRS, fewest_rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_ARRIVED, _PAUSED = 0, 1  # why native code has ended, as it numbers them
MOST_FEATURES = 4096  # of rows that are packed with all of them


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
    """

    alpha: Floats
    intercept: float
    steps: int
    work: int


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
        self._stored, self._loss = stored, loss
        # What a class brings along as the first and as the second of a pair.
        self._sides = [[_program(loss, sign, of) for of in costs] for sign in (-1.0, 1.0)]
        self._settings = settings
        values = sum(len(ids) ** 2 for ids in classes)
        share = min(1.0, settings.shared_mb * 2**20 / (4.0 * values))
        self._classes = [
            core.ClassOfRows(rows, np.ascontiguousarray(ids), int(share * len(ids)))
            for ids in classes
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
        loss = self._loss
        sides = self._sides[0][first], self._sides[1][second]
        linear, diagonal, lower, upper, costs = np.concatenate(sides, axis=1)
        signs = np.repeat(np.array([-1, 1], dtype=np.int8), [side.shape[1] for side in sides])
        settled = np.zeros(len(costs), dtype=bool)
        program = core.ResidentProgram(linear, diagonal, lower, upper, settled, True)
        beta, scores = np.zeros((2, len(costs)))
        stored = max(1, (self._stored[first] + self._stored[second]) // len(costs))
        run = core.PairRun(
            self._classes[first],
            self._classes[second],
            program,
            beta,
            scores,
            core.RoundLimits(
                self._settings.tolerance,
                fewest_rows(len(costs)),
                self._settings.largest_set,
                NO_LIMIT,
                MOST_PAIRS,
                stored,
                WORK_A_CALL,
                WORK_A_ROUND,
            ),
        )
        stop = _PAUSED
        while stop == _PAUSED:
            check()
            steps, computed, stop, up, down = run.advance()
        if stop != _ARRIVED:
            return None
        intercept = intercept_at(Ends(up, down, is_balanced=True), loss, scores, signs, costs)
        work = (computed + 2 * len(costs)) * stored
        return PairEnd(np.abs(beta), intercept, steps, work)


def _program(loss: Loss, sign: float, costs: Floats) -> Floats:
    """Return what the dual program has of the rows of a class, with their costs below."""
    y = np.full(len(costs), sign)
    reach = y * loss.upper_bound(costs)
    lower, upper = np.minimum(reach, 0.0), np.maximum(reach, 0.0)
    return np.stack((loss.dual_linear * y, loss.dual_curvature / costs, lower, upper, costs))
