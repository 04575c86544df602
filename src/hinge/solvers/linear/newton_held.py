r"""Coefficients held near known ones: how Newton's method goes on where it would zigzag.

The dual is maximised less :math:`\tfrac{\rho}{2} \sum_i c_i (a_i - \bar a_i)^2`, where
:math:`a_i = \alpha_i / c_i` and :math:`\bar a` is where the time before has ended. In the primal
that is the same loss with a parabola that is wider by the spread :math:`\rho`, looked at a margin
of :math:`m_i - \rho \bar a_i`. However large C is, the second derivatives are so at most
:math:`c_i/\rho`, and the gap goes to zero with the distance of a from :math:`\bar a` and not with
:math:`\rho`: it is the proximal point method, or that of multipliers, whose steps solve a smooth
problem each.

A parabola that only becomes narrower looks for slopes from the middle of the corner; where classes
are apart, and C is far larger than any coefficient, all of them are at its upper end, and a
narrower one holds no row at all.
Reference: R. T. Rockafellar, Augmented Lagrangians and applications of the proximal point algorithm
in convex programming, 1976; Y. Yan and Q. Li, An efficient augmented Lagrangian method for support
vector machine, 2020. Ours: what holding is begun with, the pair of the best weights and the
coefficients that others are held near, and when the spread shrinks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hinge.problem import Problem
from hinge.solvers.linear.newton_state import EASY, NewtonState

Floats = NDArray[np.float64]

# Rows in the window for each weight: with fewer, a narrower one would leave directions without any.
_CROWDED = 16
# Steps that find no end, of a loss with a corner and of others; or so many one after the other that
# are so short. Where steps end by themselves, up to 23, 16 and 3 of them do.
_PATIENCE, _PATIENCE_SMOOTH = 20, 40
_MOST_SHORT, _SHORT = 8, 0.05
_ROUGH = 0.5  # relative gap up to which there are coefficients worth holding others near
_LEAST_SPREAD = 1e-3
_STIFFEST = 1e16  # mean second derivative beside that of the norm that a spread may leave
# What the spread is divided by after so many steps at the most; after too many it grows again.
_QUICK, _QUICKLY = 3, 8.0
_SOON, _SOONER = 8, 3.0
_LATE, _LATER = 25, 8.0
_TOO_LATE = 40  # steps after which coefficients are taken as they are
_SHARE = 0.05  # of how far coefficients have come: the gap that a problem may be left with
_ROUNDING = 1e-17  # the same in objectives
_SYSTEM = 1e-3  # the same share for one system
_NARROWER, _GAIN = 0.9, 0.1  # what the gap must become of before, or the dual value gain
_MOST_IDLE = 8


def finds_no_end(state: NewtonState) -> bool:
    """Return whether the steps on a loss have become so many, or so short, that they zigzag.

    Parameters
    ----------
    state : NewtonState
        A run with its gradient.
    """
    patience = _PATIENCE if state.smoothing else _PATIENCE_SMOOTH
    return state.tried >= patience or state.short >= _MOST_SHORT


def holds_enough_rows(state: NewtonState) -> bool:
    """Return whether there will be rows for every direction in a narrower window.

    Parameters
    ----------
    state : NewtonState
        A run with its gradient.
    """
    return state.curved >= _CROWDED * len(state.weights)


def may_hold(state: NewtonState) -> bool:
    """Return whether coefficients can be held, and are not yet.

    Parameters
    ----------
    state : NewtonState
        A run.
    """
    return not state.spread and math.isfinite(_stiffness(state.problem))


def count_short(state: NewtonState) -> None:
    """Count the step that has been taken, if one has.

    Parameters
    ----------
    state : NewtonState
        A run with its gradient.
    """
    if state.length:
        state.tried += 1
        state.short = state.short + 1 if state.length < _SHORT else 0


def begin_to_hold(state: NewtonState) -> None:
    """Go on with coefficients held near the present ones, or near zero if these are poor.

    Parameters
    ----------
    state : NewtonState
        A run over all rows, with its gradient.
    """
    gap = state.primal - state.dual
    state.best_primal = state.value_at_zero
    state.best_weights[...] = 0.0
    knows = state.is_final and gap <= _ROUGH * state.primal
    if state.is_final:
        keep_best(state)
    state.held_scale = 1.0
    if knows:
        spread = 2.0 * state.smoothing or state.problem.loss.dual_curvature
        _put_offset(state, state.scale * spread)
        state.held_dual = state.dual
    else:
        spread = max(_stiffness(state.problem) / EASY, _LEAST_SPREAD)
        state.offset[...] = 0.0
        state.held_dual = 0.0
    state.ease = 1.0
    state.is_warm = False
    state.wider[...] = 0.0
    state.foreseen[...] = 0.0
    state.spread = spread
    state.to_level(state.level)


def hold_anew(state: NewtonState) -> bool:
    """Hold coefficients near those that have been found; return whether that still helps.

    Parameters
    ----------
    state : NewtonState
        A run that has arrived at the best coefficients near others.
    """
    gap = state.primal - state.dual
    gain = state.dual - state.held_dual
    helps = gap < _NARROWER * state.smallest_gap or gain > _GAIN * abs(state.held_dual)
    idle = 0 if helps else state.idle + 1
    smallest = min(gap, state.smallest_gap)
    state.held_dual, state.held_scale = state.dual, state.scale
    spread = max(_next_spread(state), _stiffness(state.problem) / _STIFFEST)
    _put_offset(state, spread)
    state.spread = spread
    # Margins are computed anew: what has been added to them is most of their rounding.
    state.to_level(state.level)
    state.smallest_gap, state.idle = smallest, idle
    return idle < _MOST_IDLE


def keep_best(state: NewtonState) -> None:
    """Keep the weights if none have had a smaller objective.

    Parameters
    ----------
    state : NewtonState
        A run on the problem itself, with its gradient.
    """
    if state.primal < state.best_primal:
        state.best_primal = state.primal
        state.best_weights[...] = state.weights


def has_arrived(state: NewtonState) -> bool:
    """Return whether the held problem is solved as well as the next one can make use of.

    Parameters
    ----------
    state : NewtonState
        A run that holds coefficients, with its gradient.
    """
    own = 0.5 * float(state.gradient @ (state.ridge * state.gradient))
    enough = max(_SHARE * state.away, _ROUNDING * state.primal)
    return own <= enough or state.tried > _TOO_LATE


def system_gap(state: NewtonState) -> float:
    """Return the gap that a system may leave.

    Parameters
    ----------
    state : NewtonState
        A run that holds coefficients, with its gradient.
    """
    return _SYSTEM * state.away


def held_dual(state: NewtonState) -> Floats:
    """Return the coefficients that others are held near: the best there are.

    Parameters
    ----------
    state : NewtonState
        A run that holds coefficients.
    """
    alpha = state.offset * (state.held_scale / state.spread)
    alpha *= state.problem.costs
    return alpha


def _put_offset(state: NewtonState, spread: float) -> None:
    """Set the offsets to a spread times the present coefficients, each in costs of its row."""
    window, offset = state.window, state.offset
    np.subtract(window.top, state.margin, out=offset)
    np.clip(offset, 0.0, window.width, out=offset)
    offset *= window.bend * spread


def _next_spread(state: NewtonState) -> float:
    """Return a smaller spread where the last one was no trouble, a larger one where it was."""
    if state.tried <= _QUICK:
        return state.spread / _QUICKLY
    if state.tried <= _SOON:
        return state.spread / _SOONER
    return state.spread * _LATER if state.tried > _LATE else state.spread


def _stiffness(problem: Problem) -> float:
    """Return the mean of costs times squared norms."""
    return problem.cost_squares / problem.n_counted
