"""Cross-validation of kernel machines: every fold walks the values of C, and of gamma.

The values of C of one gamma start from each other and share kernel values. Folds are taken one
after the other, so that no more than one fold's machines are in memory; threads share out the pairs
of classes of a fold.
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
from hinge.multiclass import ClassPairs, Objective
from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.result import Point, Solution, Status
from hinge.rows import Rows
from hinge.solvers import Settings, StopFlag
from hinge.solvers.path_walk import PathEvent, solve_grid

Floats = NDArray[np.float64]


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
    """The fits of one fold.

    Parameters
    ----------
    pairs : ClassPairs
        The pairs of classes, with the weights of the fold.
    solutions : list of list of list of Solution
        By pair, gamma and C.
    """

    pairs: ClassPairs
    solutions: list[list[list[Solution]]]

    def cell(self, gamma: int, C: int) -> list[Solution]:
        """Return the solutions of all pairs for one gamma and C.

        Parameters
        ----------
        gamma, C : int
            Positions of the values.
        """
        return [of_pair[gamma][C] for of_pair in self.solutions]

    def points(self, gamma: int, C: int) -> dict[int, Point]:
        """Return the points of all pairs for one gamma and C, by their number.

        Parameters
        ----------
        gamma, C : int
            Positions of the values.
        """
        return {number: s.point for number, s in enumerate(self.cell(gamma, C))}

    def is_done(self, gamma: int, C: int) -> bool:
        """Return whether the fits of all pairs have ended by themselves.

        Parameters
        ----------
        gamma, C : int
            Positions of the values.
        """
        return all(s.status is not Status.INTERRUPTED for s in self.cell(gamma, C))


def fit_fold(
    rows: Rows,
    folds: tuple[int, list[Fold]],
    grid: Grid,
    options: FitOptions,
    clock: Clock,
    flag: StopFlag,
    callback: Callable[[FoldEvent], Any] | None,
) -> FoldFits:
    """Fit every pair of classes of a fold for every gamma and C.

    Parameters
    ----------
    rows : Rows
        The data.
    folds : tuple of int and list of Fold
        Which of the divisions of the rows.
    grid : Grid
        Values of C and gamma.
    options : FitOptions
        Objective, solver, criteria, seed and threads.
    clock : Clock
        Time limit.
    flag : StopFlag
        Ends everything when set.
    callback : callable or None
        Called on the calling thread after every step; True ends everything.
    """
    which, divisions = folds
    pairs = ClassPairs(divisions[which].labels)
    inner = max(1, options.threads // len(pairs))

    def solve(number: int, hand_over: HandOver) -> list[list[Solution]]:
        def watch(event: PathEvent) -> None:
            known = {"fold": which, "n_folds": len(divisions), "label": pairs.label(number)}
            shown = FoldEvent(**vars(event), **known)
            if callback is not None and hand_over(lambda: callback(shown)) is True:
                flag.set()

        observers: Any = () if callback is None else (watch,)
        stop = replace(options.stop, seconds=clock.share())
        settings = Settings(stop, options.seed, observers, inner)
        problem = pairs.problem(rows, options.objective, number)
        return solve_grid(problem, grid.Cs, grid.gammas, options.solver, settings, flag)

    workers = min(options.threads, len(pairs))
    if workers > 1:
        found = map_in_threads(solve, range(len(pairs)), workers, flag.set)
    else:
        found = [solve(number, call_here) for number in range(len(pairs))]
    return FoldFits(pairs, found)
