"""Labels of a fitted kernel machine, proven to be those of its full evaluation, at less cost."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.build import Parts
from hinge.anytime.differences import Differences, differing
from hinge.anytime.explanation import explanation
from hinge.anytime.few import MOST, FewQueries
from hinge.anytime.form import FormStage
from hinge.anytime.full import full_values
from hinge.anytime.planning import tail_stages
from hinge.anytime.queries import Queries
from hinge.anytime.rules import Rule, widened
from hinge.anytime.single import SingleStage
from hinge.anytime.stages import EmbeddingStage, Stage
from hinge.anytime.tabled import TabledStage
from hinge.errors import InvalidDataError
from hinge.machines import Machine
from hinge.parameters import count, not_negative
from hinge.result import CertifiedPrediction
from hinge.rows import Rows
from hinge.threads import single_threaded_blas

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_PANEL = 1024  # queries that go through the steps of a stage together
_FULL_ROWS = 512  # queries of a full evaluation between two looks at the clock
_SMALL_BATCH = 64  # products so small that BLAS does not share them out
_MOST_OPEN = 0.5  # share of queries that float32 may leave open to be tried on a few
_NO_LIMIT = 1 << 62
_MADE_OF_PARTS = ("stages", "_few")


class _OutOfTimeError(Exception):
    """The time that the caller gave is over."""


class AnytimePredictor:
    """A fitted kernel machine that stops evaluating a query once its label is proven.

    Every label equals that of the machine's full evaluation in float64, ties included. Made by
    :func:`hinge.accelerate`.

    Parameters
    ----------
    machine : Machine
        The machine.
    rule : Rule
        What makes labels of its values.
    classes : ndarray
        The labels.
    n_features : int
        Number of features of a query.
    parts : Parts
        The embedding and the plan.
    """

    def __init__(
        self, machine: Machine, rule: Rule, classes: NDArray[Any], n_features: int, parts: Parts
    ) -> None:
        self.machine, self.rule, self.classes = machine, rule, classes
        self.n_features, self.parts = n_features, parts

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """What is tried before the full evaluation, in its order."""
        parts = self.parts
        found: list[Stage] = []
        if parts.functions is None:
            return ()
        if parts.embedding is not None and parts.plan.exits:
            plan = parts.plan
            found.append(
                EmbeddingStage(parts.functions, parts.embedding, plan.exits, plan.n_coordinates)
            )
        found.extend(tail_stages(parts.plan, parts.functions, parts.embedding, self.rule))
        return tuple(found)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            The labels of the full evaluation.
        """
        few = self._few
        found = None if few is None else few.codes_at_once(X)
        if found is not None and found[1] == 0:
            return np.asarray(self.classes[found[0]])
        rows = self.rows(X)
        if found is None and few is not None and rows.n_rows <= MOST:
            found = few.codes(rows) if rows.n_rows <= few.most(rows.is_sparse) else None
        if found is None:
            return self.predict_certified(rows).labels
        return np.asarray(self.classes[self._completed(rows, found[0])])

    def _completed(self, rows: Rows, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the codes of a few queries, those that are open evaluated in full."""
        ids = np.flatnonzero(codes < 0)
        if len(ids):
            some = rows if len(ids) == rows.n_rows else rows.take(ids)
            with np.errstate(over="ignore", invalid="ignore"):
                values = finite(self.full_values(some), ids)
            codes[ids] = self.rule.codes(values)
        return codes

    @cached_property
    def _few(self) -> FewQueries | None:
        """What classifies a few queries; None where it would leave most of them open.

        That float32 does not pay in large batches, as for machines of few support vectors, says
        nothing of a few queries, of which each way but this one costs many small arrays.
        """
        parts, plan = self.parts, self.parts.plan
        functions = parts.functions
        if functions is None or parts.sides is None or not FewQueries.takes(functions, self.rule):
            return None
        table = TabledStage.of(functions) if plan.uses_table else None
        is_proven = plan.uses_single or plan.shares.get("float32", 1.0) < _MOST_OPEN
        if table is None and not (is_proven and SingleStage(functions).is_possible):
            return None
        return FewQueries(functions, parts.sides, self.rule, table)

    def full_values(self, rows: Rows) -> Floats:
        """Return the decision values of the full evaluation, with the machine's own bits."""
        parts = self.parts
        if parts.functions is None or parts.sides is None:
            return self.machine.values(rows)
        return full_values(parts.functions, parts.sides, rows)

    def __getstate__(self) -> dict[str, Any]:
        # What is made of the parts is made again; packed terms stay in this process.
        return {name: value for name, value in self.__dict__.items() if name not in _MADE_OF_PARTS}

    def predict_certified(
        self, X: Any, seconds: float | None = None, max_terms: int | None = None
    ) -> CertifiedPrediction:
        """Return labels with bounds, and which of them are proven within a budget.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        seconds : float or None, default=None
            Time that all rows together may take, at least 0; None is no limit.
        max_terms : int or None, default=None
            Kernel values that a row may cost, at least 0; None is no limit.

        Returns
        -------
        CertifiedPrediction
            Labels, bounds on decision values, which labels are proven, and what each row cost.
            Without a budget all are proven. A label that is not is the best guess.
        """
        end = math.inf
        if seconds is not None:
            end = time.monotonic() + not_negative(seconds, "seconds")
        limit = _NO_LIMIT if max_terms is None else count(max_terms, "max_terms")
        run = _Run(self, self.rows(X), end, limit)
        run.go()
        return run.prediction()

    def decision_bounds(self, X: Any, max_terms: int | None = None) -> tuple[Floats, Floats]:
        """Return bounds on the true decision values, as tight as the labels have needed them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        max_terms : int or None, default=None
            Kernel values that a row may cost; None is no limit.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,) or (n_samples, n_functions)
            The bounds.
        """
        prediction = self.predict_certified(X, max_terms=max_terms)
        return prediction.lower, prediction.upper

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values of the full evaluation.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_functions)
            The values.
        """
        values = finite(self.machine.values(self.rows(X)))
        return values[:, 0] if values.shape[1] == 1 else values

    def differences(self, X: Any, labels: Any) -> Differences:
        """Return the rows whose label another evaluation of the machine gave differently.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        labels : array-like of shape (n_samples,)
            What the other evaluation gave, such as scikit-learn's own ``predict``.

        Returns
        -------
        Differences
            Their number, the rows, both labels, and the decision values here.
        """
        rows = self.rows(X)
        own = self.predict(rows)
        numbers = differing(own, labels)
        values = finite(self.machine.values(rows.take(numbers)), numbers)
        return Differences(rows.n_rows, numbers, own[numbers], np.asarray(labels)[numbers], values)

    def explain(self) -> str:
        """Return in words what is done for a query, what it saves, and why.

        Returns
        -------
        str
            Sentences, one to a line.
        """
        return explanation(self.parts, len(self.machine.coefficients))

    def rows(self, X: Any) -> Rows:
        """Return the caller's rows, or refuse them."""
        rows = X if isinstance(X, Rows) else Rows(X)
        if rows.n_features != self.n_features:
            message = (
                f"X has {rows.n_features} features; the machine was trained on {self.n_features}."
            )
            raise InvalidDataError(message)
        return rows


