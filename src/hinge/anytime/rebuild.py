"""A predictor made again from its machine, its basis points and its plan.

Nothing that a proof rests on is taken over: the coefficients, residuals and defects of the
embedding are computed from the machine and the points. Whatever points and plan are given, labels
are those of the machine's full evaluation; a bad plan makes them slow, never wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hinge.anytime.build import Parts
from hinge.anytime.embedding import Embedding, embed, squared_norms
from hinge.anytime.functions import Check, Functions
from hinge.anytime.planning import Plan
from hinge.anytime.queries import Sides
from hinge.anytime.reasons import why_in_full
from hinge.machines import Machine
from hinge.rows import Rows
from hinge.threads import single_threaded_blas


def kept_points(parts: Parts) -> tuple[Rows | None, tuple[int, ...]]:
    """Return the basis points that a plan uses, and after how many of them it may look.

    Parameters
    ----------
    parts : Parts
        What a predictor has.
    """
    used = _positions(parts.plan)
    if parts.embedding is None or not used:
        return None, ()
    counts = tuple(one.count for one in parts.embedding.exits[: max(used) + 1])
    return parts.embedding.basis.take(np.arange(counts[-1])), counts


def _positions(plan: Plan) -> list[int]:
    """Return which exits of the embedding a plan uses, by position."""
    guess = getattr(plan, "guess", None)  # of votes, in plans that have it
    return list(plan.exits) if guess is None else [*plan.exits, guess]


def _possible(plan: Plan, n_exits: int) -> Plan:
    """Return the plan without the exits that there are not."""
    exits = tuple(sorted({k for k in plan.exits if k < n_exits}))
    changes: dict[str, Any] = {"exits": exits}
    guess = getattr(plan, "guess", None)
    if guess is not None and guess >= n_exits:
        changes["guess"] = None
    return replace(plan, **changes)


def rebuilt(
    machine: Machine,
    basis: Rows | None,
    counts: tuple[int, ...],
    plan: Plan,
    check: Check | None = None,
) -> Parts:
    """Return what a predictor of a machine needs, with every bound computed anew.

    Parameters
    ----------
    machine : Machine
        The machine.
    basis : Rows or None
        The basis points, stored as the support vectors are; None for none.
    counts : tuple of int
        After how many of them the bounds may be looked at, in rising order.
    plan : Plan
        Which stages are run; exits that the points do not allow are left out.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    """
    reason = why_in_full(machine)
    if reason:
        return Parts(Plan(), reason=reason)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        functions = Functions.of(machine)
        embedding = None
        if basis is not None and counts and machine.kernel.psd:
            embedding = _embedding(functions, basis, counts, check)
        plan = _possible(plan, 0 if embedding is None else len(embedding.exits))
        return Parts(plan, functions, embedding, Sides(functions))


def _embedding(
    functions: Functions, basis: Rows, counts: tuple[int, ...], check: Check | None
) -> Embedding | None:
    """Return the embedding on some points, unless a number of it overflows."""
    if not np.isfinite(functions.at_terms).all() or not np.isfinite(squared_norms(functions)).all():
        return None
    return embed(functions, basis, counts, check)
