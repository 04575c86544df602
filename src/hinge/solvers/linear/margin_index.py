"""The index of margins as a part of a solver's state.

The index holds numbers per row, all of which follow from the weights under which margins were last
stored, and from those before them. A state therefore keeps only these and the counts of the
policy: an index that is made anew from them evaluates with the same bits as the one that was lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hinge.bounds import Bound, Evaluation, Measured, ResortPolicy, SortedMargins
from hinge.bounds.evaluation import Objective, Rounding
from hinge.bounds.passes import Passes, Sums
from hinge.bounds.pieces import get_pieces
from hinge.bounds.policy import Record
from hinge.bounds.products import combine, dot
from hinge.problem import Problem

Floats = NDArray[np.float64]
Check = Callable[[], None]


# What the index counts for its policy; the other fields of the record follow from the rows.
RECORD = tuple(each.name for each in fields(Record) if each.default == 0)


class IndexMemory(NamedTuple):
    """What an index is made anew from; parts of a solver's state.

    Parameters
    ----------
    points : ndarray of shape (2, n_features + 1)
        Weights and intercept under which margins were last stored, and before them those before.
    counts : dict
        How often margins were stored, and what the policy has counted since.
    """

    points: Floats
    counts: dict[str, int]


def no_counts() -> dict[str, int]:
    """Return the counts of an index that has stored nothing yet."""
    return dict.fromkeys(("stores", *RECORD), 0)


def mean_form(problem: Problem) -> Objective:
    """Return what makes the objective divided by C S of summed losses, S the sum of the weights."""
    weights = problem.sample_weight
    total = float(problem.n_rows) if weights is None else float(np.sum(weights))
    return Objective(1.0 / total, 1.0 / (problem.C * total))


class MarginIndex:
    """Evaluates the objective of a problem, and remembers what it takes to be made anew.

    Parameters
    ----------
    problem : Problem
        Rows, labels, weights and loss.
    bound : str or Bound
        The bound of the index.
    policy : ResortPolicy or None
        When to store all margins again; None is ``Measured`` with prices that are the same on
        every machine, so that a run has the same bits everywhere.
    memory : IndexMemory
        What an earlier index has remembered. Kept up to date.
    """

    def __init__(
        self,
        problem: Problem,
        bound: str | Bound,
        policy: ResortPolicy | None,
        memory: IndexMemory,
    ) -> None:
        self._index = SortedMargins(
            problem.rows,
            problem.signs,
            bound=bound,
            policy=policy or Measured(),
            sample_weight=problem.sample_weight,
        )
        self._loss: Any = get_pieces(problem.loss)  # as the index sees it, found once
        self._objective = mean_form(problem)
        self._memory = memory
        self._is_restored = memory.counts["stores"] == 0

    @property
    def penalty(self) -> float:
        """What half the square of a weight is multiplied with in this objective."""
        return self._objective.ridge

    def evaluate(
        self, w: Floats, b: float, out: Floats, threads: int, check: Check | None = None
    ) -> Evaluation:
        """Return the objective with a mean, penalty of the weights included, and its gradient.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            The weights.
        b : float
            The intercept.
        out : ndarray of shape (n_features,)
            Where to write the gradient.
        threads : int
            How many threads share out a pass.
        check : callable or None, default=None
            Called every few milliseconds; may raise to give up. What is remembered is then as it
            was, but the index may not be: make it anew.

        Returns
        -------
        Evaluation
            Value and gradient.
        """
        passes, stored = self._index.passes, self._index.stored
        passes.threads = threads
        passes.check = stored.check = check
        if not self._is_restored:
            self._restore()
        found = self._index.evaluate_into(out, w, b, self._loss, self._objective)
        passes.check = stored.check = None
        memory, record = self._memory, self._index.record
        if record.evaluations == 0:  # all margins were stored just now
            memory.points[0] = memory.points[1]
            memory.points[1, :-1], memory.points[1, -1] = w, b
            memory.counts["stores"] += 1
        for name in RECORD:
            memory.counts[name] = getattr(record, name)
        return found

    def _restore(self) -> None:
        """Do again what the rows' numbers depend on."""
        index, counts, points = self._index, self._memory.counts, self._memory.points
        for point in points[-min(counts["stores"], 2) :]:
            index.sort(point[:-1], float(point[-1]), self._loss)
        for name in RECORD:
            setattr(index.record, name, counts[name])
        self._is_restored = True


class EveryRow:
    """Evaluates the objective of a problem by looking at every row every time.

    Parameters
    ----------
    problem : Problem
        Rows, labels, weights and loss.
    """

    def __init__(self, problem: Problem) -> None:
        weights = problem.sample_weight
        self._rows = problem.rows
        self._pieces = get_pieces(problem.loss)
        self._objective = mean_form(problem)
        self._passes = Passes(
            problem.rows, problem.signs, np.ones(1) if weights is None else weights
        )
        total = float(problem.n_rows) if weights is None else float(weights.sum())
        self._rounding = Rounding(problem.rows, problem.n_rows, total, problem.largest_norm)
        self._margins = np.empty(problem.n_rows)
        # A slope of one needs no multiplying, and the vectors of a text set are long.
        self._in_one = self._pieces.slope == 1.0
        self._sums = Sums.empty(problem.n_features, in_one=self._in_one)

    @property
    def penalty(self) -> float:
        """What half the square of a weight is multiplied with in this objective."""
        return self._objective.ridge

    def evaluate(
        self, w: Floats, b: float, out: Floats, threads: int, check: Check | None = None
    ) -> Evaluation:
        """Return the objective with a mean, penalty of the weights included, and its gradient.

        Parameters
        ----------
        w : ndarray of shape (n_features,)
            The weights.
        b : float
            The intercept.
        out : ndarray of shape (n_features,)
            Where to write the gradient.
        threads : int
            How many threads share out a pass.
        check : callable or None, default=None
            Called every few milliseconds; may raise to give up.

        Returns
        -------
        Evaluation
            Value and gradient.
        """
        self._passes.threads, self._passes.check = threads, check
        pieces, n_rows = self._pieces, self._rows.n_rows
        sums = self._passes.all_rows(w, b, pieces, self._margins, self._sums)
        self._passes.check = None
        scale, ridge = self._objective
        square = dot(w, w)
        if self._in_one:
            combine(out, -scale, sums.curved, ridge, w)
        else:
            combine(out, -scale * pieces.slope, sums.linear, -scale, sums.curved, (ridge, w))
        value = scale * sums.value + 0.5 * ridge * square
        gradient_b = -scale * (pieces.slope * sums.linear_labels + sums.descent)
        bounds = self._rounding.bounds(math.sqrt(square), b, pieces, self._objective)
        return Evaluation(value, out, gradient_b, n_rows, *bounds)
