"""Pairs of classes that are solved and certified together, over what they share.

Tens of small problems are done before the interpreter has led through each of them: made it, driven
it, told of it, judged it. Here native code solves one after the other over kernel rows that they
share (:mod:`hinge.solvers.kernel.class_pairs`), and one certificate is made for all
(:mod:`hinge.certificates.pair_gap`). Points have the bits that they would have alone.

Whatever is more than that is left to others: pairs that native code does not finish, not in a part
of the time limit, or that the judge refuses, fits that somebody watches or wants to go on with
one by one, limits on steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_operands import MANY_FEATURES
from hinge.kernels import InnerProductKernel
from hinge.machines.native_rows import native_kernel
from hinge.machines.prepared import prepare_whole, quick_rows
from hinge.multiclass.binary_fits import Plan
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.labels import Objective
from hinge.multiclass.pair_batch import Deadlines, Ground, PairBatch
from hinge.multiclass.pair_memory import ROWS_TOGETHER, PairMemory
from hinge.problem import Intercept
from hinge.result import Point, Solution
from hinge.rows import Rows
from hinge.rows_part import SharedRows
from hinge.solvers import Decomposition, StopFlag
from hinge.solvers.kernel.class_pairs import MOST_FEATURES
from hinge.solvers.kernel.dual_state import COPY_SHARE
from hinge.solvers.kernel.reach import may_grow_for_ever
from hinge.solvers.kernel.resident import MOST_ROWS
from hinge.threads import single_threaded_blas

Ids = NDArray[np.int64]

_FEWEST = 3  # pairs: fewer share nothing
_SOLVING = 0.4  # share of a time limit: certificates take about as long, and others need some, too


def solve_together(
    rows: Rows | SharedRows,
    pairs: ClassPairs,
    objective: Objective,
    warm: Sequence[Point | None],
    plan: Plan,
    flag: StopFlag,
) -> dict[int, Solution]:
    """Solve pairs of classes that can be solved together, and certify them.

    Parameters
    ----------
    rows : Rows or SharedRows
        The data; what is not shared is not for this.
    pairs : ClassPairs
        The pairs, with labels and weights of the rows.
    objective : Objective
        Loss, C, intercept and kernel.
    warm : sequence of Point or None
        Where to start each of the problems.
    plan : Plan
        Solver, limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.

    Returns
    -------
    dict of int to Solution
        Solutions by the number of their pair, without states. Once the flag is set or the time is
        over, there may be some among them of which nothing is proven.
    """
    found: dict[int, Solution] = {}
    if not isinstance(rows, SharedRows) or any(point is not None for point in warm):
        return found
    if objective.intercept is not Intercept.FREE or not _takes(plan):
        return found
    ground = _ground(rows, objective, plan)
    if ground is None:
        return found
    limit = math.inf if plan.stop.seconds is None else plan.stop.seconds
    began = time.perf_counter()
    deadlines = Deadlines(began + _SOLVING * limit, began + limit)
    with single_threaded_blas():
        for numbers in batches(pairs, ground.memory.most_rows):
            is_over = flag or time.perf_counter() > deadlines.solving
            if len(numbers) >= _FEWEST and not is_over:
                batch = PairBatch(ground, pairs, objective, numbers)
                if batch.has_usable_costs:
                    found.update(batch.solve(plan, flag, deadlines))
    return found


def _takes(plan: Plan) -> bool:
    """Return whether nobody wants more of a fit than where its solver first arrives."""
    stop, solver = plan.stop, plan.solver
    goes_on = plan.finish is not None and plan.finish_pairs is None
    if plan.listeners or plan.resume is not None or goes_on or stop.steps is not None:
        return False
    if not (isinstance(solver, Decomposition) and solver.takes_native_rounds):
        return False
    return stop.gap is None and stop.kkt is not None and solver.tolerance <= stop.kkt


def _ground(shared: SharedRows, objective: Objective, plan: Plan) -> Ground | None:
    """Return what pairs are solved over; None if kernel values are not float32 ones of products."""
    kernel, solver, rows = objective.kernel, plan.solver, shared.rows
    assert isinstance(solver, Decomposition)
    most = MANY_FEATURES if rows.is_sparse else MOST_FEATURES
    if not isinstance(kernel, InnerProductKernel) or rows.n_features > most:
        return None
    if may_grow_for_ever(kernel, objective.loss):
        return None  # whoever solves pairs one by one knows how to end
    native = native_kernel(kernel.on(rows))
    if native is None:
        return None
    # One copy of the rows serves all pairs, and has its part of what they have together.
    cache_mb = solver.cache_mb * (plan.at_once or 1)
    spare = COPY_SHARE * cache_mb
    prepared = prepare_whole(kernel, native, shared, spare)
    quick: Any = None if prepared is None else quick_rows(prepared)
    if prepared is None or quick is None or prepared.manner.unit != 1.0:
        return None
    return Ground(shared, quick, PairMemory(cache_mb, prepared.copy_mb))


def batches(pairs: ClassPairs, most_rows: int = ROWS_TOGETHER) -> list[list[int]]:
    """Return small pairs in groups of which each has few classes, and not too many rows.

    Parameters
    ----------
    pairs : ClassPairs
        The pairs.
    most_rows : int, default=262144
        The most rows of a group, each counted in all of its pairs.

    Returns
    -------
    list of list of int
        Numbers of pairs. The pairs of a group are those of some classes with some others.
    """
    first, second = np.asarray(pairs.pairs, dtype=np.int64).T
    count = len(pairs.labels.classes)
    rows = np.asarray([len(pairs.rows_of_class(which)) for which in range(count)])
    sizes = rows[first] + rows[second]
    small = np.flatnonzero(sizes <= MOST_ROWS)
    if np.sum(sizes[small]) <= most_rows:
        return [small.tolist()] if len(small) else []
    width = count  # of a block of classes
    while True:
        keys = (first[small] // width) * count + second[small] // width
        _, groups = np.unique(keys, return_inverse=True)
        totals = np.bincount(groups, weights=sizes[small])
        if width == 1 or np.max(totals) <= most_rows:
            break
        width = -(-width // 2)
    return [small[groups == k].tolist() for k in range(len(totals))]
