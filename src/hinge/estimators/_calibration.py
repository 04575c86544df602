"""Probabilities of a kernel classifier: sigmoids of scores by machines that have not seen the rows.

For every pair of classes, rows are held out in three parts, each by a machine that starts from the
solution of the fit without their coefficients. Of many rows at most 4,000 are held out, drawn by
the seed: a sigmoid has two parameters. Each part may cost no more than a third of the fit.

Once a time limit is over no further machine is solved: rows are scored by the machine of the fit
itself, which favours them, and probabilities are too sure of themselves where classes overlap.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from hinge.certificates.kernel_scores import machine_of, scores_at
from hinge.estimators._sigmoid import Scored, Sigmoid, fit_sigmoid, fit_sigmoids
from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.problem import Problem
from hinge.result import Point, Solution
from hinge.solvers import StopFlag
from hinge.solvers.kernel.class_pairs import SolvedPair
from hinge.solvers.kernel.held_out import held_out_scores

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_FOLDS = 3
_MOST_ROWS = 4000  # that are held out
_MOST_ROWS_LATE = 600  # when the time is over
_VIOLATION = 0.1  # of the margin, at which a machine is good enough for a sigmoid
_DEPRECATED_SINCE = (1, 9)


def warn_of_deprecation(stacklevel: int) -> None:
    """Say what scikit-learn says of ``probability``, if it does.

    Parameters
    ----------
    stacklevel : int
        How far up the caller of ``fit`` is, as ``warnings.warn`` counts.
    """
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    if version >= _DEPRECATED_SINCE:
        message = (
            "probability is deprecated in scikit-learn 1.9, which will remove it in 1.11; hinge "
            "follows. Use sklearn.calibration.CalibratedClassifierCV(SVC(), ensemble=False)."
        )
        warnings.warn(message, FutureWarning, stacklevel=stacklevel)


class _GivenUp(Exception):  # noqa: N818 - nothing is wrong: the user has asked for it
    """The fit has been told to end."""


class Calibrator:
    """Fits the sigmoid of every pair of classes when its machine is done.

    Parameters
    ----------
    seed : int
        Seed of the parts that are held out.
    count : int
        How many pairs there are.
    flag : StopFlag
        Whether the fit is to end.
    deadline : float, default=inf
        When no further machine is solved, by the clock of ``time.perf_counter``.
    unit : str, default="pairs of classes"
        What there are several of, for messages.

    Attributes
    ----------
    sigmoids : list of Sigmoid or None
        The sigmoid of every pair, for the decision values of its problem.
    late : set of int
        Pairs of which rows were scored by a machine that was trained on them, for lack of time.
    """

    def __init__(
        self,
        seed: int,
        count: int,
        flag: StopFlag,
        deadline: float = math.inf,
        unit: str = "pairs of classes",
    ) -> None:
        self.sigmoids: list[Sigmoid | None] = [None] * count
        self.late: set[int] = set()
        self._seed = seed
        self._flag = flag
        self._deadline = deadline
        self._unit = unit

    def finish(self, number: int, problem: Problem, solution: Solution) -> None:
        """Calibrate a pair of classes.

        Parameters
        ----------
        number : int
            Which pair.
        problem : Problem
            Its problem.
        solution : Solution
            Its solution, with the state if there is one.
        """
        if self._flag:
            return
        most = _MOST_ROWS_LATE if self._is_late() else _MOST_ROWS
        folds = held_out_parts(problem, self._generator(number), most)
        if folds:
            scores = np.concatenate(self._scored_parts(number, problem, solution, folds))
            rows = np.concatenate(folds)
        else:
            # A class of one row cannot be held out: its score by the machine itself must do.
            rows = np.flatnonzero(problem.costs > 0.0)
            scores = _own_scores(problem, solution.point, rows)
        weights = np.ones(len(rows))
        if problem.sample_weight is not None:
            weights = problem.sample_weight[rows]
        self.sigmoids[number] = fit_sigmoid(scores, problem.signs[rows] > 0, weights)

    def _scored_parts(
        self, number: int, problem: Problem, solution: Solution, folds: list[Ids]
    ) -> list[Floats]:
        """Return the decision values of the rows of each part."""
        fitted = (problem, solution.point, solution.state)
        parts = held_out_scores(
            fitted,
            folds,
            _VIOLATION,
            solution.work // len(folds),
            is_over=lambda: bool(self._flag),
            is_late=self._is_late,
        )
        self._note_late(number, parts)
        return [
            _own_scores(problem, solution.point, rows) if part is None else part
            for rows, part in zip(folds, parts, strict=True)
        ]

    def finish_pairs(self, pairs: Mapping[int, SolvedPair], threads: int) -> None:
        """Calibrate pairs of classes that were solved together.

        Parameters
        ----------
        pairs : mapping of int to SolvedPair
            The pairs by number.
        threads : int
            How many may be calibrated at a time.
        """
        folds = {
            number: _parts_of_pair(pair, self._generator(number)) for number, pair in pairs.items()
        }
        scored: dict[int, Scored] = {}

        def work(number: int, _: HandOver) -> None:
            with suppress(_GivenUp):
                scored[number] = self._scored_pair(number, pairs[number], folds[number])

        if threads == 1:
            for number in pairs:
                work(number, call_here)
        else:
            map_in_threads(work, pairs, threads, self._flag.set)
        if scored and not self._flag:
            sigmoids = fit_sigmoids([scored[number] for number in pairs])
            for number, sigmoid in zip(pairs, sigmoids, strict=True):
                self.sigmoids[number] = sigmoid

    def _scored_pair(self, number: int, pair: SolvedPair, folds: list[Ids]) -> Scored:
        """Return the decision values of rows by machines that were not trained on them."""
        if not folds:
            return Scored(pair.scores, pair.is_positive, pair.weights)
        given = pair.classes, pair.end, folds, _VIOLATION
        parts = pair.solver.held_out_scores(*given, self._check, self._is_late)
        self._note_late(number, parts)
        known = [
            pair.scores[rows] if part is None else part
            for rows, part in zip(folds, parts, strict=True)
        ]
        rows = np.concatenate(folds)
        return Scored(np.concatenate(known), pair.is_positive[rows], pair.weights[rows])

    def _generator(self, number: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, number))

    def _check(self) -> None:
        if self._flag:
            raise _GivenUp

    def _is_late(self) -> bool:
        return time.perf_counter() > self._deadline

    def _note_late(self, number: int, parts: Sequence[Floats | None]) -> None:
        """Take a note of a pair if there was no time for some of its parts."""
        if any(part is None for part in parts):
            self.late.add(number)

    def warn_if_late(self, time_limit: float | None, stacklevel: int) -> None:
        """Say so if the time limit has left no time for some of the probabilities.

        Parameters
        ----------
        time_limit : float or None
            The time limit of the fit.
        stacklevel : int
            How far up the caller of ``fit`` is, as ``warnings.warn`` counts.
        """
        if not self.late:
            return
        count = len(self.sigmoids)
        whose = "" if count == 1 else f" of {len(self.late)} of {count} {self._unit}"
        message = (
            f"SVC had no time left within time_limit={time_limit} to calibrate the probabilities"
            f"{whose} on rows that a machine was not trained on; they come from scores of training "
            "rows by the machine itself, and may be too near to 0 and 1. Raise time_limit, or use "
            "sklearn.calibration.CalibratedClassifierCV."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=stacklevel)

    def parameters(self) -> tuple[Floats, Floats]:
        """Return ``probA_`` and ``probB_``, with the signs that scikit-learn's have.

        Returns
        -------
        slopes, offsets : ndarray of shape (n_pairs,)
            Of the probability of a pair's first class, whose decision value has the other sign.
        """
        found = [sigmoid for sigmoid in self.sigmoids if sigmoid is not None]
        slopes = np.array([sigmoid.slope for sigmoid in found])
        offsets = np.array([-sigmoid.offset for sigmoid in found])
        return slopes, offsets


def _own_scores(problem: Problem, point: Point, rows: Ids) -> Floats:
    """Return decision values of training rows by the machine itself."""
    found = scores_at(machine_of(problem, point), (problem.rows, rows))
    return found.values + point.intercept


def held_out_parts(problem: Problem, rng: np.random.Generator, most: int = _MOST_ROWS) -> list[Ids]:
    """Return rows in parts that have as much of each class as the next; none if one has one row.

    Parameters
    ----------
    problem : Problem
        The problem of a pair of classes.
    rng : numpy Generator
        Draws and shuffles the rows.
    most : int, default=4000
        How many rows are held out in all.
    """
    counted = problem.costs > 0.0
    sides = [np.flatnonzero(counted & (problem.signs == sign)) for sign in (-1, 1)]
    return _parts(sides, rng, most)


def _parts_of_pair(pair: SolvedPair, rng: np.random.Generator) -> list[Ids]:
    is_positive = pair.is_positive
    return _parts([np.flatnonzero(~is_positive), np.flatnonzero(is_positive)], rng)


def _parts(sides: list[Ids], rng: np.random.Generator, most: int = _MOST_ROWS) -> list[Ids]:
    """Return the rows of two classes in parts."""
    count = min(_FOLDS, *(len(side) for side in sides))
    if count < 2:
        return []
    share = min(1.0, most / sum(len(side) for side in sides))
    chosen = []
    for side in sides:
        size = max(count, round(share * len(side)))
        chosen.append(rng.permutation(side)[:size])
    return [
        np.sort(np.concatenate([side[part::count] for side in chosen])) for part in range(count)
    ]
