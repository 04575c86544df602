r"""Decision values of machines of pairs of groups of rows, with a bound on every rounding error.

What :mod:`hinge.certificates.kernel_scores` does for one machine is done here for many that share
rows and support vectors: rows and support vectors are prepared once for all of them, and kernel
values of a group with itself are computed once (:mod:`hinge.certificates.pair_groups`). Support
vectors, and rows that float32 does not decide, are computed in float64. Of few rows, all kernel
values with all support vectors take less time than telling apart which ones are needed: these are
one panel, and the sums in all pairs one product.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_margins import Scores, surely_beyond
from hinge.certificates.kernel_pass import nothing
from hinge.certificates.kernel_scores import decides_most
from hinge.certificates.kernel_weights import PanelWeights
from hinge.certificates.pair_blocks import Block, Half
from hinge.certificates.pair_groups import PairPoints, Side
from hinge.certificates.pair_linear import PairWeights
from hinge.certificates.pair_tasks import (
    PANEL_ROWS,
    Arithmetic,
    SideScores,
    Task,
    total_scores,
)
from hinge.inequality import rounding_factor
from hinge.kernels import Linear

Flags = NDArray[np.bool_]
Check = Callable[[], None]

_TASK_ROWS = 2048
_TASK_VALUES = 1 << 23  # of a task: well below 200 ms, since only then check is asked
_FEW_VALUES = 1 << 20  # kernel values that float64 computes before float32 is prepared
_AT_ONCE = 1 << 18  # kernel values that are one panel, or values of its rows, and
_TERMS_AT_ONCE = 1 << 23  # terms of all sums over them


class PairScores:
    """Scores of all rows in all of their pairs.

    Parameters
    ----------
    points : PairPoints
        The points.
    threads : int
        Threads that share out rows.
    check : callable or None
        Called between tasks; may raise to abandon them.

    Attributes
    ----------
    sides : list of SideScores
        What is known, for every side of the points.
    whole : Scores or None
        Where all values are computed at once: the scores of the rows of all sides, one side after
        another, in every pair, those of other groups included; of shape (n_pairs, n).
    """

    def __init__(self, points: PairPoints, threads: int, check: Check | None) -> None:
        self.sides: list[SideScores] = []
        self._points = points
        self._threads = threads
        self._check = check
        counts = [np.count_nonzero(alpha) for pair in points.alpha for alpha in pair]
        self._terms = np.asarray(counts, dtype=np.float64).reshape(-1, 2).sum(axis=1)
        sums = np.asarray([float(np.sum(a) + np.sum(b)) for a, b in points.alpha])
        self._totals = sums * (1.0 + rounding_factor(int(max(counts, default=0)) + 4))
        self.whole: Scores | None = None
        if isinstance(points.kernel, Linear):
            self.sides = [SideScores(side) for side in points.sides]
            self._share_out(PairWeights(points, self._totals).tasks(self.sides, _TASK_ROWS))
            return
        self._exact = Arithmetic(points, np.float64)
        n, n_support = len(self._exact.every), len(self._exact.support)
        width = self._exact.panels.row_width(points.rows)
        terms = n * n_support * len(points.pairs)
        if n * max(n_support, width) <= _AT_ONCE and terms <= _TERMS_AT_ONCE:
            self.whole = self._at_once()
        else:
            self.sides = [SideScores(side) for side in points.sides]
            self._find()

    def of(self, place: int) -> Scores:
        """Return the scores of a side, in the shape of its pairs and rows, if not all are known.

        Parameters
        ----------
        place : int
            Which of the sides.
        """
        side = self._points.sides[place]
        terms, totals = self._terms[side.numbers, None], self._totals[side.numbers, None]
        return self.sides[place].scores(self._points.kernel, side, terms, totals)

    def _at_once(self) -> Scores:
        """Return the scores of all rows in all pairs, those of other groups included."""
        if self._check is not None:
            self._check()
        points, exact = self._points, self._exact
        n_pairs = len(points.pairs)
        panel = exact.panels.panel(points.rows, exact.every)
        columns = exact.panels.columns(points.rows, exact.support)
        # Sums over the second group of every pair, whose labels are +1, and over the first.
        weights = np.zeros((len(exact.support), 2, n_pairs))
        begin = 0
        for side in points.sides:
            own = slice(begin, begin + side.n_support)
            which = np.where(side.signs[:, 0] > 0.0, 0, 1)
            weights[own, which, side.numbers] = side.alpha[:, : side.n_support].T
            begin += side.n_support
        in_sums = weights.reshape(len(exact.support), 2 * n_pairs) * columns.factors[:, None]
        found = PanelWeights(in_sums, np.float64)
        values = exact.panels.values(panel, columns)
        plus, minus = (found.sums(values) * panel.factors[:, None]).T.reshape(2, n_pairs, -1)
        if points.kernel.is_never_negative:
            magnitude = plus + minus
        else:
            sizes = found.sums(np.abs(values, out=values)) * panel.factors[:, None]
            magnitude = sizes.T.reshape(2, n_pairs, -1).sum(axis=0)
        relative, absolute = exact.error(panel.norms)
        return total_scores(
            points.kernel,
            (plus, minus, magnitude),
            (relative, absolute),
            (self._terms[:, None], self._totals[:, None]),
        )

    def _find(self) -> None:
        """Compute all values, those that float32 decides in float32."""
        sides = self._points.sides
        values = sum(side.alpha.shape[1] * int(np.count_nonzero(side.alpha)) for side in sides)
        supports = [side.alpha != 0.0 for side in sides]
        if values <= _FEW_VALUES:
            every = [np.ones_like(support) for support in supports]
            self._compute(self._exact, every, is_first=True)
            return
        self._compute_support(supports)
        rest = [~support for support in supports]
        singles = Arithmetic(self._points, np.float32)
        if self._is_worth_it(singles):
            self._compute(singles, rest)
            rest = [self._open(place, some) for place, some in enumerate(rest)]
        self._compute(self._exact, rest)

    def _compute_support(self, supports: list[Flags]) -> None:
        """Compute the values of support vectors in their pairs, and their own sums in all."""
        self._compute(self._exact, supports, is_first=True, own_alone=True)
        halves: list[list[Half]] = [[] for _ in self._points.pairs]
        for side, scores in zip(self._points.sides, self.sides, strict=True):
            for place, number in enumerate(side.numbers):
                halves[number].append(Half(side, scores, place))
        blocks = [Block(one, two, self._exact, _TASK_VALUES) for one, two in halves]
        tasks = [(block, number) for block in blocks for number in range(len(block))]
        self._share_out([partial(block.run, number) for block, number in tasks])
        for block in blocks:
            block.finish()

    def _share_out(self, tasks: list[Callable[[], None]]) -> None:
        """Do all tasks, in any order."""
        if tasks:
            map_numbers(
                lambda number: tasks[number](),
                len(tasks),
                nothing,
                threads=self._threads,
                check=self._check,
            )

    def _compute(
        self,
        arithmetic: Arithmetic,
        wanted: list[Flags],
        *,
        is_first: bool = False,
        own_alone: bool = False,
    ) -> None:
        """Compute the values of some rows in some pairs, or with their own group alone."""
        arithmetic.prepare()
        tasks: list[Callable[[], None]] = []
        for side, scores, flags in zip(self._points.sides, self.sides, wanted, strict=True):
            rows = np.flatnonzero(flags.any(axis=0))
            # The first turn, in float64, has given support vectors their own sums in all pairs.
            first = 0 if is_first else side.n_support
            size = self._task_rows(side)
            for start in range(0, len(rows), size):
                part = rows[start : start + size]
                others = np.zeros_like(flags[:, part]) if own_alone else flags[:, part]
                tasks.append(partial(Task(side, scores, part, first, others).run, arithmetic))
        self._share_out(tasks)

    def _task_rows(self, side: Side) -> int:
        """Return how many rows of a group a task has."""
        facing = {side.group, *side.others}
        support = sum(some.n_support for some in self._points.sides if some.group in facing)
        return max(PANEL_ROWS, min(_TASK_ROWS, _TASK_VALUES // max(1, support)))

    def _open(self, place: int, wanted: Flags) -> Flags:
        """Return where float32 has not shown that a row's margin is beyond all losses."""
        side = self._points.sides[place]
        intercept = self._points.intercept[side.numbers, None]
        decided = surely_beyond(self._points.loss, side.signs, intercept, self.of(place))
        return np.asarray(wanted & ~decided)

    def _is_worth_it(self, singles: Arithmetic) -> bool:
        """Return whether float32 will decide so many rows that trying it first saves time."""
        sides = self._points.sides
        sizes = [
            scores.own_size[:, : side.n_support] + scores.other_size[:, : side.n_support]
            for side, scores in zip(sides, self.sides, strict=True)
        ]
        at_support = np.concatenate([size[size > 0.0] for size in sizes])
        if not len(at_support):
            return False
        largest = max(sides, key=lambda side: len(side.ids))
        sample = np.arange(0, len(largest.ids), max(1, len(largest.ids) // PANEL_ROWS))
        relative, absolute = singles.errors(largest, sample)
        return decides_most(
            relative * np.median(at_support) + absolute * float(np.max(self._totals))
        )
