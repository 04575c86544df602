"""Where a path of many values of C is read off the exact one.

One walk from the smallest value to the largest passes all of them, and costs the same however many
they are: about as many corners as rows. Values solved each from its neighbour cost as much each,
and more for smaller gaps. Measured from C = 0.01 to 100 (sonar, haberman, the first 2,000 rows of
adult), the walk is the faster one from 15, 9 and 38 values on at a gap of 1e-6, and from 27, 28 and
63 at 1e-3.
"""

from __future__ import annotations

from hinge.problem import Problem
from hinge.result import Point
from hinge.solvers.interrupt import StopFlag
from hinge.solvers.kernel.exact_path import walk

_CACHE_MB = 200.0
_MOST_ROWS = 2000  # a walk is not shown to observers: it must be short
_SMALL_GAP = 1e-5
_FEWEST, _FEWEST_LOOSE = 16, 32  # values, for small gaps and for others
_ROWS_A_VALUE, _ROWS_A_VALUE_LOOSE = 40, 30


def is_worth_a_walk(problem: Problem, n_values: int, gap: float | None) -> bool:
    """Return whether values of C are many enough for the exact path to be the fastest way.

    Parameters
    ----------
    problem : Problem
        What to solve.
    n_values : int
        Different values of C.
    gap : float or None
        The relative gap that is asked for.
    """
    if problem.kernel is None or problem.kernel.psd is not True or problem.loss.name != "hinge":
        return False
    if problem.n_rows > _MOST_ROWS:
        return False
    if gap is not None and gap <= _SMALL_GAP:
        return n_values >= max(_FEWEST, problem.n_rows // _ROWS_A_VALUE)
    return n_values >= max(_FEWEST_LOOSE, problem.n_rows // _ROWS_A_VALUE_LOOSE)


def exact_points(
    problem: Problem, Cs: list[float], seconds: float | None, flag: StopFlag
) -> dict[float, Point]:
    """Return the points of the exact path at some values of C, as far as it could be walked.

    Parameters
    ----------
    problem : Problem
        One that is worth a walk.
    Cs : list of float
        Different values, the smallest first.
    seconds : float or None
        The most time to take.
    flag : StopFlag
        Ends the walk when set.
    """
    path = walk(problem, Cs[0], Cs[-1], _CACHE_MB, seconds, flag)
    if not path.pieces:
        return {}
    return {C: path.point(C) for C in Cs if path.Cs[0] <= C <= path.Cs[-1]}
