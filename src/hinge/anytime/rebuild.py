"""A predictor made again from its machine, its basis points and its plan.

Nothing that a proof rests on is taken over: the coefficients, residuals and defects of the
embedding are computed from the machine and the points. Whatever points and plan are given, labels
are those of the machine's full evaluation; a bad plan makes them slow, never wrong.
"""

from __future__ import annotations

from dataclasses import replace

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
    """Return the basis points that a plan uses, and after how many of them it looks.

    Parameters
    ----------
    parts : Parts
        What a predictor has.
    """
    if parts.embedding is None or not parts.plan.exits:
        return None, ()
    counts = tuple(parts.embedding.exits[k].count for k in parts.plan.exits)
    return parts.embedding.basis.take(np.arange(counts[-1])), counts


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
        After how many of them the bounds are looked at, in rising order.
    plan : Plan
        Which stages are run; its exits are those of ``counts``, as far as the points allow.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    """
    reason = why_in_full(machine)
    if reason:
        return Parts(replace(plan, exits=(), uses_single=False), reason=reason)
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        functions = Functions.of(machine)
        embedding = None
        if basis is not None and counts and machine.kernel.psd:
            embedding = _embedding(functions, basis, counts, check)
        exits = 0 if embedding is None else len(embedding.exits)
        plan = replace(plan, exits=tuple(range(exits)))
        return Parts(plan, functions, embedding, Sides(functions))


def _embedding(
    functions: Functions, basis: Rows, counts: tuple[int, ...], check: Check | None
) -> Embedding | None:
    """Return the embedding on some points, unless a number of it overflows."""
    if not np.isfinite(functions.at_terms).all() or not np.isfinite(squared_norms(functions)).all():
        return None
    return embed(functions, basis, counts, check)
