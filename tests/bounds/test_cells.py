"""Bounds as objects: cells hold every row, and changes of margins stay within them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from tests.bounds.wandering import plain, two_clouds

from hinge import InvalidParameterError
from hinge.bounds import Clusters, MetricTree, SortedMargins, Sphere, Trajectory, get_bound
from hinge.rows import Rows

BOUNDS = ["sphere", "centred", "norms", "box", "clusters", "tree", "trajectory"]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", BOUNDS)
def test_changes_of_margins_lie_within_shift_and_spread(name, sparse) -> None:
    X, y = two_clouds(0, n=60, d=4)
    signs = y.astype(np.int8)
    cells = get_bound(name).cells(Rows(sp.csr_array(X) if sparse else X), signs)
    rng = np.random.default_rng(1)
    for size in (1e-9, 1.0, 1e6):
        dw, db = size * rng.standard_normal(4), size * rng.standard_normal()
        change = cells.change(dw, db)
        for row in range(len(y)):
            cell = cells.of_row[row]
            assert cells.signs[cell] == y[row]
            terms = zip(X[row].tolist(), dw.tolist(), strict=True)
            exact = sum((Fraction(a) * Fraction(c) for a, c in terms), Fraction(db)) * int(y[row])
            for shift, spread in (
                (change.shift[cell], change.spread[cell]),
                cells.row_change(row, dw, db),
            ):
                assert abs(exact - Fraction(float(shift))) <= Fraction(float(spread))


def test_a_row_of_its_own_distance_has_the_narrower_bound() -> None:
    X, y = two_clouds(2, n=60, d=4)
    cells = get_bound("norms").cells(Rows(X), y.astype(np.int8))
    spreads = [cells.row_change(row, np.ones(4))[1] for row in range(len(y))]
    assert min(spreads) < 0.5 * max(spreads)


def test_tighter_bounds_examine_fewer_rows_on_the_way_down() -> None:
    X, y = two_clouds(3, n=2000, d=10)
    examined = {}
    for bound in ("sphere", "norms", "trajectory"):
        index = SortedMargins(X, y, bound)
        w = np.zeros(10)
        total = 0
        for _ in range(300):
            found = index.evaluate(w, 0.0, "hinge")
            total += found.examined
            w = w - 0.1 * (found.gradient / len(y) + 1e-3 * w)
        assert found.value == pytest.approx(
            plain(X, y, index.stored.reference.w, 0.0, "hinge")[0], rel=0.1
        )
        examined[bound] = total
    assert examined["norms"] < examined["sphere"]
    assert examined["trajectory"] < 0.6 * examined["sphere"]


def test_a_tree_of_more_leaves_than_rows_and_clusters_likewise() -> None:
    X, y = two_clouds(4, n=5, d=2)
    for bound in (MetricTree(depth=4), Clusters(k=20), Trajectory(MetricTree(depth=2))):
        index = SortedMargins(X, y, bound)
        for scale in (1.0, 1.0001):
            w = scale * np.ones(2)
            assert index.evaluate(w).value == pytest.approx(plain(X, y, w, 0.0, "hinge")[0])


def test_the_levels_of_a_tree_remember_nothing_of_rows() -> None:
    X, y = two_clouds(4, n=50, d=2)
    cells = MetricTree(depth=3).cells(Rows(X), np.asarray(y, dtype=np.int8))
    assert [level.cells.count for level in cells.levels] == [2, 4, 8]
    for level in cells.levels:
        assert len(level.cells.of_row) == 0
        assert level.cells.of_row.base is None
        assert level.cells.distances is None


def test_settings_outside_their_range() -> None:
    with pytest.raises(InvalidParameterError, match="k must be at least 1; got 0"):
        Clusters(k=0)
    with pytest.raises(InvalidParameterError, match="depth must be an integer of at least 0"):
        MetricTree(depth=-1)
    with pytest.raises(InvalidParameterError, match=r"depth must be at most 16, .*; got 17"):
        MetricTree(depth=17)
    assert MetricTree(depth=16).depth == 16
    assert get_bound(Sphere()).name == "sphere"
