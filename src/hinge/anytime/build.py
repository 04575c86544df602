"""Building of a predictor: basis points, their embedding, and the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.embedding import Embedding, embed, squared_norms
from hinge.anytime.functions import Check, Functions
from hinge.anytime.ordering import Candidates, ordered
from hinge.anytime.planning import Plan, measured_plan
from hinge.anytime.queries import Sides
from hinge.anytime.reasons import why_in_full
from hinge.anytime.reduced_set import reduced_points
from hinge.anytime.rules import Rule
from hinge.machines import Machine, alike
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Ids = NDArray[np.int64]
# Takes what is being made, how much of it there is, and how much there will be at the most.
Report = Callable[[str, int, int], None]

EXITS = (8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096)
DEFAULT_POINTS = 512
# What reports are about, in this order.
VALUES = "values at support vectors"
REDUCED = "points of the whole space"
POINTS = "basis points"
EMBEDDING = "embedding"
STAGES = "stages"
_MOST_CANDIDATES = 1 << 14  # of either kind: support vectors, and others
_SAMPLE = 2048  # queries that the plan is measured on
_TUNED_ON = 512  # of them, for orders that look at queries


@dataclass(frozen=True)
class Options:
    """How to build a predictor.

    Parameters
    ----------
    ordering : str, default="minwz"
        The order of basis points.
    n_points : int, default=512
        How many there are at most; 0 for none.
    seed : int, default=0
        Of draws.
    reduced_set : int, default=0
        How many points of the whole space are candidates too.
    """

    ordering: str = "minwz"
    n_points: int = DEFAULT_POINTS
    seed: int = 0
    reduced_set: int = 0


@dataclass(frozen=True)
class Parts:
    """What a predictor has besides its machine.

    Parameters
    ----------
    plan : Plan
        Which stages to run.
    functions : Functions or None
        The functions; None where nothing is proven of the kernel.
    embedding : Embedding or None
        Their embedding, if there is one.
    sides : Sides or None
        What queries meet.
    reason : str
        Why there is nothing but the full evaluation, if so.
    """

    plan: Plan
    functions: Functions | None = None
    embedding: Embedding | None = None
    sides: Sides | None = None
    reason: str = ""


def build(
    machine: Machine,
    rule: Rule,
    candidates: Rows | None = None,
    queries: Rows | None = None,
    options: Options | None = None,
    check: Check | None = None,
    report: Report | None = None,
) -> Parts:
    """Return what a predictor of a machine needs.

    Parameters
    ----------
    machine : Machine
        The machine.
    rule : Rule
        What makes labels of its values.
    candidates : Rows or None, default=None
        Rows that may be basis points besides the support vectors: the training rows.
    queries : Rows or None, default=None
        Sample queries; without them candidates, else support vectors.
    options : Options or None, default=None
        How to build; None for the defaults.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    report : callable or None, default=None
        Told how far the work is.
    """
    tell = report or _silent
    reason = why_in_full(machine)
    if reason:
        return Parts(Plan(), reason=reason)
    options = options or Options()
    # Where a number overflows nothing is proven, and the full evaluation says what is wrong.
    with single_threaded_blas(), np.errstate(over="ignore", invalid="ignore"):
        functions = Functions.of(machine)
        tell(VALUES, 0, 1)
        if not np.isfinite(functions.at_terms).all():
            return Parts(Plan(), reason="its values at its own support vectors overflow")
        sides = Sides(functions)
        generator = np.random.default_rng(options.seed)
        others = None if candidates is None else alike(candidates, machine.support)
        sample = _some(_first(queries, others, machine.support), _SAMPLE, generator)
        embedding = None
        has_norms = np.isfinite(squared_norms(functions)).all()
        if machine.kernel.psd and has_norms and options.n_points > 0:
            embedding = _embedding(functions, others, sample, options, check, tell)
        tell(STAGES, 0, 1)
        plan = measured_plan(functions, sides, rule, embedding, sample)
        tell(STAGES, 1, 1)
    return Parts(plan, functions, embedding, sides)


def _embedding(
    functions: Functions,
    others: Rows | None,
    sample: Rows,
    options: Options,
    check: Check | None,
    tell: Report,
) -> Embedding | None:
    """Return the embedding on the points of the order."""
    generator = np.random.default_rng(options.seed)
    terms = functions.terms
    always = terms
    if options.ordering != "given":
        always = _some(terms, _MOST_CANDIDATES, generator)
    if options.reduced_set:
        reduced = reduced_points(functions, options.reduced_set, check, partial(tell, REDUCED))
        always = always if reduced is None else joined(reduced, always)
    rows = always
    if others is not None:
        rows = joined(always, _some(others, _MOST_CANDIDATES, generator))
    few = sample.take(np.arange(0, sample.n_rows, max(1, sample.n_rows // _TUNED_ON))[:_TUNED_ON])
    chosen = ordered(
        options.ordering,
        functions,
        Candidates(rows, always.n_rows),
        options.n_points,
        few,
        options.seed,
        check,
        partial(tell, POINTS),
    )
    if len(chosen) == 0:
        return None
    tell(EMBEDDING, 0, 1)
    exits = (*(e for e in EXITS if e < len(chosen)), len(chosen))
    return embed(functions, rows.take(chosen), exits, check)


def _silent(part: str, done: int, total: int) -> None:
    """Tell nobody."""


def _first(*choices: Rows | None) -> Rows:
    """Return the first of the rows that there are."""
    found = [rows for rows in choices if rows is not None and rows.n_rows]
    return found[0]


def _some(rows: Rows, most: int, generator: np.random.Generator) -> Rows:
    """Return at most so many of the rows, drawn, in their order."""
    if rows.n_rows <= most:
        return rows
    return rows.take(np.sort(generator.choice(rows.n_rows, size=most, replace=False)))


def joined(first: Rows, second: Rows) -> Rows:
    """Return the rows of both, stored alike.

    Parameters
    ----------
    first, second : Rows
        Rows of as many features.
    """
    if first.is_sparse:
        import scipy.sparse as sp  # noqa: PLC0415 - only here

        return Rows(sp.csr_array(sp.vstack((first.matrix, second.matrix), format="csr")))
    return Rows(np.concatenate((first.matrix, second.matrix)))
