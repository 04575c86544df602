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
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.embedding import Embedding, kernel_block
from hinge.anytime.form import EXITS as FORM_EXITS
from hinge.anytime.form import FormStage
from hinge.anytime.full import full_values
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import Rule, widened
from hinge.anytime.single import SingleStage
from hinge.anytime.stages import EmbeddingStage
from hinge.anytime.tabled import TabledStage
from hinge.anytime.votes import VoteStage
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_REPEATS = 2
_TIMED_ROWS = 1024  # sample queries that evaluations are timed on, as in a large batch
_WORTH_IT = 0.95  # a stage must save at least a twentieth of what comes without it
_NAMES = {
    "form": "form",
    "table": "table",
    "votes": "votes",
    "single": "float32",
}  # of shares, by cost
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
    table : float
        Of an evaluation by a table of kernel values.
    votes : float
        Of the votes of a guessed class.
    form : float
        Of the way through a quadratic form.
    """

    value: float
    product: float
    look: float
    single: float
    full: float
    table: float = 0.0
    votes: float = 0.0
    form: float = 0.0


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
    uses_table : bool
        Whether queries of small whole numbers meet a table of kernel values.
    guess : int or None
        After which exit of the embedding the class is guessed whose votes are looked at first.
    form : int or None
        How many eigenvectors of a quadratic form are used, at the most; None without the form.
    """

    exits: tuple[int, ...] = ()
    n_coordinates: int = 0
    uses_single: bool = False
    costs: Costs | None = None
    shares: dict[str, float] = field(default_factory=dict)
    expected: float = 0.0
    uses_table: bool = False
    guess: int | None = None
    form: int | None = None


def tail_stages(
    plan: Plan, functions: Functions, embedding: Embedding | None, rule: Rule
) -> list[Any]:
    """Return the stages between the embedding and the full evaluation, in their order.

    Parameters
    ----------
    plan : Plan
        Which stages are used.
    functions : Functions
        The functions.
    embedding : Embedding or None
        Their embedding.
    rule : Rule
        What makes labels of values.
    """
    found: list[Any] = []
    if plan.form is not None:
        found.append(FormStage.of(functions, plan.form))
    if plan.uses_table:
        found.append(TabledStage.of(functions))
    if plan.guess is not None:
        found.append(VoteStage.of(functions, embedding, plan.guess, rule))
    if plan.uses_single:
        found.append(SingleStage(functions))
    return [stage for stage in found if stage is not None]


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
    some = sample.take(few)
    full = _least(lambda: full_values(functions, sides, some)) / len(few)
    plan = _tail(trial, embedding, few, full)
    if embedding is None:
        return plan
    return _with_embedding(plan, trial, embedding, plan.expected)


@dataclass(frozen=True)
class _Tried:
    """A stage of the tail, as it was measured."""

    seconds: float
    is_open: NDArray[np.bool_]
    choice: dict[str, Any]  # how a plan names it
    cost: str


def _tail(trial: _Trial, embedding: Embedding | None, few: Ids, full: float) -> Plan:
    """Return the plan with the cheapest stages between the embedding and the full evaluation."""
    tried = _tried(trial, embedding, few, full)
    costs = Costs(0.0, 0.0, 0.0, 0.0, full)
    shares: dict[str, float] = {}
    for one in tried:
        costs = replace(costs, **{one.cost: one.seconds})
        shares[_NAMES[one.cost]] = float(np.mean(one.is_open))
    best = Plan(costs=costs, shares=shares, expected=full)
    limit = _WORTH_IT * full
    for count in range(1, len(tried) + 1):
        for chosen in combinations(tried, count):
            seconds, still_open = 0.0, np.ones(len(trial.ids), dtype=bool)
            for one in chosen:
                seconds += float(np.mean(still_open)) * one.seconds
                still_open &= one.is_open
            seconds += float(np.mean(still_open)) * full
            if seconds < limit:
                limit = seconds
                names = {name: value for one in chosen for name, value in one.choice.items()}
                best = Plan(costs=costs, shares=shares, expected=seconds, **names)
    return best


