"""Some pairs of classes, solved side by side and judged at once; see together.py."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.gap import gap
from hinge.certificates.pair_gap import pair_gaps
from hinge.certificates.pair_groups import PairPoints
from hinge.kernels import InnerProductKernel
from hinge.multiclass.binary_fits import Plan
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.labels import Objective
from hinge.multiclass.pair_memory import PairMemory
from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.result import Certificate, Point, Solution, Status, Trace, TraceRecord
from hinge.rows_part import SharedRows
from hinge.solvers import Decomposition, StopFlag
from hinge.solvers.kernel.class_pairs import PairEnd, PairSettings, PairSolver, SolvedPair
from hinge.solvers.kernel.set_memory import largest_set

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Ends = dict[int, tuple[PairEnd, float]]  # where pairs have arrived, and how long it took

_PANEL_ROWS = 64  # of a panel of packed rows, however few of them are there
_STORED_ROWS = 256  # for which memory is taken at a time, at the most (row_store.hpp)
_UNPROVEN = {
    Status.INTERRUPTED: "interrupted before the first certificate: nothing is proven",
    Status.TIME_LIMIT: "the time limit came before the first certificate: nothing is proven",
}


@dataclass(frozen=True)
class Ground:
    """What pairs of classes are solved over.

    Parameters
    ----------
    shared : SharedRows
        The rows.
    native : core.KernelRowsFloat
        The rows as native code takes kernel values of them, in float32.
    memory : PairMemory
        What pairs may take.
    """

    shared: SharedRows
    native: Any
    memory: PairMemory


@dataclass(frozen=True)
class Deadlines:
    """When to end, by the clock of ``time.perf_counter``.

    Parameters
    ----------
    solving : float
        When no further pair is solved.
    judging : float
        When no further certificate is made.
    """

    solving: float = math.inf
    judging: float = math.inf


class _Stopped(Exception):  # noqa: N818 - an event, not an error
    """The fit has been told to end, or its time is over."""


class PairBatch:
    """Pairs of classes that are solved side by side.

    Parameters
    ----------
    ground : Ground
        What they are solved over.
    pairs : ClassPairs
        All pairs.
    objective : Objective
        Loss, C, intercept and kernel.
    numbers : list of int
        Which of the pairs.
    """

    def __init__(
        self, ground: Ground, pairs: ClassPairs, objective: Objective, numbers: list[int]
    ) -> None:
        self._ground = ground
        self._pairs = pairs
        self._objective = objective
        self._numbers = numbers
        self._classes = sorted({which for number in numbers for which in pairs.pairs[number]})
        self._places = {which: k for k, which in enumerate(self._classes)}
        places = ground.shared.places
        self._rows = [places(pairs.rows_of_class(which)) for which in self._classes]
        with np.errstate(over="ignore", under="ignore"):
            self._costs = [objective.C * pairs.weights_of_class(which) for which in self._classes]

    @property
    def has_usable_costs(self) -> bool:
        """Whether all costs are numbers that a problem takes; it says what is wrong with others."""
        return all(bool(np.all((costs > 0.0) & np.isfinite(costs))) for costs in self._costs)

    def solve(
        self, plan: Plan, flag: StopFlag, deadlines: Deadlines = Deadlines()
    ) -> dict[int, Solution]:
        """Return the solutions of pairs that are solved and certified, by number.

        Parameters
        ----------
        plan : Plan
            Solver, criteria, seed and threads.
        flag : StopFlag
            Ends everything when set; what has been solved by then is returned without a proof.
        deadlines : Deadlines
            When to end. Pairs that are not solved by then are left to others; if there is no time
            for certificates either, what has been solved is returned without a proof.
        """

        def check_until(end: float) -> Callable[[], None]:
            def check() -> None:
                if flag or time.perf_counter() > end:
                    raise _Stopped

            return check

        decided = self._settings(plan)
        if decided is None:
            return {}
        settings, workers = decided
        solver = self._solver(settings)
        ends = self._solved(solver, workers, flag, check_until(deadlines.solving))
        if not self._ground.memory.keeps(solver.most_bytes, self._n_rows):
            solver.release()  # certificates have the memory of kernel rows
        self._ground.memory.give_back()
        solutions = self._solutions(ends, plan, flag, check_until(deadlines.judging))
        if plan.finish_pairs is not None and not flag:
            solved = {
                number: self._solved_pair(solver, number, *ends[number]) for number in solutions
            }
            plan.finish_pairs(solved, workers)
        return solutions

    def _solutions(
        self, ends: Ends, plan: Plan, flag: StopFlag, check: Callable[[], None]
    ) -> dict[int, Solution]:
        """Return the solutions of pairs that the judge does not refuse."""
        began = time.perf_counter()
        try:
            found = self._judged(ends, plan.threads, check)
        except _Stopped:
            status = Status.INTERRUPTED if flag else Status.TIME_LIMIT
            inf = math.inf
            none = Certificate(math.nan, -inf, inf, inf, inf, inf, (_UNPROVEN[status],))
            return {
                number: replace(self._solution(*end, none, 0.0, plan), status=status, trace=Trace())
                for number, end in ends.items()
            }
        # Threads share the work on all of them: each has an equal part of the time of all threads.
        seconds = (time.perf_counter() - began) * plan.threads / max(1, len(ends))
        return {
            number: self._solution(*ends[number], certificate, seconds, plan)
            for number, certificate in found.items()
            if plan.stop.satisfied_by(certificate)
        }

    @property
    def _n_rows(self) -> int:
        """How many rows all pairs have, each with its own."""
        return sum(self._pairs.size(number) for number in self._numbers)

    def _workers(self, plan: Plan) -> int:
        """Return how many pairs are solved at a time."""
        most = len(self._numbers) if plan.at_once is None else plan.at_once
        return max(1, min(plan.threads, most, len(self._numbers)))

    def _solver(self, settings: PairSettings) -> PairSolver:
        stored = [self._stored(rows) for rows in self._rows]
        given = self._rows, self._costs, stored
        return PairSolver(self._ground.native, *given, self._objective.loss, settings)

    def _classes_of(self, number: int) -> tuple[int, int]:
        """Return the classes of a pair as places among those of this batch."""
        first, second = self._pairs.pairs[number]
        return self._places[first], self._places[second]

    def _solved_pair(self, solver: PairSolver, number: int, end: PairEnd, _: float) -> SolvedPair:
        weights = [self._pairs.weights_of_class(which) for which in self._pairs.pairs[number]]
        return SolvedPair(solver, self._classes_of(number), end, np.concatenate(weights))

    def _solved(self, solver: PairSolver, workers: int, flag: StopFlag, check: Any) -> Ends:
        """Return where pairs arrive; those are left out that do not."""
        found: Ends = {}

        def work(number: int, _: HandOver) -> None:
            began = time.perf_counter()
            try:
                check()
                end = solver.solve(*self._classes_of(number), check)
            except _Stopped:
                return
            if end is not None:
                found[number] = (end, time.perf_counter() - began)

        # The largest first, so that none is left over when all others are done.
        order = sorted(self._numbers, key=lambda number: -self._pairs.size(number))
        if workers == 1:
            for number in order:
                work(number, call_here)
        else:
            map_in_threads(work, order, workers, flag.set)
        return {number: found[number] for number in self._numbers if number in found}

    def _settings(self, plan: Plan) -> tuple[PairSettings, int] | None:
        """Return how pairs are solved, and how many at a time; None if there is no memory for one.

        Whether there is, must not depend on the number of threads: it decides how pairs are
        certified, and so the last bits of the certificates.
        """
        solver = plan.solver
        assert isinstance(solver, Decomposition)
        most = largest_set(solver.cache_mb)
        largest = max(self._pairs.size(number) for number in self._numbers)
        counts = [len(rows) for rows in self._rows]
        panels = sum(-(-count // _PANEL_ROWS) * _PANEL_ROWS for count in counts)
        packed = panels * self._ground.shared.rows.n_features
        # A pair has its kernel matrix, and its working set's: what is picked and what is new.
        each = largest**2 + 2 * min(largest, most) ** 2 + _STORED_ROWS * largest
        memory = self._ground.memory.kernel_bytes(sum(counts), self._n_rows)
        left = memory / 4.0 - packed - _STORED_ROWS * sum(counts)
        if left < each:
            return None
        workers = min(self._workers(plan), int(left // each))
        return PairSettings(solver.tolerance, most, 4.0 * (left - workers * each) / 2**20), workers

    def _stored(self, rows: Ids) -> int:
        """Return how many values are stored of some rows."""
        whole = self._ground.shared.rows
        if not whole.is_sparse:
            return len(rows) * whole.n_features
        return int(np.sum(whole.indptr[rows + 1] - whole.indptr[rows], dtype=np.int64))

    def _judged(self, ends: Ends, threads: int, check: Any) -> dict[int, Certificate]:
        """Return the certificates of pairs that have arrived."""
        check()
        kernel, rows = self._objective.kernel, self._ground.shared.rows
        assert isinstance(kernel, InnerProductKernel)
        pairs = [self._classes_of(number) for number in ends]
        alpha = []
        for (first, _), (end, _) in zip(pairs, ends.values(), strict=True):
            cut = len(self._rows[first])
            alpha.append((end.alpha[:cut], end.alpha[cut:]))
        intercept = np.asarray([end.intercept for end, _ in ends.values()])
        points = PairPoints(
            kernel, self._objective.loss, rows, self._rows, self._costs, pairs, alpha, intercept
        )
        support = sum(side.n_support for side in points.sides)
        most = self._ground.memory.support_bytes(sum(len(a) + len(b) for a, b in alpha))
        if support * rows.n_features * 12 <= most and self._can_be_judged(points):
            found = dict(zip(ends, pair_gaps(points, threads=threads, check=check), strict=True))
        else:
            found = self._judged_apart(ends, threads, check)
        if self._ground.memory.is_tight:
            for certificate in found.values():
                if certificate.region is not None:
                    certificate.region.complete()  # or the scores of all pairs would be kept
        return found

    def _judged_apart(self, ends: Ends, threads: int, check: Any) -> dict[int, Certificate]:
        """Return the certificates of pairs, made one by one."""
        return {
            number: gap(
                self._pairs.problem(self._ground.shared, self._objective, number),
                Point(np.zeros(0), end.intercept, end.alpha),
                threads=threads,
                check=check,
            )
            for number, (end, _) in ends.items()
        }

    @staticmethod
    def _can_be_judged(points: PairPoints) -> bool:
        """Return whether all points are finite, and none is zero."""
        has_terms = all(a.any() and b.any() for a, b in points.alpha)
        finite = all(np.isfinite(a).all() and np.isfinite(b).all() for a, b in points.alpha)
        return bool(
            len(points.pairs) and has_terms and finite and np.isfinite(points.intercept).all()
        )

    def _solution(
        self, end: PairEnd, seconds: float, certificate: Certificate, judging: float, plan: Plan
    ) -> Solution:
        """Return what has come of a pair that is solved."""
        solver = plan.solver
        assert isinstance(solver, Decomposition)
        record = TraceRecord(
            seconds + judging,
            end.steps,
            end.work,
            certificate.primal,
            certificate.dual,
            certificate.relative_gap,
            certified=True,
        )
        return Solution(
            point=Point(np.zeros(0), end.intercept, end.alpha),
            certificate=certificate,
            trace=Trace((record,)),
            status=Status.SOLVED,
            state=None,
            solver=solver.name,
            seed=plan.seed,
            steps=end.steps,
            work=end.work,
            seconds=seconds + judging,
            certificate_seconds=judging,
        )