class _Run:
    """The classification of one batch."""

    def __init__(self, predictor: AnytimePredictor, rows: Rows, end: float, limit: int) -> None:
        shape = (rows.n_rows, len(predictor.machine.intercept))
        self.predictor, self.rows, self.end, self.limit = predictor, rows, end, limit
        self.lower, self.upper = np.full(shape, -np.inf), np.full(shape, np.inf)
        self.codes = np.zeros(rows.n_rows, dtype=np.intp)
        self.is_open = np.ones(rows.n_rows, dtype=bool)
        self.terms = np.zeros(rows.n_rows, dtype=np.int64)

    def go(self) -> None:
        """Go through the stages, then evaluate in full what is still open."""
        stages = self.predictor.stages
        guard = single_threaded_blas() if self.rows.n_rows > _SMALL_BATCH else nullcontext()
        try:
            with guard, np.errstate(over="ignore", invalid="ignore"):
                if stages and self.rows.n_rows:
                    self._try(stages)
                self._evaluate()
        except _OutOfTimeError:
            pass

    def _try(self, stages: tuple[Stage, ...]) -> None:
        parts = self.predictor.parts
        assert parts.sides is not None
        queries = Queries(parts.sides, self.rows, self._check)
        errors = queries.full_errors(np.arange(self.rows.n_rows))
        settle = self._settler(errors)
        for stage in stages:
            ids = np.flatnonzero(self.is_open)
            in_steps = isinstance(stage, EmbeddingStage | FormStage)
            size = _PANEL if in_steps else max(1, len(ids))
            for first in range(0, len(ids), size):
                self._check()
                some = ids[first : first + size]
                left = self.limit - int(np.max(self.terms[some]))
                stage.run(queries, some, settle, left)

    def _settler(self, errors: Floats) -> Callable[..., NDArray[np.bool_]]:
        rule = self.predictor.rule

        def settle(ids: Ids, lower: Floats, upper: Floats, cost: int) -> NDArray[np.bool_]:
            # A later interval may be wider than an earlier one; both hold.
            lower = np.maximum(lower, self.lower[ids])
            upper = np.minimum(upper, self.upper[ids])
            self.lower[ids], self.upper[ids] = lower, upper
            self.terms[ids] += cost
            settled, codes = rule.settled(*widened(lower, upper, errors[ids]))
            self.codes[ids] = codes
            self.is_open[ids] = ~settled
            self._check()
            return np.asarray(~settled)

        return settle

    def _evaluate(self) -> None:
        """Evaluate open queries as the reference does: the same bits, so the same labels."""
        machine, parts = self.predictor.machine, self.predictor.parts
        cost = len(machine.coefficients)
        open_ones = np.flatnonzero(self.is_open)
        ids = open_ones[self.terms[open_ones] + cost <= self.limit]
        size = _FULL_ROWS if self.end < math.inf else max(1, len(ids))
        for first in range(0, len(ids), size):
            self._check()
            some = ids[first : first + size]
            rows = self.rows if len(some) == self.rows.n_rows else self.rows.take(some)
            values = finite(self.predictor.full_values(rows), some)
            self.codes[some] = self.predictor.rule.codes(values)
            errors = np.zeros_like(values)
            if parts.sides is not None:
                errors = Queries(parts.sides, rows).full_errors(np.arange(rows.n_rows))
            self.lower[some], self.upper[some] = values - errors, values + errors
            self.terms[some] += cost
            self.is_open[some] = False

    def _check(self) -> None:
        if time.monotonic() > self.end:
            raise _OutOfTimeError

    def prediction(self) -> CertifiedPrediction:
        """Return what is known."""
        guess = np.flatnonzero(self.is_open)
        if len(guess):
            with np.errstate(invalid="ignore"):
                middle = 0.5 * (self.lower[guess] + self.upper[guess])
            self.codes[guess] = self.predictor.rule.codes(
                np.where(np.isfinite(middle), middle, self.predictor.machine.intercept)
            )
        lower, upper = self.lower, self.upper
        if lower.shape[1] == 1:
            lower, upper = lower[:, 0], upper[:, 0]
        labels = self.predictor.classes[self.codes]
        return CertifiedPrediction(labels, lower, upper, ~self.is_open, self.terms)


def finite(values: Floats, numbers: Ids | None = None) -> Floats:
    """Return decision values, or refuse rows whose values overflow.

    Parameters
    ----------
    values : ndarray of shape (n, n_functions)
        The values.
    numbers : ndarray of int64 or None, default=None
        What the rows are called in messages; None for their places.
    """
    if not np.isfinite(values).all():
        place = int(np.argwhere(~np.isfinite(values))[0][0])
        row = place if numbers is None else int(numbers[place])
        message = (
            f"the decision values of row {row} overflow: kernel values of X and dual coefficients "
            "are too large to be multiplied. Scale X, and fit the model on scaled rows."
        )
        raise InvalidDataError(message)
    return values
