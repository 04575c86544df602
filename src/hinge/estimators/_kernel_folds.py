"""Cross-validation of kernel machines: every fold walks the values of C, for one gamma at a time.

The values of C start from each other and share kernel values, and so do the folds of a pair of
classes, which come one after the other: a fold is the problem of all rows of the pair, some of
which have no cost, and their coefficients stay at zero. So one kernel matrix serves all folds.
That costs kernel rows as long as all rows are, which pays where most of them train in every fold
and where the matrix finds room; elsewhere every fold has its own rows. Threads share out the pairs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.estimators._clock import Clock
from hinge.estimators._folds import Fold, FoldEvent
from hinge.estimators._options import FitOptions
from hinge.kernels import with_gamma
from hinge.multiclass import ClassPairs, Labels, Objective
from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.result import Point, Solution, Status
from hinge.rows import Rows
from hinge.solvers import Settings, StopFlag
from hinge.solvers.kernel.carry import KernelRelay
from hinge.solvers.kernel.dual_solver import DualSolver
from hinge.solvers.kernel.set_memory import largest_set
from hinge.solvers.path_walk import PathEvent, has_begun, solve_path

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_TRAINING = 0.7  # share of the rows of all folds that a fold must train on for them to share
_FEWEST_ROWS = 1024  # of a pair; to hold rows out of fewer costs more than it saves
_ROOM = 0.5  # share of the kernel matrix that must find room in the cache


@dataclass(frozen=True)
class Grid:
    """The values to choose from.

    Parameters
    ----------
    Cs : list of float
        Values of C.
    gammas : list of float or None
        Values of gamma; None is the kernel's own.
    """

    Cs: list[float]
    gammas: list[float] | None

    @property
    def shape(self) -> tuple[int, int]:
        """How many values of gamma and of C there are."""
        return (1 if self.gammas is None else len(self.gammas), len(self.Cs))

    def objective(self, objective: Objective, gamma: int, C: int) -> Objective:
        """Return the objective of one cell.

        Parameters
        ----------
        objective : Objective
            Loss, intercept and kernel.
        gamma, C : int
            Positions of the values.
        """
        kernel = objective.kernel
        if self.gammas is not None and kernel is not None:
            kernel = with_gamma(kernel, self.gammas[gamma])
        return replace(objective, C=self.Cs[C], kernel=kernel)


@dataclass(frozen=True)
class FoldFits:
    """The fits of one fold with one gamma.

    Parameters
    ----------
    pairs : ClassPairs
        The pairs of classes, with the weights of the fold.
    solutions : list of list of Solution
        By pair and C.
    """

    pairs: ClassPairs
    solutions: list[list[Solution]]

    def cell(self, C: int) -> list[Solution]:
        """Return the solutions of all pairs for one C.

        Parameters
        ----------
        C : int
            Position of the value.
        """
        return [of_pair[C] for of_pair in self.solutions]

    def points(self, C: int) -> dict[int, Point]:
        """Return the points of all pairs for one C, by their number.

        Parameters
        ----------
        C : int
            Position of the value.
        """
        return {number: s.point for number, s in enumerate(self.cell(C))}

    def is_done(self, C: int) -> bool:
        """Return whether the fits of all pairs have ended by themselves.

        Parameters
        ----------
        C : int
            Position of the value.
        """
        return all(s.status is not Status.INTERRUPTED for s in self.cell(C))


class KernelFolds:
    """The fits of all folds.

    Parameters
    ----------
    rows : Rows
        The data.
    labels : Labels
        Labels and weights of all rows.
    folds : list of Fold
        Divisions of the rows.
    grid : Grid
        Values of C and gamma.
    options : FitOptions
        Objective, solver, criteria, seed and threads.
    at_once : int
        The most pairs that are solved at a time, each with its part of the cache.
    """

    def __init__(
        self,
        rows: Rows,
        labels: Labels,
        folds: list[Fold],
        grid: Grid,
        options: FitOptions,
        at_once: int,
    ) -> None:
        self._grid, self._options = grid, options
        self._pairs = [ClassPairs(fold.labels, labels) for fold in folds]
        self._rows = rows
        self.workers = min(options.threads, at_once)
        weights = np.stack([np.asarray(fold.labels.sample_weight) for fold in folds])
        self._trains = weights > 0.0
        count = len(self._pairs[0])
        self._starts: list[list[Point | None]] = [[None] * len(folds) for _ in range(count)]

    def fit(
        self,
        gamma: int,
        clock: Clock,
        flag: StopFlag,
        callback: Callable[[FoldEvent], Any] | None,
    ) -> list[FoldFits]:
        """Fit every pair of classes of every fold for every C, with one gamma.

        Parameters
        ----------
        gamma : int
            Position of the gamma; they come one after the other.
        clock : Clock
            Time limit.
        flag : StopFlag
            Ends everything when set.
        callback : callable or None
            Called on the calling thread after every step; True ends everything.

        Returns
        -------
        list of FoldFits
            One for each fold.
        """

        def solve(number: int, hand_over: HandOver) -> list[list[Solution]]:
            relay = self._relay(number)
            # A copy for all folds, which certificates read faster than rows that lie apart.
            own = self._pairs[0].own_rows(self._rows, self._options.objective.kernel, number)
            found = []
            for fold in range(len(self._pairs)):
                place = number, fold, gamma
                observers = self._observers(place, hand_over, flag, callback)
                stop = replace(self._options.stop, seconds=clock.share())
                inner = max(1, self._options.threads // self.workers)
                settings = Settings(stop, self._options.seed, observers, inner)
                found.append(self._walk(place, own, settings, flag, relay))
            return found

        numbers = range(len(self._pairs[0]))
        if self.workers > 1:
            found = map_in_threads(solve, numbers, self.workers, flag.set)
        else:
            found = [solve(number, call_here) for number in numbers]
        return [
            FoldFits(pairs, [of_pair[fold] for of_pair in found])
            for fold, pairs in enumerate(self._pairs)
        ]

    def _walk(
        self,
        place: tuple[int, int, int],
        own: Rows,
        settings: Settings,
        flag: StopFlag,
        relay: KernelRelay | None,
    ) -> list[Solution]:
        """Solve a pair of a fold for every C; the least C starts from that of the last gamma."""
        number, fold, gamma = place
        Cs, solver = self._grid.Cs, self._options.solver
        objective = self._grid.objective(self._options.objective, gamma, 0)
        problem = self._pairs[fold].problem(self._rows, objective, number, own)
        start = self._starts[number][fold]
        solutions = solve_path(problem, Cs, solver, settings, flag, start, relay=relay)
        first = solutions[Cs.index(min(Cs))]
        if has_begun(first):
            self._starts[number][fold] = first.point
        return [_without_region(solution) for solution in solutions]

    def _observers(
        self,
        place: tuple[int, int, int],
        hand_over: HandOver,
        flag: StopFlag,
        callback: Callable[[FoldEvent], Any] | None,
    ) -> Any:
        """Return who watches the fits of a pair of a fold."""
        if callback is None:
            return ()
        number, fold, gamma = place
        n_gammas, n_Cs = self._grid.shape
        label, n_folds = self._pairs[fold].label(number), len(self._pairs)

        def watch(event: PathEvent) -> None:
            known = {**vars(event), "count": n_gammas * n_Cs}
            known["number"] = gamma * n_Cs + event.number
            shown = FoldEvent(**known, fold=fold, n_folds=n_folds, label=label)
            if hand_over(lambda: callback(shown)) is True:
                flag.set()

        return (watch,)

    def _relay(self, number: int) -> KernelRelay | None:
        """Return what hands kernel rows of a pair on from fold to fold; None if they do not share.

        That depends on the data alone, never on threads.
        """
        solver = self._options.solver
        ids = self._pairs[0].rows_of(number)
        trains = self._trains if ids is None else self._trains[:, ids]
        covered = np.flatnonzero(trains.any(axis=0))
        n = len(covered)
        if not isinstance(solver, DualSolver) or n < _FEWEST_ROWS:
            return None
        if np.count_nonzero(trains, axis=1).min() < _TRAINING * n:
            return None
        stored = self._rows.n_stored * trains.shape[1] / self._trains.shape[1]
        room = solver.cache_mb * 2**20 / 4 - stored - min(n, largest_set(solver.cache_mb)) ** 2
        return KernelRelay(covered) if room >= _ROOM * n * n else None


def _without_region(solution: Solution) -> Solution:
    """Return a solution whose certificate holds no data: those of all folds are kept at a time."""
    return replace(solution, certificate=replace(solution.certificate, region=None))
