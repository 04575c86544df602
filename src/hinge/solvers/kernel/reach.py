r"""How far coefficients may go where the dual program may have no optimum.

The dual coefficients of the squared hinge have no upper bound. With a kernel that is positive
semidefinite their curvature holds them: methods begin with an objective of at most 0 and never let
it rise, and :math:`\tfrac12 b'Kb \ge 0` leaves

.. math:: \sum_i \Bigl(\frac{\kappa}{2 c_i} \alpha_i^2 - p\,\alpha_i\Bigr) \le 0, \text{ so}
          \alpha_i \le \frac{p}{\kappa} \Bigl(c_i + \sqrt{c_i \textstyle\sum_j c_j}\Bigr) .

Any other kernel may have a direction along which the objective falls for ever, and coefficients
would grow until they are no numbers any more. So these get a bound, many times as far away as a
positive semidefinite kernel would let them go. A run that arrives at it rests there: its point is
finite, and the judge says what is wrong with it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hinge.kernels import Kernel
from hinge.losses import Loss
from hinge.problem import DualProgram, Problem

if TYPE_CHECKING:
    from hinge.solvers.kernel.dual_state import KernelState

_ROOM = 16.0  # times what no coefficient of a positive semidefinite kernel exceeds


def may_grow_for_ever(kernel: Kernel | None, loss: Loss) -> bool:
    """Return whether nothing holds the dual coefficients, for all that is known of the kernel.

    Parameters
    ----------
    kernel : Kernel or None
        The kernel of a problem.
    loss : Loss
        Its loss.
    """
    return kernel is not None and kernel.psd is not True and math.isinf(loss.dual_upper)


def held_within_reach(problem: Problem) -> DualProgram:
    """Return the dual program of a problem, with bounds where nothing else holds its variables.

    Parameters
    ----------
    problem : Problem
        A problem with a kernel.
    """
    dual = problem.dual()
    if not may_grow_for_ever(problem.kernel, problem.loss):
        return dual
    costs, loss = problem.costs, problem.loss
    held = costs + np.sqrt(costs) * math.sqrt(float(np.sum(costs)))
    reach = _ROOM * loss.dual_linear / loss.dual_curvature * held
    return replace(dual, lower=np.maximum(dual.lower, -reach), upper=np.minimum(dual.upper, reach))


def is_at_reach(state: KernelState) -> bool:
    """Return whether a coefficient has come to a bound that the problem itself does not have.

    Parameters
    ----------
    state : KernelState
        The run.
    """
    problem, program, beta = state.problem, state.program, state.beta
    if not may_grow_for_ever(problem.kernel, problem.loss):
        return False
    at_upper = (beta >= program.upper) & (program.upper > 0.0)
    at_lower = (beta <= program.lower) & (program.lower < 0.0)
    return bool(np.any(at_upper | at_lower))
