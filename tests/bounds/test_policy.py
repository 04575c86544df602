"""When all rows are taken again."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bounds.wandering import two_clouds, wander

from hinge import InvalidParameterError
from hinge.bounds import Action, Adaptive, Measured, Period, SortedMargins
from hinge.bounds.policy import Record, sort_period


def _record(examined: list[int], n: int = 1000) -> Record:
    record = Record(n, row_work=10.0, n_features=10)
    record.reset()
    for rows in examined:
        record.add(rows)
    return record


def test_the_period_is_equation_four() -> None:
    record = _record([])
    want = 10 * (10 * 1000 + 1000 * np.log(1000) + 10) / (10 * 1000 + 10)
    assert sort_period(record, 10.0) == pytest.approx(want)


def test_period_ends_and_nothing_spared_is_a_full_pass() -> None:
    policy = Period(c=1.0)
    assert policy.choose(_record([10]), 10) is Action.PRUNED
    assert policy.choose(_record([10, 10]), 10) is Action.FULL
    assert policy.choose(_record([]), 1000) is Action.FULL


def test_adaptive_waits_while_little_is_examined() -> None:
    policy = Adaptive(c=1.0)
    assert policy.choose(_record([10] * 50), 10) is Action.PRUNED
    assert policy.choose(_record([10, 600]), 600) is Action.FULL  # less than half was spared
    growing = list(range(0, 400, 20))
    assert policy.choose(_record(growing), 400) is Action.FULL  # the area exceeds the cost
    assert policy.choose(_record(growing[:4]), 80) is Action.PRUNED


def test_measured_compares_what_was_lost_with_the_price_of_all_rows() -> None:
    policy = Measured(open_row=1.0, store_row=0.1)
    assert policy.choose(_record([10] * 500), 10) is Action.PRUNED
    assert policy.choose(_record([10, 500]), 500) is Action.PRUNED  # 980 beyond the best
    assert policy.choose(_record([10, 600]), 600) is Action.FULL  # 1180
    assert Measured(open_row=2.0).choose(_record([]), 500) is Action.FULL


@pytest.mark.parametrize("policy", ["period", "adaptive", "measured"])
def test_a_policy_changes_no_value_beyond_rounding(policy) -> None:
    X, y = two_clouds(0)
    index, exact = SortedMargins(X, y, policy=policy), SortedMargins(X, y)
    actions = set()
    for w, b in wander(1, X.shape[1], 60, 5e-3):
        got, want = index.evaluate(w, b, "hinge"), exact.sort(w, b, "hinge")
        actions.add(got.examined == len(y))
        assert abs(got.value - want.value) <= got.bound
        assert np.linalg.norm(got.gradient - want.gradient) <= got.gradient_bound
    assert actions == {True, False}


@pytest.mark.parametrize("make", [lambda: Period(c=0), lambda: Measured(open_row=-1.0)])
def test_constants_outside_their_range(make) -> None:
    with pytest.raises(InvalidParameterError, match="must be greater than 0"):
        make()


def test_the_bound_rests_while_weights_jump_about() -> None:
    X, y = two_clouds(2)
    index = SortedMargins(X, y)
    rng = np.random.default_rng(3)
    looks = []
    open_rows = index.stored.open_rows
    index.stored.open_rows = lambda *point: looks.append(1) or open_rows(*point)
    for _ in range(20):
        w = 10.0 * rng.standard_normal(X.shape[1])
        assert index.evaluate(w).examined == len(y)
    assert len(looks) == 6  # with rests of 0, 1, 2, 3, 4 between them
    for _ in range(4):
        last = index.evaluate(w)
    assert last.examined < len(y) / 10
    assert index.record.rests == 0
