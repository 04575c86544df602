"""One class against the rest, for every class, over the same rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hinge.multiclass.binary_fits import Family, Plan, solve_family
from hinge.multiclass.labels import Labels, Objective, class_problem
from hinge.problem import Intercept
from hinge.result import Point, Solution
from hinge.rows import Rows
from hinge.solvers import StopFlag


def solve_one_vs_rest(
    rows: Rows,
    labels: Labels,
    objective: Objective,
    warm: Sequence[Point | None],
    plan: Plan,
    flag: StopFlag,
) -> list[Solution]:
    """Solve every binary problem and certify it.

    Parameters
    ----------
    rows : Rows
        The data, which all problems share.
    labels : Labels
        Labels and weights of the rows.
    objective : Objective
        Loss, C and intercept.
    warm : sequence of Point or None
        Where to start each of the ``labels.n_problems`` problems.
    plan : Plan
        Solver, limits, seed, threads and listeners.
    flag : StopFlag
        Ends everything when set.

    Returns
    -------
    list of Solution
        One for each problem, without their states, whatever ended them.
    """
    # What stands for a class whose turn never comes says of every row that it belongs to the
    # rest: a zero decision value would outbid the trained classes, whose own are mostly negative.
    intercept = 0.0 if objective.intercept is Intercept.NONE else -1.0
    family = Family(
        make=lambda number: class_problem(rows, labels, objective, number),
        untrained=lambda _: Point(np.zeros(rows.n_features), intercept),
    )
    return solve_family(family, warm, plan, flag)
