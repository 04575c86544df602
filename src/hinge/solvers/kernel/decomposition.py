r"""Decomposition: a working set of many rows at a time, solved in the cache.

.. math:: \min_\beta \tfrac12 \beta'(K + D)\beta - p'\beta \quad\text{subject to}\quad
          l \le \beta \le u, \quad \sum_i \beta_i = 0 \text{ (free intercept)}

With the gradient :math:`e = K\beta + D\beta - p`, a round is

1. choose the working set: the rows that violate the optimality conditions most on either side (the
   first-order rule of SVMlight [1]_), and those of the last set that are strictly inside their
   bounds, since they move together;
2. solve the program over the working set, all else fixed, by pairs of the second-order rule
   (``cpp/include/hinge/working_set.hpp``) or by gradient projection
   (:mod:`hinge.solvers.kernel.projected_set`, as PGPDT does it [3]_), until its violation is a
   tenth of what it was;
3. add the kernel rows of what has changed to the scores of all rows.

Only rows whose coefficient has changed cost kernel values, each about as many as there are rows: a
run computes hardly more than the support vectors' rows of K, which is what any exact method must.
Rows that end strictly inside their bounds are kept in a cache, since they will be back; those that
went to a bound are added without being stored.

Where many rows end strictly inside their bounds, Newton's steps on all of them take the place of
rounds (:mod:`hinge.solvers.kernel.newton_rounds`).

*Shrinking*: rows at a bound that none of the others can draw away from it rest; they rejoin, their
scores brought up to date in one pass, when the others violate the conditions by no more than the
aim. While rows rest, kernel rows are computed for the others alone, and stored only where a place
is free: a stored row is computed everywhere.

*Screening* is exact: with the absolute gap g of the run's own values, the optimal function differs
from the current one by at most :math:`\sqrt{2 g}\,\sqrt{k(x, x)}` at x, and rows whose margin
stays on its side of the corner wherever the optimum lies are settled for good. It decides something
only when the gap is below about one.

Kernel values are float32. Where their sums are not exact enough for the aim, those near the
boundary are made anew in float64 before the run says that it has arrived
(:mod:`hinge.solvers.kernel.refresh`). Where the judge refuses that all the same, or nothing moves
any more, all scores are summed up anew in float64 and the run goes on in that precision; a working
set that pairs do not finish is helped by Newton steps (:mod:`hinge.solvers.kernel.inside_steps`)
and by rounds of the active set method (:mod:`hinge.solvers.kernel.set_rounds`).

Different from the paper: sets of hundreds instead of ten rows, the pair rule inside, the deferred
sums of resting rows, and the exact screening.

References
----------
.. [1] T. Joachims, "Making large-scale SVM learning practical", in Advances in Kernel Methods,
   1999.
.. [2] R.-E. Fan, P.-H. Chen and C.-J. Lin, "Working set selection using second order information
   for training support vector machines", JMLR 6, 2005.
.. [3] L. Zanni, T. Serafini and G. Zanghirati, "Parallel software for training large scale support
   vector machines on multiprocessor systems", JMLR 7, 2006.
"""

from __future__ import annotations

from typing import ClassVar

from hinge.errors import unknown_name
from hinge.parameters import count
from hinge.solvers.kernel.dual_solver import DualSolver, let_rest
from hinge.solvers.kernel.dual_state import Ends, Floats, KernelState
from hinge.solvers.kernel.newton_rounds import improve_by_newton, note_pairs
from hinge.solvers.kernel.resident import improve_resident
from hinge.solvers.kernel.working_sets import INNER_SOLVERS, improve_working_set

_ROUNDS_TO_REST = 8  # rounds between two looks for rows that may rest


class Decomposition(DualSolver):
    """Working sets of many rows, solved by pairs in the cache.

    Parameters
    ----------
    cache_mb : float, default=200.0
        Memory for kept kernel rows, in megabytes.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out of the sums until the end.
    working_set : int or None, default=None
        Rows of a working set; None is twice as many as are strictly inside their bounds, between
        512 (a sixteenth of all rows if that is less, but 64) and 2048, and all of up to 256 rows.
    tolerance : float, default=1e-3
        Violation at which resting rows rejoin; the run goes on below it if asked to.
    inner : {"pairs", "gradient-projection"}, default="pairs"
        How a working set is solved.

    Examples
    --------
    >>> import hinge
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0]
    >>> problem = hinge.Problem(X, y, C=10.0, kernel="rbf")
    >>> solution = hinge.solve(problem, solver=Decomposition(), stop=hinge.Stop(gap=1e-6))
    >>> str(solution.status)
    'solved'
    """

    name: ClassVar[str] = "decomposition"

    def __init__(
        self,
        cache_mb: float = 200.0,
        shrinking: bool = True,
        working_set: int | None = None,
        tolerance: float = 1e-3,
        inner: str = "pairs",
    ) -> None:
        super().__init__(cache_mb, shrinking, tolerance)
        self.working_set = (
            None if working_set is None else max(2, count(working_set, "working_set"))
        )
        if inner not in INNER_SOLVERS:
            raise unknown_name(inner, "inner", INNER_SOLVERS)
        self.inner = inner

    @property
    def takes_native_rounds(self) -> bool:
        """Whether small problems may be led through their rounds by native code."""
        return self.working_set is None and self.inner == "pairs"

    def improve(self, state: KernelState, gradient: Floats, ends: Ends) -> int:
        """Choose and solve a working set; its changes go into the queue.

        On small problems native code does that round after round. Rows inside their bounds are
        moved all at once where that is cheaper.
        """
        before = state.steps
        if self.takes_native_rounds:
            if improve_by_newton(state, gradient, ends):
                return len(state.previous) ** 2
            if improve_resident(state):
                note_pairs(state, state.steps - before, len(state.previous), ends)
                return 0
        is_time = state.rounds % _ROUNDS_TO_REST == _ROUNDS_TO_REST - 1
        if self.shrinking and is_time and not state.is_exact:
            let_rest(state, gradient, ends)
        improve_working_set(state, gradient, ends, size=self.working_set, inner=self.inner)
        note_pairs(state, state.steps - before, len(state.previous), ends)
        return 0
