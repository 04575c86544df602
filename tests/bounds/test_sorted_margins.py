"""The index against a full pass: same value and gradient, fewer rows, any number of threads."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.wandering import plain, two_clouds, wander

from hinge import InvalidDataError, InvalidParameterError, UnsupportedError, losses
from hinge._native import core
from hinge.bounds import SortedMargins, passes, stored
from hinge.bounds.pieces import get_pieces

BOUNDS = ["sphere", "centred", "norms", "box", "clusters", "tree", "trajectory"]
LOSSES = ["hinge", "squared_hinge", losses.Huber(0.01), "zero_one"]


def _check(got, want) -> None:
    value, gradient, gradient_b = want
    assert abs(got.value - value) <= 2 * got.bound
    assert np.linalg.norm(got.gradient - gradient) <= 2 * got.gradient_bound
    assert abs(got.gradient_b - gradient_b) <= 2 * got.gradient_bound


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("bound", BOUNDS)
def test_evaluation_equals_the_plain_sum_while_weights_wander(bound, loss, sparse) -> None:
    X, y = two_clouds(0)
    index = SortedMargins(sp.csr_array(X) if sparse else X, y, bound)
    examined = []
    for w, b in wander(1, X.shape[1], 40):
        got = index.evaluate(w, b, loss)
        _check(got, plain(X, y, w, b, loss))
        examined.append(got.examined)
    assert min(examined) < 0.9 * len(y)


@pytest.mark.parametrize("loss", ["hinge", losses.Huber(0.1), losses.Huber(0.3)], ids=str)
def test_sorting_spares_the_same_rows(monkeypatch, loss) -> None:
    X, y = two_clouds(2, n=3000)
    # Rows exactly at an edge that float32 may round, which the intercept alone moves away.
    X[:10] = y[:10, None] * get_pieces(loss).low * np.eye(X.shape[1])[0]
    at_edge = [(np.eye(X.shape[1])[0], b) for b in (0.0, 0.0, 0.0, -0.1, 0.1)]
    results = []
    for scans in (1, 10**9):
        monkeypatch.setattr(stored, "SORT_AFTER_SCANS", scans)
        index = SortedMargins(X, y)
        found = []
        for w, b in [*at_edge, *wander(3, X.shape[1], 12)]:
            found.append(index.evaluate(w, b, loss))
            if index.record.evaluations > 1:
                assert index.stored.positions.is_sorted == (scans == 1)
        results.append(found)
    for sorted_one, plain_one in zip(*results, strict=True):
        assert sorted_one.examined == plain_one.examined
        assert abs(sorted_one.value - plain_one.value) <= 2 * plain_one.bound


def test_cells_of_several_runs_are_sorted_run_by_run(monkeypatch) -> None:
    X, y = two_clouds(5, n=2 * core.sorted_run + 40_000, d=1)
    results = []
    for scans, positions in ((1, 1 << 22), (10**9, 100_003)):
        monkeypatch.setattr(stored, "SORT_AFTER_SCANS", scans)
        monkeypatch.setattr(stored, "_CALL", positions)
        index = SortedMargins(X, y)
        found = [index.evaluate([1.0 + 1e-4 * k], 0.0, "hinge") for k in range(5)]
        assert index.stored.positions.is_sorted == (scans == 1)
        results.append([(each.value, each.examined) for each in found])
    assert max(np.bincount(index.stored.cells.of_row)) > core.sorted_run
    assert min(examined for _, examined in results[0]) < 0.1 * len(y)
    assert [each[1] for each in results[0]] == [each[1] for each in results[1]]
    np.testing.assert_allclose(*([each[0] for each in one] for one in results), rtol=1e-12)


def test_giving_up_a_sort_changes_nothing() -> None:
    X, y = two_clouds(6, n=500)
    index = SortedMargins(X, y)
    index.evaluate(np.ones(X.shape[1]))
    positions = index.stored.laid_out()
    before = positions.order.copy(), positions.keys.copy()

    def give_up() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        positions.sort(give_up)
    assert not positions.is_sorted
    np.testing.assert_array_equal(positions.order, before[0])
    positions.sort()
    for cell in range(index.stored.cells.count):
        keys = positions.keys[positions.starts[cell] : positions.starts[cell + 1]]
        assert len(keys) > 100
        assert np.all(np.diff(keys) >= 0.0)
    assert sorted(positions.keys) == sorted(before[1])


def test_many_rows_are_guessed_from_a_sample_first() -> None:
    X, y = two_clouds(4, n=20_000, d=2)
    index = SortedMargins(X, y)
    w, b = np.array([1.0, 1.0]), 0.0
    index.evaluate(w, b)
    pieces = get_pieces("hinge")
    near, far = w * 1.001, -5.0 * w
    assert index.stored.guess_open(index.stored.moved(near), b, pieces) < 0.05 * len(y)
    assert index.stored.guess_open(index.stored.moved(far), b, pieces) > 0.9 * len(y)
    assert index.evaluate(far, b).examined == len(y)
    assert index.stored.positions is None  # no key was looked at in vain
    got = index.evaluate(far * 1.0001, b)
    assert got.examined < 0.1 * len(y)
    _check(got, plain(X, y, far * 1.0001, b, "hinge"))


@pytest.mark.parametrize("sparse", [False, True])
def test_bits_do_not_depend_on_threads(monkeypatch, sparse) -> None:
    monkeypatch.setattr(passes, "CHUNK_VALUES", 512)
    X, y = two_clouds(5, n=2000)
    results = []
    for n_jobs in (1, 2, 3):
        index = SortedMargins(sp.csr_array(X) if sparse else X, y)
        index.passes.threads = n_jobs
        found = [index.evaluate(w, b, "hinge") for w, b in wander(6, X.shape[1], 8, 1e-2)]
        results.append(found)
    assert min(found.examined for found in results[0]) < len(y)
    for one, *others in zip(*results, strict=True):
        for other in others:
            assert one.value == other.value
            assert one.gradient_b == other.gradient_b
            assert np.array_equal(one.gradient, other.gradient)


def test_sample_weights_are_costs() -> None:
    X, y = two_clouds(7)
    weights = np.random.default_rng(0).choice([0.0, 1.0, 2.5], size=len(y))
    index = SortedMargins(X, y, sample_weight=weights)
    for w, b in wander(8, X.shape[1], 10):
        _check(index.evaluate(w, b, "hinge"), plain(X, y, w, b, "hinge", weights))


def test_another_loss_needs_no_new_margins() -> None:
    X, y = two_clouds(9)
    index = SortedMargins(X, y)
    w, b = next(wander(10, X.shape[1], 1))
    index.evaluate(w, b, "hinge")
    for loss in ("zero_one", losses.Huber(0.3)):
        got = index.evaluate(w * (1 + 1e-6), b, loss)
        assert got.examined < len(y) / 2
        _check(got, plain(X, y, w * (1 + 1e-6), b, loss))


def test_a_pickled_index_goes_on_with_the_same_bits() -> None:
    X, y = two_clouds(11)
    points = list(wander(12, X.shape[1], 12))
    index = SortedMargins(X, y)
    for w, b in points[:6]:
        index.evaluate(w, b)
    copy = pickle.loads(pickle.dumps(index))
    for w, b in points[6:]:
        one, other = index.evaluate(w, b), copy.evaluate(w, b)
        assert one.examined == other.examined
        assert one.value == other.value
        assert np.array_equal(one.gradient, other.gradient)


def test_labels_of_one_kind_and_named_labels() -> None:
    X, y = two_clouds(13)
    w = np.ones(X.shape[1])
    only = SortedMargins(X, np.ones(len(y), dtype=int))
    assert only.evaluate(w).value == pytest.approx(plain(X, np.ones(len(y)), w, 0, "hinge")[0])
    named = SortedMargins(X, np.where(y > 0, "yes", "no"))
    assert named.evaluate(w).value == SortedMargins(X, y).evaluate(w).value


def test_huge_weights_leave_rows_open_and_warn_of_nothing() -> None:
    X, y = two_clouds(14)
    index = SortedMargins(X, y)
    for size in (1.0, 1e155, 1e300, 1.0):
        w = size * np.ones(X.shape[1])
        got, want = index.evaluate(w), plain(X, y, w, 0.0, "hinge")
        assert want[0] > 0.1 * size
        assert got.value == pytest.approx(want[0], rel=1e-9)
        np.testing.assert_allclose(got.gradient, want[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (np.ones(3), r"w has shape \(3,\); the rows have 5 features, so it must be \(5,\)."),
        (np.array([0, 0, np.nan, 0, 0]), r"w\[2\] is nan; weights must be finite."),
        (np.array([0, np.inf, 0, 0, 0]), r"w\[1\] is inf; weights must be finite."),
    ],
)
def test_weights_that_cannot_be_used(w, message) -> None:
    X, y = two_clouds(0)
    with pytest.raises(InvalidDataError, match=message):
        SortedMargins(X, y).evaluate(w)


def test_names_that_are_not_known() -> None:
    X, y = two_clouds(0)
    with pytest.raises(InvalidParameterError, match="Did you mean 'sphere'"):
        SortedMargins(X, y, "spheer")
    with pytest.raises(InvalidParameterError, match="Did you mean 'adaptive'"):
        SortedMargins(X, y, policy="adaptiv")
    with pytest.raises(InvalidParameterError, match="Did you mean 'hinge'"):
        SortedMargins(X, y).evaluate(np.ones(5), loss="hing")
    with pytest.raises(InvalidParameterError, match="b must be finite"):
        SortedMargins(X, y).evaluate(np.ones(5), b=np.inf)


class _ThreeKinks(losses.Hinge):
    kinks = tuple(losses.Kink(margin, 0.5, 0.0) for margin in (0.0, 0.5, 1.0))


def test_a_loss_with_more_pieces_is_refused() -> None:
    X, y = two_clouds(0)
    with pytest.raises(UnsupportedError, match="with 3 kinks"):
        SortedMargins(X, y).evaluate(np.ones(5), loss=_ThreeKinks())


def test_the_weight_of_a_single_row_outlives_a_change_of_loss() -> None:
    index = SortedMargins([[1.0]], [1], sample_weight=[5.0])
    index.evaluate([-3.0])
    for loss in ("zero_one", losses.Huber(0.1)):
        got = index.evaluate([-3.0000001], 0.0, loss)
        assert got.examined == 0
        want = plain(
            np.ones((1, 1)), np.ones(1), np.array([-3.0000001]), 0.0, loss, np.array([5.0])
        )
        _check(got, want)
