"""Every class against every other: one binary problem per pair, over the rows of the two alone.

Small problems of many pairs are solved together (:mod:`hinge.multiclass.together`), others one by
one.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hinge.multiclass.binary_fits import Family, Plan, solve_family
from hinge.multiclass.class_pairs import ClassPairs
from hinge.multiclass.labels import Objective
from hinge.multiclass.shared_support import without_data
from hinge.multiclass.together import solve_together
from hinge.result import Point, Solution
from hinge.rows import Rows
from hinge.solvers import StopFlag


def solve_one_vs_one(
    rows: Rows,
    pairs: ClassPairs,
    objective: Objective,
    warm: Sequence[Point | None],
    plan: Plan,
    flag: StopFlag,
) -> list[Solution]:
    """Solve the problem of every pair of classes and certify it.

    Parameters
    ----------
    rows : Rows
        The data.
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
    list of Solution
        One for each pair, without their states, whatever ended them. Dual coefficients are those
        of ``pairs.rows_of(number)``.
    """
    began = time.perf_counter()
    shared = pairs.shared(rows, objective.kernel)
    solutions = solve_together(shared, pairs, objective, warm, plan, flag)
    left = [number for number in range(len(pairs)) if number not in solutions]
    if not left:
        return without_data([solutions[number] for number in range(len(pairs))])
    family = Family(
        make=lambda place: pairs.problem(shared, objective, left[place]),
        untrained=lambda place: Point(np.zeros(0), 0.0, np.zeros(pairs.size(left[place]))),
        unit=pairs.unit,
    )
    if plan.finish is not None:
        finish = plan.finish
        plan = replace(plan, finish=lambda place, *solved: finish(left[place], *solved))
    if plan.stop.seconds is not None:
        seconds = max(0.0, plan.stop.seconds - (time.perf_counter() - began))
        plan = replace(plan, stop=replace(plan.stop, seconds=seconds))
    rest = solve_family(family, [warm[number] for number in left], plan, flag)
    solutions.update(zip(left, rest, strict=True))
    return without_data([solutions[number] for number in range(len(pairs))])
