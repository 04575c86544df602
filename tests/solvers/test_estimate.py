"""Forecasts of time and memory: known shapes, known answers, and no clock but a false one."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest
from tests.solvers.data import two_clouds

import hinge
from hinge import Problem, Stop, solve
from hinge.solvers import estimate as module
from hinge.solvers.auto import SHORT_TRIAL, TRIAL
from hinge.solvers.estimate import Pilot, forecast, memory_bytes
from hinge.solvers.linear.pilot import draw, sample_bytes, sample_sizes


def _pilot(rows: int, seconds: float, *, solved: bool = True, solver: str = "newton") -> Pilot:
    return Pilot(rows, seconds, min(seconds, 0.3), solver, solved)


@pytest.mark.parametrize("power", [0.8, 1.0, 1.2])
def test_a_power_of_the_rows_is_carried_on(power: float) -> None:
    pilots = [_pilot(1000, 0.01), _pilot(4000, 0.01 * 4**power)]
    told = forecast(1_000_000, pilots, 1.0, 0)
    assert told.seconds == pytest.approx(0.01 * 1000**power)
    assert told.low < told.seconds < told.high < math.inf


@pytest.mark.parametrize(("factor", "power"), [(1.0, 0.8), (64.0, 1.3)])
def test_a_power_that_cannot_be_is_not_believed(factor: float, power: float) -> None:
    told = forecast(400_000, [_pilot(1000, 0.01), _pilot(4000, 0.01 * factor)], 1.0, 0)
    assert told.seconds == pytest.approx(0.01 * factor * 100**power)


def test_reading_from_memory_counts() -> None:
    pilots = [_pilot(1000, 0.01), _pilot(4000, 0.04)]
    near, far = (forecast(40_000, pilots, cold, 0) for cold in (1.0, 2.0))
    assert far.seconds == pytest.approx(2.0 * near.seconds)
    assert far.low == near.low


def test_samples_that_another_method_ended_are_taken_to_grow_linearly() -> None:
    pilots = [_pilot(1000, 0.001, solver="dual-coordinate"), _pilot(4000, 0.04)]
    told = forecast(40_000, pilots, 1.0, 0)
    assert told.seconds == pytest.approx(0.4)
    assert told.solver == "newton"


def test_a_pilot_that_did_not_end_gives_no_upper_end() -> None:
    told = forecast(8000, [_pilot(1000, 0.1), _pilot(4000, 3.0, solved=False)], 1.0, 10**9)
    assert told.seconds == pytest.approx(6.0)
    assert told.high == math.inf
    assert str(told) == (
        "About 6.0 s (at least 3.5 s) and 1.0 GB beside the data, with newton: "
        "a fit of 4,000 of 8,000 rows would have taken 3.0 s."
    )


def test_a_pilot_without_progress_says_so() -> None:
    told = forecast(40_000, [_pilot(4000, math.inf, solved=False)], 1.0, 2000)
    assert math.isinf(told.seconds)
    assert str(told) == (
        "More than 2.4 s, and 2 kB beside the data: "
        "a fit of 4,000 of 40,000 rows made no progress in 300 ms."
    )


def test_a_forecast_is_a_sentence() -> None:
    told = forecast(1_000_000, [_pilot(1000, 0.05), _pilot(4000, 0.2)], 1.0, 123_456_789)
    assert str(told) == (
        "About 50 s (between 18 s and 2.3 min) and 123.5 MB beside the data, with newton: "
        "a fit of 4,000 of 1,000,000 rows took 200 ms."
    )
    assert "3.0 h" in str(forecast(54_000, [_pilot(1, 0.2)], 1.0, 0))


def _ticking(monkeypatch: pytest.MonkeyPatch, tick: float) -> None:
    """Let every look at the clock take a tick."""
    times = itertools.count()
    monkeypatch.setattr(module, "clock", lambda: tick * next(times))


def test_all_rows_are_tried_where_they_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    _ticking(monkeypatch, 0.05)
    told = hinge.estimate(Problem(*two_clouds()))
    assert told.seconds == pytest.approx(0.05)
    assert told.solver == "primal-newton"
    assert "a fit of all rows took 50 ms" in told.reason


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_samples_stand_for_all_rows(
    monkeypatch: pytest.MonkeyPatch, sparse: bool, weighted: bool
) -> None:
    X, y = two_clouds(60_000 if sparse else 30_000, 20, sparse=sparse)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    problem = Problem(X, y, C=0.01, intercept="free", sample_weight=weights)
    larger, smaller = module._samples(problem, 0)
    assert larger.n_rows == 4 * smaller.n_rows < len(y)
    for sample in (larger, smaller):
        assert np.sum(sample.costs) == pytest.approx(np.sum(problem.costs))
        assert sample.intercept is problem.intercept
    _ticking(monkeypatch, 0.1)
    told = hinge.estimate(problem)
    # Both fits and all readings take one tick each: the least power that is believed.
    assert told.seconds == pytest.approx(0.1 * (len(y) / larger.n_rows) ** 0.8)
    assert told.low < told.seconds < told.high


def test_a_sample_with_too_few_of_a_class_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(30_000, 20)
    rare = np.zeros(len(y), dtype=int)
    rare[:30] = 1
    problem = Problem(X, rare, C=1e-3)
    assert module._samples(problem, 0) == [problem]
    _ticking(monkeypatch, 0.1)
    assert "all rows" in hinge.estimate(problem).reason


@pytest.mark.usefixtures("small_data_as_large")
def test_the_second_method_of_a_relay_is_forecast_if_the_first_will_not_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_SECONDS", (0.0, 0.0))
    stiff = Problem(two_clouds()[0] * np.logspace(0, 4, 6), two_clouds()[1], C=100.0)
    begun = solve(stiff, stop=Stop(gap=1e-6, steps=1))
    assert begun.state.leg == 0
    seconds, name = module._relayed(begun, spent=2.0)
    scale = 2.0 / (begun.work * begun.state.unit_cost)
    assert seconds == pytest.approx((1.0 + TRIAL) * begun.state.rival_cost * scale)
    assert name == "interior-point"
    done = solve(stiff, stop=Stop(gap=1e-6))
    assert module._relayed(done, spent=2.0) == (math.inf, done.solver)


def test_a_short_trial_is_forecast_as_short() -> None:
    X, y = two_clouds(3000, 6, noise=2.0)
    crowded = Problem(X * np.logspace(0, 4, 6), y, C=100.0)
    begun = solve(crowded, stop=Stop(gap=1e-9, steps=1))
    assert begun.state.leg == 0
    assert begun.state.trial_cost == pytest.approx(SHORT_TRIAL * begun.state.rival_cost)
    seconds, _ = module._relayed(begun, spent=2.0)
    scale = 2.0 / (begun.work * begun.state.unit_cost)
    assert seconds == pytest.approx((1.0 + SHORT_TRIAL) * begun.state.rival_cost * scale)


def test_a_fit_that_ends_without_the_gap_is_not_called_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _ticking(monkeypatch, 0.05)
    overlapping = Problem([[0.0], [1.0], [0.5], [2.0]], [0, 0, 1, 1], C=math.inf, loss="hinge")
    told = hinge.estimate(overlapping)
    assert told.reason == "a fit of all rows ended after 50 ms without the gap: not separable"
    assert told.high < math.inf
    on_sample = forecast(8000, [Pilot(4000, 0.3, 0.3, "newton", False, "stalled")], 1.0, 0)
    assert on_sample.high == math.inf
    assert "a fit of 4,000 of 8,000 rows ended after 300 ms without the gap: stalled" in str(
        on_sample
    )


def test_a_hard_margin_is_tried_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(30_000, 20)
    problem = Problem(X + 100.0 * y[:, None], y, C=math.inf, loss="hinge")
    assert module._samples(problem, 0) == [problem]
    _ticking(monkeypatch, 0.1)
    assert hinge.estimate(problem).solver == "hard-margin"


def test_gap_is_checked() -> None:
    with pytest.raises(hinge.InvalidParameterError, match="gap must"):
        hinge.estimate(Problem(*two_clouds()), gap=-1.0)


@pytest.mark.parametrize("solver", ["dual-coordinate", "interior-point", "newton", "primal-newton"])
@pytest.mark.parametrize("intercept", ["free", "augmented"])
@pytest.mark.parametrize("shape", [(20_000, 10), (400, 600), (400, 1500), (5000, 150)])
def test_memory_is_enough_and_not_far_too_much(
    solver: str, intercept: str, shape: tuple[int, int]
) -> None:
    X, y = two_clouds(*shape, sparse=shape[1] > 500)
    loss = "squared_hinge" if solver == "newton" else "hinge"
    problem = Problem(X, y, loss=loss, C=1e-3, intercept=intercept)
    if not hinge.solvers.get_solver(solver, problem).supports(problem):
        pytest.skip(f"{solver} does not take this shape")
    told = memory_bytes(problem, solver)
    peak = _peak(problem, solver)
    assert peak <= told <= 4 * peak + (8 << 20)


@pytest.mark.parametrize("solver", ["dual-coordinate", "interior-point", "hard-margin"])
@pytest.mark.parametrize("intercept", ["free", "augmented"])
@pytest.mark.parametrize("weighted", [False, True])
def test_memory_of_many_rows_is_near(solver: str, intercept: str, weighted: bool) -> None:
    X, y = two_clouds(150_000, 10)
    is_hard = solver == "hard-margin"
    problem = Problem(
        X + 100.0 * y[:, None] if is_hard else X,
        y,
        loss="hinge",
        C=math.inf if is_hard else 1e-3,
        intercept=intercept,
        sample_weight=0.5 + np.random.default_rng(0).random(len(y)) if weighted else None,
    )
    peak = _peak(problem, solver)
    assert peak <= memory_bytes(problem, solver) <= 1.7 * peak


@pytest.mark.parametrize("solver", ["interior-point", "newton"])
@pytest.mark.parametrize(
    ("shape", "sparse", "dtype"),
    [
        ((150_000, 60), False, np.float64),
        ((33_000, 400), False, np.float64),
        ((33_000, 400), False, np.float32),
        ((40_000, 300), True, np.float64),
    ],
)
def test_memory_counts_the_copy_of_a_sample(
    solver: str, shape: tuple[int, int], sparse: bool, dtype: type
) -> None:
    X, y = two_clouds(*shape, sparse=sparse, noise=2.0)
    problem = Problem(X.astype(dtype), y, loss="squared_hinge", C=1e-3, intercept="augmented")
    size = sample_sizes(problem)[-2]
    assert size < problem.n_rows
    rows = draw(problem, size, 0).rows
    arrays = [rows.values, rows.indices, rows.indptr] if sparse else [rows.values]
    copied = sum(array.nbytes for array in arrays)
    assert copied <= sample_bytes(problem) <= 2.5 * copied
    assert _peak(problem, solver) <= memory_bytes(problem, solver)


def test_few_rows_have_no_sample() -> None:
    problem = Problem(*two_clouds(2000, 10))
    assert sample_bytes(problem) == 0
    assert memory_bytes(problem, "newton") < 5 << 20


def _peak(problem: Problem, solver: str) -> int:
    """Return the most memory that a fit takes beyond the data."""
    _ = problem.rows.squared_norms
    tracemalloc.start()
    solve(problem, solver, Stop(gap=1e-3, steps=40))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak
