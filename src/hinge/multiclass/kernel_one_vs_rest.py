"""One class against the rest with a kernel, for every class, over rows of one kernel matrix.

Classes are solved one after the other, and threads share out the work on one. Each begins with the
kernel rows that the ones before it have kept, so that one cache serves all of them: a row that is
in it is computed once. What is kept depends on the data alone, never on threads, and so do the last
bits of the sums that are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hinge.multiclass.binary_fits import Family, Plan, solve_family
from hinge.multiclass.class_rest import ClassesAgainstRest
from hinge.multiclass.labels import Objective
from hinge.multiclass.shared_support import without_data
from hinge.result import Point, Solution
from hinge.rows import Rows
from hinge.solvers import StopFlag
from hinge.solvers.kernel.carry import KernelRelay
from hinge.solvers.kernel.dual_solver import DualSolver


def solve_against_rest(
    rows: Rows,
    classes: ClassesAgainstRest,
    objective: Objective,
    warm: Sequence[Point | None],
    plan: Plan,
    flag: StopFlag,
) -> list[Solution]:
    """Solve the problem of every class against the rest and certify it.

    Parameters
    ----------
    rows : Rows
        The data, which all problems share.
    classes : ClassesAgainstRest
        The classes, with labels and weights of the rows.
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
        One for each class, without their states, whatever ended them.
    """
    count = len(classes.labels.codes)
    family = Family(
        make=lambda number: classes.problem(rows, objective, number),
        # As for linear machines: a zero decision value would outbid the trained classes.
        untrained=lambda _: Point(np.zeros(0), -1.0, np.zeros(count)),
        relay=(KernelRelay(has_other_labels=True) if isinstance(plan.solver, DualSolver) else None),
    )
    solutions = solve_family(family, warm, replace(plan, at_once=1), flag)
    return without_data(solutions)