def _tried(trial: _Trial, embedding: Embedding | None, few: Ids, full: float) -> list[_Tried]:
    """Return the stages that this machine can have, measured, in the order of the tail."""
    functions, found = trial.functions, []
    form = _best_form(trial, few, full)
    if form is not None:
        found.append(form)
    table = TabledStage.of(functions)
    if table is not None:
        found.append(_measured(trial, table, few, {"uses_table": True}, "table"))
    votes = _best_guess(trial, embedding, few)
    if votes is not None:
        found.append(votes)
    single = SingleStage(functions)
    if single.is_possible:
        found.append(_measured(trial, single, few, {"uses_single": True}, "single"))
    return found


def _measured(trial: _Trial, stage: Any, few: Ids, choice: dict[str, Any], cost: str) -> _Tried:
    is_open = trial.open_after(stage)[-1]
    seconds = _least(lambda: trial.run(stage, few)) / len(few)
    return _Tried(seconds, is_open, choice, cost)


def _best_form(trial: _Trial, few: Ids, full: float) -> _Tried | None:
    """Return the quadratic form, with as many eigenvectors as pay."""
    whole = FormStage.of(trial.functions, FORM_EXITS[-1])
    if whole is None or whole.forms(trial.queries) is None:
        return None
    best: _Tried | None = None
    limit = np.inf
    # Eigenvectors may be fewer than the last exits: there is one report for each that is reached.
    for count, is_open in zip(FORM_EXITS, trial.open_after(whole), strict=False):
        stage = FormStage(trial.functions, count)
        seconds = _least(partial(trial.run, stage, few, leaves=True)) / len(few)
        expected = seconds + float(np.mean(is_open)) * full
        if expected < limit:
            limit, best = expected, _Tried(seconds, is_open, {"form": count}, "form")
    return best


def _best_guess(trial: _Trial, embedding: Embedding | None, few: Ids) -> _Tried | None:
    """Return the votes of a guessed class, guessed after the number of points that pays best."""
    best: _Tried | None = None
    for k in range(0 if embedding is None else len(embedding.exits)):
        stage = VoteStage.of(trial.functions, embedding, k, trial.rule)
        if stage is None:
            return None
        one = _measured(trial, stage, few, {"guess": k}, "votes")
        # What stays open costs about as much again as the votes of all classes.
        if best is None or _with_rest(one) < _with_rest(best):
            best = one
    return best


def _with_rest(one: _Tried) -> float:
    return one.seconds * (1.0 + 2.0 * float(np.mean(one.is_open)))


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
        found: list[NDArray[np.bool_]] = [np.ones(len(self.ids), dtype=bool)]

        def settle(ids: Ids, lower: Floats, upper: Floats, _: int) -> NDArray[np.bool_]:
            settled, _codes = self.rule.settled(*widened(lower, upper, self.errors[ids]))
            is_open = found[-1].copy()
            is_open[ids] &= ~settled
            found.append(is_open)
            return np.ones(len(ids), dtype=bool)

        stage.run(self.queries, self.ids, settle, 1 << 62)
        return found[1:] or found

    def run(self, stage: Any, ids: Ids, leaves: bool = False) -> None:
        """Run a stage as a predictor would.

        Parameters
        ----------
        stage : Stage
            The stage.
        ids : ndarray of int64
            The queries.
        leaves : bool, default=False
            Whether queries leave when they are settled; else all leave at the first report.
        """

        def settle(some: Ids, lower: Floats, upper: Floats, _: int) -> NDArray[np.bool_]:
            settled, _codes = self.rule.settled(*widened(lower, upper, self.errors[some]))
            return ~settled if leaves else np.zeros(len(some), dtype=bool)

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
