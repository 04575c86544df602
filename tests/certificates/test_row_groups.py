"""Numbers of rows in groups: the same results however the rows are grouped and shared out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hinge import Point, Problem
from hinge.certificates import gap, settled
from hinge.certificates.row_groups import (
    PART,
    WORTH_SHARING,
    map_groups,
    part_sums,
    sum_rounding,
    tree_sum,
)

N_ROWS = WORTH_SHARING + 4321


@pytest.mark.parametrize("n_rows", [1, PART - 1, PART, 3 * PART + 7, N_ROWS, 3 * N_ROWS])
def test_groups_hold_every_row_once_in_whole_parts(n_rows: int) -> None:
    for threads in (1, 2, 3):
        groups = map_groups(lambda rows: (rows.start, rows.stop), n_rows, threads=threads)
        starts, stops = zip(*groups, strict=True)
        assert starts == (0, *stops[:-1])
        assert stops[-1] == n_rows
        assert all(start % PART == 0 for start in starts)


@pytest.mark.parametrize("n_rows", [1, PART, 2 * PART + 1, N_ROWS])
def test_sums_do_not_depend_on_the_groups_and_keep_their_bound(n_rows: int, seed: int) -> None:
    terms = np.exp(10.0 * np.random.default_rng(seed).normal(size=n_rows))
    found = set()
    for threads in (1, 2, 3):
        parts = map_groups(lambda rows: part_sums(terms[rows]), n_rows, threads=threads)
        found.add(float(tree_sum(np.concatenate(parts))))
    (computed,) = found
    exact = sum(map(Fraction, terms.tolist()))
    assert abs(Fraction(computed) - exact) <= Fraction(sum_rounding(n_rows)) * exact


def test_sums_along_the_last_axis() -> None:
    np.testing.assert_array_equal(tree_sum(np.arange(10.0).reshape(2, 5)), [10.0, 35.0])


def _large(loss: str, weighted: bool) -> tuple[Problem, Point]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N_ROWS, 3)) + 5.0
    y = X[:, 0] + rng.normal(size=N_ROWS) > 5.0
    weights = rng.integers(0, 3, size=N_ROWS).astype(float) if weighted else None
    problem = Problem(X, y, loss=loss, C=2.0, sample_weight=weights)
    alpha = np.minimum(rng.random(N_ROWS), problem.loss.upper_bound(problem.costs))
    return problem, Point(np.asarray([1.0, 0.1, 0.0]), -5.0, alpha)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("weighted", [False, True])
def test_certificates_of_many_rows_have_the_same_bits(loss: str, weighted: bool) -> None:
    problem, point = _large(loss, weighted)
    one, two = (gap(problem, point, threads=threads) for threads in (1, 2))
    for name in ("primal", "dual", "gap", "relative_gap", "rounding", "kkt"):
        assert getattr(one, name) == getattr(two, name)
    assert one.region.radius == two.region.radius
    assert one.region.offsets == two.region.offsets
    assert one.region.origin.tobytes() == two.region.origin.tobytes()


def test_a_mean_of_some_blocks_serves_as_well_as_that_of_all(monkeypatch) -> None:
    problem, point = _large("hinge", weighted=True)
    whole = gap(problem, point).region
    monkeypatch.setattr(settled, "_MEAN_BLOCKS", 2)
    some = gap(problem, point).region
    assert some.origin.tobytes() != whole.origin.tobytes()
    np.testing.assert_allclose(some.origin, whole.origin, atol=0.05)
    np.testing.assert_allclose(
        some.decision_bounds(problem.rows.values[:9]),
        whole.decision_bounds(problem.rows.values[:9]),
        rtol=0.01,
    )


def test_a_region_is_found_for_certificates_that_are_to_have_one() -> None:
    problem, point = _large("hinge", weighted=False)
    asked = []
    assert gap(problem, point, region=lambda found: bool(asked.append(found))).region is None
    (certificate,) = asked
    assert certificate.region is None
    assert gap(problem, point, region=lambda found: found == certificate).region is not None
