"""Gradient descent: the paper's step rule, and what the index may and may not change."""

from __future__ import annotations

import itertools
import pickle
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.solvers.data import some_weights, two_clouds

from hinge import Interrupted, Problem, Status, Stop, UnsupportedError, solve
from hinge.block_map import map_blocks
from hinge.bounds import Adaptive, passes
from hinge.bounds.stored import SORT_AFTER_SCANS
from hinge.errors import InvalidParameterError
from hinge.losses import Huber
from hinge.models.checkpoint import load_checkpoint, save_checkpoint
from hinge.result import Point
from hinge.solvers import Gradient
from hinge.solvers.linear import gradient


def clouds(
    intercept: str = "free", *, n: int = 400, C: float = 0.05, sparse: bool = False, h: float = 0.1
) -> Problem:
    X, y = two_clouds(n, 6, noise=1.5, sparse=sparse)
    weights = some_weights(n)
    return Problem(X, y, loss=Huber(h), C=C, intercept=intercept, sample_weight=weights)


def walked(solver: Gradient, problem: Problem, steps: int) -> tuple[list[float], list[float]]:
    """Return objective and step length after each of some steps."""
    state = solver.start(problem)
    solver.step(state, 1)
    values, lengths = [state.value], [state.length]
    while state.steps < steps and not state.at_rest:
        solver.step(state, 1)
        values.append(state.value)
        lengths.append(state.length)
    return values, lengths


def objective(problem: Problem, coef: np.ndarray, b: float) -> float:
    margins = np.concatenate(
        [problem.signs[k.rows] * (k.dot(coef) + b) for k in problem.rows.blocks()]
    )
    weight = problem.intercept_weight(b)
    losses = float(problem.costs @ problem.loss.value(margins))
    return 0.5 * float(coef @ coef) + 0.5 * weight * weight + losses


@pytest.mark.parametrize("intercept", ["free", "augmented", "none"])
@pytest.mark.parametrize("sparse", [False, True])
def test_same_optimum_as_coordinate_descent(intercept: str, sparse: bool) -> None:
    problem = clouds(intercept, sparse=sparse)
    stop = Stop(gap=1e-6)
    ours, other = solve(problem, "gradient", stop), solve(problem, "dual-coordinate", stop)
    assert ours.status is Status.SOLVED
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-6)


def test_the_step_begins_at_100_and_is_halved_on_an_increase_only() -> None:
    values, lengths = walked(Gradient(), clouds(), 50)
    assert lengths[0] == 100.0
    halved = [after < before for before, after in itertools.pairwise(lengths)]
    assert any(halved)
    assert not all(halved)
    for k, was_halved in enumerate(halved):
        assert lengths[k + 1] == (0.5 * lengths[k] if was_halved else lengths[k])
        # A step that increases the objective is undone, any other one decreases it.
        assert values[k + 1] == values[k] if was_halved else values[k + 1] < values[k]


def test_an_increase_may_be_kept() -> None:
    values, lengths = walked(Gradient(undo=False), clouds(), 200)
    risen = [k for k in range(len(values) - 1) if values[k + 1] > values[k]]
    assert risen
    assert all(lengths[k + 1] == 0.5 * lengths[k] for k in risen)


def test_the_objective_is_the_one_with_a_mean() -> None:
    problem = clouds("augmented")
    solver = Gradient()
    state = solver.start(problem)
    while state.steps < 30:
        solver.step(state, 1)
    value = objective(problem, state.vector[:-1], state.constant * state.vector[-1])
    scale = problem.C * problem.sample_weight.sum()
    assert state.value == pytest.approx(value / scale, rel=1e-12)
    assert solver.progress(state).primal == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("eps", [1e-3, 1e-5])
@pytest.mark.parametrize("undo", [True, False])
def test_the_run_rests_at_a_small_decrease(eps: float, undo: bool) -> None:
    problem = clouds()
    values, _ = walked(Gradient(eps=eps, undo=undo), problem, 10_000)
    decreases = [(a - b) / a for a, b in itertools.pairwise(values)]
    assert 0.0 < decreases[-1] <= eps
    # Neither an increase nor a step undone has ended it, however small.
    assert all(change > eps or change <= 0.0 for change in decreases[:-1])
    assert any(change <= 0.0 for change in decreases)
    solution = solve(problem, Gradient(eps=eps, undo=undo), Stop(gap=1e-12))
    assert solution.status is Status.STALLED
    assert solution.steps == len(values) - 1


@pytest.mark.parametrize("bound", ["sphere", "box", "trajectory"])
def test_bounds_change_the_work_and_not_the_path(bound: str) -> None:
    problem = clouds(n=2000, h=0.01, C=0.001)
    states = {}
    for name in (None, bound):
        solver = Gradient(name, policy=Adaptive())
        state = states[name] = solver.start(problem)
        while state.steps < 300:
            solver.step(state, 1)
    plain, pruned = states[None], states[bound]
    assert plain.examined == plain.evaluations * problem.n_rows
    assert pruned.examined < 0.7 * plain.examined
    assert pruned.length == plain.length
    assert pruned.value == pytest.approx(plain.value, rel=1e-12)
    np.testing.assert_allclose(pruned.vector, plain.vector, rtol=1e-9, atol=1e-12)


def test_a_state_that_goes_on_makes_its_index_anew() -> None:
    problem = clouds(n=1000)
    solver = Gradient()
    straight, saved = solver.start(problem), solver.start(problem)
    longest = 0
    for _ in range(300):
        solver.step(straight, 1)
        solver.step(saved, 1)
        saved = pickle.loads(pickle.dumps(saved)).resumed(problem)
        longest = max(longest, saved.counts["evaluations"])
    assert longest > SORT_AFTER_SCANS
    assert saved.vector.tobytes() == straight.vector.tobytes()
    assert saved.examined == straight.examined
    assert saved.parts().keys() == straight.parts().keys()


class _GivenUp(Exception):  # noqa: N818 - an event, not an error
    """Raised by a check, as the driver's is on Ctrl-C."""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bound", [None, "trajectory"])
def test_a_step_that_is_given_up_leaves_the_run_as_it_was(
    monkeypatch: pytest.MonkeyPatch, bound: str | None, threads: int
) -> None:
    monkeypatch.setattr(passes, "CHUNK_VALUES", 512)  # many native calls in a pass
    problem = clouds(n=1000)
    solver = Gradient(bound)
    straight, stopped = solver.start(problem), solver.start(problem)
    straight.threads = stopped.threads = threads
    asked, given_up = itertools.count(1), 0

    def check() -> None:
        if next(asked) % 19 == 0:
            raise _GivenUp

    for _ in range(150):
        solver.step(straight, 1)
        stopped.stop_check = check
        try:
            solver.step(stopped, 1)
        except _GivenUp:
            given_up += 1
            stopped.stop_check = None
            solver.step(stopped, 1)
    assert given_up > 5
    assert stopped.steps == straight.steps
    assert stopped.vector.tobytes() == straight.vector.tobytes()
    assert stopped.examined == straight.examined


def test_ctrl_c_is_answered_within_an_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "CHUNK_VALUES", 512)
    calls = []
    parts = passes.Passes._calls

    def pressed_at_the_fifth(*span: Any) -> Iterator[tuple[int, int]]:
        for part in parts(*span):
            calls.append(part)
            if len(calls) == 5:
                signal.raise_signal(signal.SIGINT)
            yield part

    monkeypatch.setattr(passes.Passes, "_calls", pressed_at_the_fifth)
    with pytest.raises(Interrupted) as caught:
        solve(clouds(n=1000), "gradient")
    assert len(calls) == 5  # of the first pass, which has a dozen
    solution = caught.value.solution
    assert solution is not None
    assert solution.status is Status.INTERRUPTED
    # A dual point would take a pass more.
    assert not solution.coef.any()
    assert solution.dual_coef is None


def test_ctrl_c_is_answered_while_a_dual_point_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(*arguments: Any, **options: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        map_blocks(*arguments, **options)

    monkeypatch.setattr(gradient, "map_blocks", pressed)
    with pytest.raises(Interrupted) as caught:
        solve(clouds(), "gradient")
    assert caught.value.solution is not None
    assert caught.value.solution.coef.any()
    assert caught.value.solution.dual_coef is None


def test_an_observer_gets_the_point_of_a_run_that_is_about_to_end() -> None:
    points = []

    def observer(event: Any) -> None:
        if event.progress.steps >= 5 and not points:
            signal.raise_signal(signal.SIGINT)
            points.append(event.point())

    with pytest.raises(Interrupted):
        solve(clouds(), "gradient", Stop(gap=1e-9), observers=[observer])
    assert points[0].dual_coef is not None


def test_a_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    problem = clouds(n=1000)
    whole = solve(problem, Gradient(undo=False), Stop(gap=1e-9, steps=200))
    begun = solve(problem, Gradient(undo=False), Stop(gap=1e-9, steps=90))
    save_checkpoint(tmp_path / "run", problem, begun.state)
    state = load_checkpoint(tmp_path / "run", problem)
    rest = solve(problem, "gradient", Stop(gap=1e-9, steps=200), resume=state)
    assert rest.coef.tobytes() == whole.coef.tobytes()
    assert rest.state.examined == whole.state.examined


def test_numbers_that_leave_floating_point_halve_the_step() -> None:
    X, y = two_clouds(60, 3)
    problem = Problem(X * 1e140, y, loss="huber", C=1e-3, intercept="none")
    solution = solve(problem, Gradient(), Stop(gap=1e-3, steps=20_000))
    assert np.isfinite(solution.coef).all()
    assert solution.status in (Status.SOLVED, Status.STALLED, Status.ITERATION_LIMIT)


def test_a_start_of_a_wrong_shape_or_without_numbers_is_left_alone() -> None:
    problem = clouds()
    for warm in (Point(np.ones(3)), Point(np.full(6, np.nan))):
        assert not Gradient().start(problem, warm).vector.any()
    warm = Point(np.ones(6), 2.0)
    assert Gradient().start(problem, warm).vector.tolist() == [1.0] * 6 + [2.0]


@pytest.mark.parametrize(("loss", "why"), [("hinge", "corner"), ("squared_hinge", "any line")])
def test_other_losses_are_refused(loss: str, why: str) -> None:
    X, y = two_clouds()
    with pytest.raises(UnsupportedError, match=f"{why}.*use loss='huber'"):
        solve(Problem(X, y, loss=loss), "gradient")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"length": 0.0}, "length must be greater than 0; got 0.0"),
        ({"eps": -1e-3}, "eps must not be negative; got -0.001"),
        ({"eps": "small"}, "eps must be a number; got 'small'"),
    ],
)
def test_options_that_make_no_sense(options: dict, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Gradient(**options)


def test_an_unknown_bound_is_named() -> None:
    with pytest.raises(InvalidParameterError, match=r"bound must be one of .*got 'ball'"):
        solve(clouds(), Gradient("ball"))
