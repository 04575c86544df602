"""The index where numbers round, overflow or underflow: no row is pruned that has moved."""

from __future__ import annotations

import numpy as np
import pytest

from hinge import losses
from hinge.bounds import MovingPoints, SortedMargins, stored
from hinge.bounds.linear_model import LinearModel
from hinge.bounds.pieces import get_pieces
from hinge.bounds.products import norm
from hinge.result import Point

BOUNDS = ["sphere", "centred", "norms", "box", "clusters", "tree", "trajectory"]


@pytest.fixture(autouse=True)
def _sort_at_once(monkeypatch) -> None:
    monkeypatch.setattr(stored, "SORT_AFTER_SCANS", 1)


def _sorted_index(X, y, bound, points, loss) -> SortedMargins:
    """Return an index that was evaluated at these points and whose keys are sorted."""
    index = SortedMargins(X, y, bound)
    for w, b in points[:-1]:
        index.sort(w, b, loss)
    index.sort(*points[-1], loss)
    for _ in range(2):
        index.evaluate(*points[-1], loss)
    assert index.stored.positions.is_sorted
    return index


@pytest.mark.parametrize("h", [0.1, 0.3])
@pytest.mark.parametrize("bound", BOUNDS)
def test_rows_at_the_kink_are_seen_to_leave_it(bound, h) -> None:
    # As float32, 1 - h is smaller: the key of a row exactly at the kink lies below it.
    assert float(np.float32(1.0 - h)) < 1.0 - h
    y = np.where(np.arange(200) % 2 == 0, 1, -1)
    X = 5.0 * y[:, None]
    X[:10], y[:10] = 1.0 - h, 1
    w, loss = np.ones(1), losses.Huber(h)
    index = _sorted_index(X, y, bound, [(w, 0.0)], loss)
    got, want = index.evaluate(w, -0.1, loss), SortedMargins(X, y).sort(w, -0.1, loss)
    assert want.value > 0.5
    assert abs(got.value - want.value) <= 2 * want.bound
    assert abs(got.gradient[0] - want.gradient[0]) <= 2 * want.gradient_bound
    assert got.examined < len(y)


@pytest.mark.parametrize("size", [1e155, 1e160, 1e300])
@pytest.mark.parametrize("bound", BOUNDS)
def test_weights_whose_square_overflows_leave_rows_open(bound, size) -> None:
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=500)
    X = rng.standard_normal((500, 3)) + 8.0 * y[:, None]
    w = np.ones(3)
    index = _sorted_index(X, y, bound, [(0.999 * w, 0.0), (w, 0.0)], "hinge")
    far = size * np.array([-1.0, 1.0, 0.3])
    got, want = index.evaluate(far), SortedMargins(X, y).sort(far)
    assert want.value > size
    assert got.value == pytest.approx(want.value, rel=1e-9)
    np.testing.assert_allclose(got.gradient, want.gradient, rtol=1e-9)


@pytest.mark.parametrize("bound", BOUNDS)
def test_changes_whose_square_underflows_are_seen(bound) -> None:
    X, y = np.full((200, 1), 1e150), np.ones(200, dtype=int)
    for was, now in ((1.0 + 1e-13, 1.0 - 1e-13), (1.0 - 1e-13, 1.0 + 1e-13)):
        index = SortedMargins(X, y, bound)
        index.sort([1e-150 * was], -1.0, "zero_one")
        assert index.evaluate([1e-150 * now], -1.0, "zero_one").value == (200 if now < 1 else 0)


@pytest.mark.parametrize("size", [1e-161, 1e-158, 1e-150])
def test_a_step_whose_square_underflows_is_no_direction(size) -> None:
    rng = np.random.default_rng(0)
    X, y = 1e150 * rng.standard_normal((200, 2)), rng.choice([-1, 1], size=200)
    index = SortedMargins(X, y, "trajectory")
    w = 1e-150 * np.ones(2)
    index.sort(w, 0.0)
    index.sort(w + size * np.array([1.0, 2.0]), 0.0)
    for _ in range(3):
        now = w + 1e-151 * rng.standard_normal(2)
        open_rows = set(
            index.stored.open_rows(index.stored.moved(now), 0.0, get_pieces("hinge")).tolist()
        )
        assert (index.stored.direction is None) == (size < 1e-145)
        before = y * (X @ index.stored.reference.w) < 1.0
        crossed = np.flatnonzero(before != (y * (X @ now) < 1.0))
        assert len(crossed) > 0
        assert open_rows.issuperset(crossed.tolist())


def test_norms_are_none_too_small_where_squares_underflow() -> None:
    tiny = np.full(3, 1e-163)
    assert norm(tiny) >= 1e-163 * np.sqrt(3.0)
    model = LinearModel(np.array([tiny, 2.0 * tiny]), np.zeros(2), np.array([0, 1]))
    assert model.largest_norm >= 2e-163
    assert np.all(model.pairs(model).norm >= 1e-163)


def test_a_loss_that_overflows_is_infinite() -> None:
    got = SortedMargins([[1e60], [1.0]], [-1, 1]).evaluate([1e100], 0.0, "squared_hinge")
    assert got.value == got.bound == np.inf


def test_a_point_that_moves_by_less_than_the_root_of_a_float_is_read_again() -> None:
    points = MovingPoints(Point(np.array([1e150]), 0.0))
    assert points.update([1], [[1e-163]]).labels.tolist() == [1]
    assert points.update([1], [[-1e-163]]).labels.tolist() == [-1]
