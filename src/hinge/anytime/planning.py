"""Which stages to run, and where they exit: chosen by measurement, when a predictor is built.

Sample queries say which share stays open after every number of basis points, and for how many of
them coordinates pay; a clock says what a kernel value, a product, a look at the bounds, an
evaluation in float32 and the full evaluation cost. The cheapest way through is then a shortest
path. The plan is frozen: it changes how fast a label is found, never which.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.embedding import Embedding, kernel_block
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import Rule, widened
from hinge.anytime.stages import EmbeddingStage, SingleStage
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_REPEATS = 2
_TIMED_ROWS = 256  # sample queries that the dear evaluations are timed on
_WORTH_IT = 0.95  # a stage must save at least a twentieth of what comes without it
_COORDINATES = (0, 32, 64, 128, 256, 512, 1024)


@dataclass(frozen=True)
class Costs:
    """Seconds per query that were measured.

    Parameters
    ----------
    value : float
        Of one kernel value with a basis point.
    product : float
        Of one product of a coordinate.
    look : float
        Of one look at the bounds.
    single : float
        Of an evaluation in float32.
    full : float
        Of the full evaluation.
    """

    value: float
    product: float
    look: float
    single: float
    full: float


@dataclass(frozen=True)
class Plan:
    """Which stages are run.

    Parameters
    ----------
    exits : tuple of int
        Which exits of the embedding are looked at, by position; none without the embedding.
    n_coordinates : int
        For how many basis points coordinates of queries are computed.
    uses_single : bool
        Whether float32 comes before the full evaluation.
    costs : Costs or None
        What was measured.
    shares : dict
        Share of the sample queries that was open after each stage and exit.
    expected : float
        Seconds per query that the plan was expected to take.
    """

    exits: tuple[int, ...] = ()
    n_coordinates: int = 0
    uses_single: bool = False
    costs: Costs | None = None
    shares: dict[str, float] = field(default_factory=dict)
    expected: float = 0.0


def measured_plan(
    functions: Functions, sides: Sides, rule: Rule, embedding: Embedding | None, sample: Rows
) -> Plan:
    """Return the plan that is cheapest on sample queries.

    Parameters
    ----------
    functions : Functions
        The functions.
    sides : Sides
        What queries meet.
    rule : Rule
        What makes labels of values.
    embedding : Embedding or None
        The embedding, if there is one.
    sample : Rows
        Sample queries.
    """
    trial = _Trial(functions, sides, rule, sample)
    few = np.arange(min(_TIMED_ROWS, sample.n_rows))
    single = SingleStage(functions)
    open_single = float(np.mean(trial.open_after(single)[-1]))
    single_seconds = _least(lambda: trial.run(single, few)) / len(few)
    some = sample.take(few)
    full_seconds = _least(lambda: functions.machine.values(some)) / len(few)
    costs = Costs(0.0, 0.0, 0.0, single_seconds, full_seconds)
    with_single = single_seconds + open_single * full_seconds
    uses_single = with_single < _WORTH_IT * full_seconds
    tail = with_single if uses_single else full_seconds
    plan = Plan((), 0, uses_single, costs, {"float32": open_single}, tail)
    if embedding is None:
        return plan
    return _with_embedding(plan, trial, embedding, tail)


def _with_embedding(plan: Plan, trial: _Trial, embedding: Embedding, tail: float) -> Plan:
    """Return the plan with the best way through the embedding, if one pays."""
    counts = [one.count for one in embedding.exits]
    every = tuple(range(len(counts)))
    assert plan.costs is not None
    costs = _embedding_costs(plan.costs, trial, embedding)
    best = replace(plan, costs=costs)
    limit = _WORTH_IT * tail
    for coordinates in sorted({min(c, counts[-1]) for c in _COORDINATES}):
        stage = EmbeddingStage(trial.functions, embedding, every, coordinates)
        shares = [float(np.mean(mask)) for mask in trial.open_after(stage)]
        seconds, exits = _shortest(counts, shares, coordinates, costs, tail, trial.n_functions)
        if exits and seconds < limit:
            limit = seconds
            named = {f"{counts[k]} points": shares[k] for k in exits}
            best = replace(
                best,
                exits=exits,
                n_coordinates=coordinates,
                shares={**plan.shares, **named},
                expected=seconds,
            )
    return best


def _shortest(
    counts: list[int],
    shares: list[float],
    coordinates: int,
    costs: Costs,
    tail: float,
    n_functions: int,
) -> tuple[float, tuple[int, ...]]:
    """Return the least cost of a query, and the exits on the way there."""
    ways: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    best: tuple[float, tuple[int, ...]] = (np.inf, ())
    for k, count in enumerate(counts):
        found: tuple[float, tuple[int, ...]] = (np.inf, ())
        for seconds, exits in ways:
            before = counts[exits[-1]] if exits else 0
            share = shares[exits[-1]] if exits else 1.0
            last, first = min(count, coordinates), min(before, coordinates)
            products = 0.5 * (last**2 - first**2) + count * n_functions
            step = (count - before) * costs.value + products * costs.product + costs.look
            if seconds + share * step < found[0]:
                found = (seconds + share * step, (*exits, k))
        ways.append(found)
        whole = found[0] + shares[k] * tail
        if whole < best[0]:
            best = (whole, found[1])
    return best


class _Trial:
    """Sample queries on which stages are tried out."""

    def __init__(self, functions: Functions, sides: Sides, rule: Rule, sample: Rows) -> None:
        self.functions, self.rule = functions, rule
        self.n_functions = functions.coef.shape[1]
        self.queries = Queries(sides, sample)
        self.ids = np.arange(sample.n_rows)
        self.errors = self.queries.full_errors(self.ids)

    def open_after(self, stage: Any) -> list[NDArray[np.bool_]]:
        """Return which queries are open after each report, none being left out on the way."""
        found: list[NDArray[np.bool_]] = []

        def settle(ids: Ids, lower: Floats, upper: Floats, _: int) -> NDArray[np.bool_]:
            settled, _codes = self.rule.settled(*widened(lower, upper, self.errors))
            found.append(~settled if not found else found[-1] & ~settled)
            return np.ones(len(ids), dtype=bool)

        stage.run(self.queries, self.ids, settle, 1 << 62)
        return found

    def run(self, stage: Any, ids: Ids) -> None:
        """Run a stage as a predictor would; all queries leave at its first report."""

        def settle(some: Ids, lower: Floats, upper: Floats, _: int) -> NDArray[np.bool_]:
            self.rule.settled(*widened(lower, upper, self.errors[some]))
            return np.zeros(len(some), dtype=bool)

        stage.run(self.queries, ids, settle, 1 << 62)


def _embedding_costs(costs: Costs, trial: _Trial, embedding: Embedding) -> Costs:
    """Return the costs with what the embedding's parts take."""
    points = trial.queries.side(np.float64)
    terms = trial.queries.terms("basis", embedding.basis, np.float64)
    n, count = len(trial.ids), min(64, embedding.basis.n_rows)
    numbers = np.arange(count)
    values = kernel_block(points, terms, numbers, trial.ids, n)
    value = _least(lambda: kernel_block(points, terms, numbers, trial.ids, n)) / (n * count)
    square = np.ascontiguousarray(embedding.triangle[:count, :count])
    product = _least(lambda: square @ values) / (n * count * count)
    first = EmbeddingStage(trial.functions, embedding, (0,), 0)
    whole = _least(lambda: trial.run(first, trial.ids)) / n
    look = max(0.0, whole - embedding.exits[0].count * value)
    return replace(costs, value=value, product=product, look=look)


def _least(call: Callable[[], Any]) -> float:
    """Return the least processor time that a call took."""
    seconds = np.inf
    for _ in range(_REPEATS):
        begin = time.thread_time()
        call()
        seconds = min(seconds, time.thread_time() - begin)
    return float(seconds)
