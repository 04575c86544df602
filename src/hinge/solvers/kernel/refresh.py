r"""Scores near the boundary, summed up anew in float64 before a run says that it has arrived.

A score is a sum of :math:`n_{SV}` float32 kernel values. What rounding does to it grows with their
number and with C; where it comes to a part of the violation that is aimed at, a certificate would
refuse the claim. So the scores of some rows near the boundary are looked at first, in float64. If
they are off by too much, those of all rows near the boundary are summed up anew, which are a tenth
of all perhaps. Other rows are too far from it to matter. The run goes on in float32: only what
changes from here on is rounded again (iterative refinement).
"""

from __future__ import annotations

import math

import numpy as np

from hinge.solvers.kernel.dual_state import (
    ROWS_A_STEP,
    VALUES_A_STEP,
    Ends,
    Floats,
    Ids,
    KernelState,
)

_FEW_ROWS = 4096  # of a problem: so few float32 values sum up well, or all in float64 soon
_SAMPLE = 64  # rows that are looked at, at the most
_TERMS = 4096  # support vectors at a time, at the most: what is made of them stays small
_TERM_BYTES = 1 << 23  # and no more of their values in float64
_WORST = 8.0  # how many times the root mean square an error of a row that counts may well be
_MARGIN = 12.0  # times it, and no error of any row is larger
_VALUE_ERROR = 4.0 * 2.0**-24  # of a float32 kernel value, in parts of the largest one
_PROGRESS = 0.5  # share of the last error that is left at the most when sums are made once more


def begin_refreshing(state: KernelState, gradient: Floats, ends: Ends) -> bool:
    """Begin to sum up the scores near the boundary anew, if they are not exact enough for the aim.

    Parameters
    ----------
    state : KernelState
        A run whose scores are complete, with a violation below its aim.
    gradient : ndarray
        The gradient.
    ends : Ends
        Where it is worst.

    Returns
    -------
    bool
        Whether it has begun.
    """
    if state.is_exact or len(state.beta) < _FEW_ROWS or _seems_exact(state):
        return False
    near = _near(state, gradient, ends, state.aim)
    if len(near) == 0:
        return False
    lost = _lost(state, np.ascontiguousarray(near[:: -(-len(near) // _SAMPLE)]))
    share = 0.5 if ends.is_balanced else 1.0  # of the violation, on either side of the intercept
    is_enough = share * ends.violation + _WORST * lost <= state.aim
    if is_enough or lost > _PROGRESS * state.lost:
        return False
    state.lost = lost
    state.to_refresh = _near(state, gradient, ends, state.aim + _MARGIN * lost)
    state.fresh = np.zeros(len(state.to_refresh))
    state.refreshed = 0
    return True


def advance_refreshing(state: KernelState) -> None:
    """Add some terms to the new sums; when all are there, these are the scores.

    Parameters
    ----------
    state : KernelState
        A run that has begun to sum up scores anew; its coefficients stay meanwhile.
    """
    rows = state.to_refresh
    support = np.flatnonzero(state.beta)
    limit = max(ROWS_A_STEP, VALUES_A_STEP // len(rows) // ROWS_A_STEP * ROWS_A_STEP)
    limit = min(limit, _most_terms(state))
    ids = support[state.refreshed : state.refreshed + limit]
    fresh = state.fresh.copy()
    state.source.add(ids, state.beta[ids], fresh, rows, exact=True)
    state.fresh, state.refreshed = fresh, state.refreshed + len(ids)
    if state.refreshed == len(support):
        scores = state.scores.copy()
        scores[rows] = fresh
        state.scores = scores
        state.to_refresh, state.fresh = np.zeros(0, dtype=np.int64), np.zeros(0)


def _seems_exact(state: KernelState) -> bool:
    """Return whether errors of kernel values add up to little, as independent ones do.

    That they are independent is no certainty, but neither is it the last word: the judge has it.
    """
    largest = float(np.max(state.problem.image_squares)) / state.source.unit
    spread = _VALUE_ERROR * largest * float(np.linalg.norm(state.beta))
    return _WORST * spread <= 0.5 * state.aim


def _near(state: KernelState, gradient: Floats, ends: Ends, margin: float) -> Ids:
    """Return the rows that would violate the conditions if their gradient were off by a margin."""
    program = state.program
    down, up = (ends.down, ends.up) if ends.is_balanced else (0.0, 0.0)
    grows, shrinks = state.beta < program.upper, state.beta > program.lower
    is_near = (grows & (gradient < down + margin)) | (shrinks & (gradient > up - margin))
    return np.flatnonzero(is_near & ~state.settled)


def _lost(state: KernelState, sample: Ids) -> float:
    """Return the root mean square of what some scores are off by."""
    support = np.flatnonzero(state.beta)
    exact = np.zeros(len(sample))
    most = _most_terms(state)
    for start in range(0, len(support), most):
        some = support[start : start + most]
        state.source.add(some, state.beta[some], exact, sample, exact=True)
    return math.sqrt(float(np.mean(np.square(exact - state.scores[sample]))))


def _most_terms(state: KernelState) -> int:
    """Return how many support vectors are taken at a time: whole panels, of which sums are made."""
    rows = state.problem.rows
    fit = int(_TERM_BYTES * rows.n_rows / (8.0 * max(1, rows.n_stored)))
    return min(max(ROWS_A_STEP, fit // ROWS_A_STEP * ROWS_A_STEP), _TERMS)
