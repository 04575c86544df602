"""Random and adversarial cases for the index, judged in exact arithmetic."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import scipy.sparse as sp

from hinge.bounds import Action, Measured, ResortPolicy, SortedMargins, get_bound, stored
from hinge.bounds.evaluation import THE_SUM, Objective
from hinge.bounds.pieces import Pieces, get_pieces
from hinge.bounds.policy import Record
from hinge.inequality import rounding_factor
from hinge.losses import Huber

BOUNDS = ("sphere", "centred", "norms", "box", "clusters", "tree", "trajectory")
LOSSES = ("hinge", "squared_hinge", Huber(0.01), Huber(0.1), Huber(0.5), "zero_one")
STORAGES = ("dense64", "dense32", "csr64", "csr32")
POINTS = 4
_HUGE = 1e150  # beyond it the square of a norm overflows, and no rounding is bounded


class AlwaysPruned(ResortPolicy):
    """Never takes all rows again by itself: every evaluation goes through the bound."""

    name = "always"

    def choose(self, record: Record, open_rows: int) -> Action:  # noqa: ARG002
        return Action.PRUNED


@dataclass
class Case:
    """One index and the points to evaluate it at."""

    X: Any
    y: np.ndarray
    weights: np.ndarray | None
    bound: str
    loss: Any
    policy: ResortPolicy
    points: list[tuple[np.ndarray, float]]
    sort_after: int
    objective: Objective

    @property
    def rows(self) -> list[list[Fraction]]:
        dense = self.X.toarray() if sp.issparse(self.X) else self.X
        return [[Fraction(float(value)) for value in row] for row in dense]


def random_case(seed: int) -> Case:
    """Return the case of this number."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 6))
    X, y = _rows(rng, n, d), rng.choice([-1, 1], size=n)
    if rng.random() < 0.1:
        y[:] = y[0]
    augmented = rng.random() < 0.5
    if augmented:
        X = np.hstack([X, np.ones((n, 1))])
    loss = LOSSES[seed // 28 % len(LOSSES)]
    points = _points(rng, X.shape[1], augmented)
    if rng.random() < 0.2:
        X, points = _at_edges(rng, X, y, get_pieces(loss))
    weights = None
    if rng.random() < 0.3:
        weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
        weights[0] = 1.0
    storage = STORAGES[seed % len(STORAGES)]
    kept: Any = X.astype(np.float32 if storage.endswith("32") else np.float64)
    if storage.startswith("csr"):
        kept = sp.csr_array(kept)
    return Case(
        kept,
        y,
        weights,
        BOUNDS[seed // 4 % len(BOUNDS)],
        loss,
        AlwaysPruned() if rng.random() < 0.7 else Measured(),
        points,
        1 if rng.random() < 0.5 else stored.SORT_AFTER_SCANS,
        THE_SUM if rng.random() < 0.5 else Objective(*10.0 ** rng.uniform(-6.0, 3.0, size=2)),
    )


def _rows(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Return rows of one of several kinds, ordinary and not."""
    kind = rng.integers(6)
    if kind == 0:  # margins exactly at kinks, and ties
        return rng.integers(-2, 3, size=(n, d)) / 2.0
    X = rng.standard_normal((n, d))
    if kind == 1:  # duplicates and zeros
        X = X[rng.integers(0, max(1, n // 4), size=n)] * (rng.random((n, 1)) < 0.8)
    elif kind == 2:  # one row dwarfs the others
        X[rng.integers(n)] *= 1e12
    elif kind == 3:
        X *= 10.0 ** rng.integers(-18, 18)
    elif kind == 4:  # sparse, with empty rows
        X *= rng.random((n, d)) < 0.3
    return X


def _points(rng: np.random.Generator, d: int, augmented: bool) -> list[tuple[np.ndarray, float]]:
    """Return weights that move as weights do: not at all, a little, on along a line, or far."""
    w = rng.integers(-2, 3, size=d) / 2.0 if rng.random() < 0.5 else rng.standard_normal(d)
    w = w * 10.0 ** rng.integers(-3, 2)
    b = 0.0 if augmented else float(rng.choice([0.0, 0.5, 1.0, rng.standard_normal()]))
    points, step = [(w, b)], rng.standard_normal(d)
    for _ in range(POINTS):
        kind = rng.integers(6)
        size = 10.0 ** rng.integers(-14, 1)
        if kind == 1:
            w = np.nextafter(w, rng.choice([-np.inf, np.inf], size=d))
        elif kind == 2:
            w = w + size * step
        elif kind == 3:
            w = w + size * rng.standard_normal(d)
        elif kind == 4:
            w = 10.0 ** rng.integers(-2, 3) * rng.standard_normal(d)
        elif kind == 5 and rng.random() < 0.5:  # its square overflows
            w = 10.0 ** rng.integers(153, 162) * rng.standard_normal(d)
        if not augmented and rng.random() < 0.7:
            b += float(size * rng.standard_normal())
        points.append((w, b))
    return points


def _at_edges(
    rng: np.random.Generator, X: np.ndarray, y: np.ndarray, pieces: Pieces
) -> tuple[np.ndarray, list[tuple[np.ndarray, float]]]:
    """Return rows with margins exactly at the edges of a loss, which the intercept alone moves."""
    margins = [pieces.high, pieces.high if math.isinf(pieces.low) else pieces.low, -5.0, 5.0]
    X = X.copy()
    X[:, 0] = y * rng.choice(margins, size=len(y))
    w = np.zeros(X.shape[1])
    w[0] = 1.0
    moves = rng.choice([-1.0, 1.0], size=POINTS) * 10.0 ** rng.integers(-10, 1, size=POINTS)
    return X, [(w, b) for b in (0.0, *moves.tolist())]


def check_case(case: Case) -> int:
    """Assert that every evaluation is right and every pruned row decided; return rows spared."""
    with mock.patch.object(stored, "SORT_AFTER_SCANS", case.sort_after):
        return _check_points(case)


def _check_points(case: Case) -> int:
    rows, pieces = case.rows, get_pieces(case.loss)
    index = SortedMargins(
        case.X, case.y, get_bound(case.bound), case.policy, sample_weight=case.weights
    )
    spared = 0
    for number, (w, b) in enumerate(case.points):
        margins = _margins(rows, case.y, w, b)
        if index.stored.reference is not None:
            for _ in range(2):  # the first may lay out the keys, the second sort them
                _check_decided(index, w, b, pieces, margins)
        objective = THE_SUM if number == POINTS // 2 else case.objective
        if number == POINTS // 2:
            got = index.sort(w, b, case.loss)
        else:
            got = index.evaluate(w, b, case.loss, **objective._asdict())
        if math.hypot(*w) < _HUGE:
            _check_sums(case, rows, margins, (w, b), (objective, got))
        spared += len(rows) - got.examined
    return spared


def _margins(rows: list[list[Fraction]], y: np.ndarray, w: np.ndarray, b: float) -> list[Fraction]:
    weights = [Fraction(float(value)) for value in w]
    scores = (sum(map(Fraction.__mul__, row, weights), Fraction(b)) for row in rows)
    return [int(sign) * score for sign, score in zip(y, scores, strict=True)]


def _check_decided(
    index: SortedMargins, w: np.ndarray, b: float, pieces: Pieces, margins: list[Fraction]
) -> None:
    """Assert that rows which are not open are, exactly, on the side that was stored."""
    open_rows = set(index.stored.open_rows(index.stored.moved(w), b, pieces).tolist())
    reference = index.stored.reference
    assert reference is not None
    if math.isinf(pieces.low):  # its parabola may be a side of the window as well
        _check_decided(index, w, b, pieces.with_moments(), margins)
    for row, margin in enumerate(margins):
        if row in open_rows:
            continue
        if reference.margins[row] < pieces.low:
            assert margin < Fraction(pieces.low), f"row {row} is pruned below and is {margin}"
        else:
            assert margin > Fraction(pieces.high), f"row {row} is pruned above and is {margin}"


def _check_sums(
    case: Case,
    rows: list[list[Fraction]],
    margins: list[Fraction],
    point: tuple[np.ndarray, float],
    found: tuple[Objective, Any],
) -> None:
    """Assert that value and gradient are within their bounds of the exact ones."""
    pieces = get_pieces(case.loss)
    (scale, ridge), got = found
    w, b = point
    value, at_jump, gradient_b = Fraction(0), 0.0, Fraction(0)
    gradient = [Fraction(0)] * len(w)
    jumps = 1.0 if pieces.low == pieces.high else 0.0
    for number, (row, margin) in enumerate(zip(rows, margins, strict=True)):
        weight = Fraction(1.0 if case.weights is None else float(case.weights[number]))
        sign = int(case.y[number])
        length = float(np.linalg.norm([float(value) for value in row]))
        error = rounding_factor(len(w) + 8) * (np.linalg.norm(w) * length + abs(b))
        if jumps and abs(float(margin - Fraction(pieces.low))) <= error:
            at_jump += float(weight) * jumps * max(length, 1.0)
        loss, slope = _exact_loss(pieces, margin, sign)
        value += weight * loss
        pull = -weight * slope * sign
        gradient_b += pull
        gradient = [total + pull * entry for total, entry in zip(gradient, row, strict=True)]
    exact = [Fraction(float(entry)) for entry in w]
    value = Fraction(scale) * value + Fraction(ridge) / 2 * sum(entry * entry for entry in exact)
    gradient = [
        Fraction(scale) * total + Fraction(ridge) * entry
        for total, entry in zip(gradient, exact, strict=True)
    ]
    gradient_b *= Fraction(scale)
    at_jump *= scale
    value_slack = at_jump if pieces.slope == 0.0 else 0.0
    assert abs(float(Fraction(got.value) - value)) <= got.bound + value_slack
    gap = [float(Fraction(float(g)) - e) for g, e in zip(got.gradient, gradient, strict=True)]
    assert np.linalg.norm(gap) <= got.gradient_bound + pieces.slope * at_jump
    error_b = abs(float(Fraction(float(got.gradient_b)) - gradient_b))
    assert error_b <= got.gradient_bound + pieces.slope * at_jump


def _exact_loss(pieces: Pieces, margin: Fraction, sign: int) -> tuple[Fraction, Fraction]:
    """Return the loss and minus its derivative."""
    at_tie = pieces.tie_errs and margin == 0 and sign > 0
    if (np.isfinite(pieces.low) and margin < Fraction(pieces.low)) or at_tie:
        slope = Fraction(pieces.slope)
        return Fraction(pieces.level) - slope * margin, slope
    reach = max(Fraction(pieces.high) - margin, Fraction(0))
    curvature = Fraction(pieces.curvature)
    return curvature * reach * reach, 2 * curvature * reach
