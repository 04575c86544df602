"""Gaussian machines for a few queries: what each sum proves, against values of fifty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import scipy.sparse as sp
from fuzz.anytime.exact import gaussian_value

from hinge.anytime import AnytimePredictor, Plan, SignRule
from hinge.anytime.build import Parts
from hinge.anytime.few import FewQueries
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Sides
from hinge.anytime.rules import Rule
from hinge.machines import Machine
from hinge.rows import Rows

Bounds = tuple[np.ndarray, np.ndarray]


def few_queries(machine: Machine, rule: Rule | None = None) -> FewQueries:
    """Return what classifies a few queries of a machine."""
    functions = Functions.of(machine)
    return FewQueries(functions, Sides(functions), rule or SignRule(), None)


def step_bounds(few: FewQueries, step: int, X: Any) -> Bounds | None:
    """Return what one of the sums proves of every query; None if it is not for one of them."""
    rows = Rows(X)
    native, _ = few._made(rows.is_sparse)
    structure = (rows.indices, rows.indptr) if rows.is_sparse else (None, None)
    shape = rows.n_rows, len(few._functions.intercept)
    lower, upper = np.empty(shape), np.empty(shape)
    count = native.bounds(step, rows.values, *structure, lower, upper)
    return (lower, upper) if count == rows.n_rows else None


def assert_true_values_inside(machine: Machine, X: np.ndarray, found: list[Bounds]) -> None:
    """Hold bounds of every query and function to the machine's true values."""
    with localcontext(prec=50):
        for row, x in enumerate(X):
            for f in range(len(machine.intercept)):
                value = gaussian_value(machine, x.astype(np.float64), f)
                for lower, upper in found:
                    assert Decimal(float(lower[row, f])) <= value <= Decimal(float(upper[row, f]))


def few_predictor(machine: Machine, rule: Rule | None = None, n_classes: int = 2) -> Any:
    """Return a predictor that has no other stage than float32."""
    functions = Functions.of(machine)
    parts = Parts(Plan(uses_single=True), functions, None, Sides(functions))
    n_features = machine.support.n_features
    return AnytimePredictor(machine, rule or SignRule(), np.arange(n_classes), n_features, parts)


def assert_labels_near_zero(machine: Machine, X: np.ndarray, size: int) -> None:
    """Hold labels of one and of several queries to the full evaluation's, ties among them."""
    values = machine.values(Rows(X))[:, 0]
    for nearest in (0.0, 1e-9, 1e-6, 1e-5, 1e-3):  # of the first query's value to zero
        machine.intercept[0] += nearest - values[0]
        values = machine.values(Rows(X))[:, 0]
        fast = few_predictor(machine)
        for kind in (np.asarray, sp.csr_array):
            for count in (1, size):
                for k in range(0, len(X), count):
                    part = kind(X[k : k + count])
                    want = machine.values(Rows(part))[:, 0] >= 0.0
                    np.testing.assert_array_equal(fast.predict(part), want.astype(int))
