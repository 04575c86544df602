"""The relay of ``solver="auto"``: who begins, who goes on, and that nothing is lost on the way."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.promises.made import categories
from sklearn.datasets import load_digits
from tests.solvers.data import two_clouds
from tests.solvers.fakes import Scripted

import hinge
from hinge import Problem, Status, Stop, solve
from hinge.solvers import Newton, Support, driver, registry
from hinge.solvers.auto import Look, Watch, most_steps
from hinge.solvers.relay import Relay
from hinge.testing import known_optimum, verify

EASY = two_clouds()
STIFF = two_clouds()[0] * np.logspace(0, 4, 6), two_clouds()[1]
STOP = Stop(gap=1e-6)
LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]

pytestmark = pytest.mark.usefixtures("small_data_as_large")


def _stiff(loss: str = "hinge", intercept: str = "augmented") -> Problem:
    return Problem(*STIFF, loss=loss, intercept=intercept, C=100.0)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_coordinate_descent_ends_what_it_can(loss: str, intercept: str) -> None:
    problem = Problem(*EASY, loss=loss, intercept=intercept, C=0.01)
    solution = solve(problem)
    named = solve(problem, "dual-coordinate")
    assert solution.solver == "dual-coordinate"
    assert solution.status is Status.SOLVED
    assert (solution.steps, solution.work) == (named.steps, named.work)
    assert np.array_equal(solution.coef, named.coef)
    assert np.array_equal(solution.dual_coef, named.dual_coef)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_another_method_ends_what_it_cannot(loss: str, intercept: str) -> None:
    problem = _stiff(loss, intercept)
    solution = solve(problem, stop=STOP)
    assert solution.solver != "dual-coordinate"
    assert solution.status is Status.SOLVED
    verify(problem, solution, STOP)


def _pieces(problem: Problem, cuts: list[int], **options: Any) -> hinge.Solution:
    """Return the end of a run that was cut after some steps and pickled there."""
    state = None
    for cut in cuts:
        part = solve(problem, stop=Stop(gap=STOP.gap, steps=cut), resume=state, **options)
        assert part.steps == cut
        assert part.status is Status.ITERATION_LIMIT
        state = pickle.loads(pickle.dumps(part.state))
    return solve(problem, stop=STOP, resume=state, **options)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_run_in_pieces_has_the_same_bits(loss: str) -> None:
    problem = _stiff(loss)
    whole = solve(problem, stop=STOP)
    handed = whole.state.steps_before
    assert 0 < handed < whole.steps
    cuts = [handed // 2, handed, handed + 1, whole.steps - 1]
    pieces = _pieces(problem, sorted(set(cuts)))
    assert (pieces.solver, pieces.steps, pieces.work) == (whole.solver, whole.steps, whole.work)
    assert np.array_equal(pieces.coef, whole.coef)
    assert np.array_equal(pieces.dual_coef, whole.dual_coef)


@pytest.mark.parametrize("work", [3_000, 30_000])
def test_the_driver_may_slice_the_work(monkeypatch: pytest.MonkeyPatch, work: int) -> None:
    problem = _stiff()
    whole = solve(problem, stop=STOP)
    monkeypatch.setattr(driver, "WORK_PER_STEP", work)
    sliced = solve(problem, stop=STOP)
    assert (sliced.solver, sliced.steps) == (whole.solver, whole.steps)
    assert sliced.state.steps_before == whole.state.steps_before


def test_threads_change_no_bit() -> None:
    problem = _stiff()
    one, two = solve(problem, stop=STOP), solve(problem, stop=STOP, n_jobs=2)
    assert np.array_equal(one.coef, two.coef)
    assert (one.steps, one.work) == (two.steps, two.work)


def test_steps_are_counted_over_all_methods() -> None:
    problem = _stiff()
    whole = solve(problem, stop=STOP)
    limit = whole.state.steps_before + 2
    limited = solve(problem, stop=Stop(gap=STOP.gap, steps=limit))
    assert limited.status is Status.ITERATION_LIMIT
    assert limited.steps == limit


def _clouds(n_rows: int, n_features: int, apart: float) -> tuple[Any, Any]:
    """Return two Gaussian clouds whose centres are so many deviations from the middle."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    shift = apart / np.sqrt(n_features) * np.where(y, 1.0, -1.0)
    return rng.normal(size=(n_rows, n_features)) + shift[:, None], y


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", LOSSES)
def test_classes_that_overlap_are_handed_over_at_a_look(loss: str, intercept: str) -> None:
    C = 30.0 if loss == "hinge" else 1.0
    problem = Problem(*_clouds(8000, 10, 0.5), loss=loss, intercept=intercept, C=C)
    solution = solve(problem, stop=Stop(gap=1e-4))
    assert (solution.solver, solution.status) == ("newton", Status.SOLVED)
    assert solution.state.steps_before == 3  # the second look sees what the first has seen


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("shape", [(6000, 40), (80, 400)])
def test_classes_apart_are_left_to_coordinate_descent(loss: str, shape: tuple[int, int]) -> None:
    # At 3 deviations a sample of the rows takes one in twenty for classes that overlap.
    problem = Problem(*_clouds(*shape, 4.0), loss=loss, C=100.0, intercept="augmented")
    stop = Stop(gap=1e-4)
    solution, named = solve(problem, stop=stop), solve(problem, "dual-coordinate", stop=stop)
    assert solution.solver == "dual-coordinate"
    assert np.array_equal(solution.coef, named.coef)


def test_a_corner_over_rare_features_is_left_to_coordinate_descent() -> None:
    # Newton's method takes 13 times as long here, although classes overlap.
    problem = Problem(*categories(60_000, 8, 100), C=1.0, intercept="augmented")
    solution = solve(problem, stop=STOP)
    assert (solution.solver, solution.status) == ("dual-coordinate", Status.SOLVED)


def test_a_look_is_taken_at_the_same_moment_however_the_run_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem(*_clouds(6000, 10, 0.5), loss="squared_hinge")
    whole = solve(problem, stop=STOP)
    assert whole.state.steps_before == 3
    pieces = _pieces(problem, [1, 2, 3, 4])
    assert np.array_equal(pieces.coef, whole.coef)
    monkeypatch.setattr(driver, "WORK_PER_STEP", 5_000)
    sliced = solve(problem, stop=STOP)
    assert sliced.state.steps_before == 3
    assert np.array_equal(sliced.coef, whole.coef)


def test_classes_are_looked_at_until_their_short_rows_are_few_or_stay() -> None:
    problem = Problem(*_clouds(6000, 10, 0.5), loss="squared_hinge")
    apart = Problem(*_clouds(6000, 10, 8.0), loss="squared_hinge")
    looks: dict[int, list[float]] = {}
    for number, which in enumerate((problem, apart)):
        state = solve(which, stop=Stop(gap=1e-12, steps=2)).state
        looks[number] = [state.look, state.short_share]
    assert looks[0][0] == 3
    assert looks[0][1] > 0.3  # of all rows, at the first look
    assert looks[1][0] == 0


def test_known_coefficients_are_not_looked_at() -> None:
    problem = Problem(*_clouds(6000, 10, 0.5), loss="squared_hinge", C=1e-4)
    warm = solve(problem, stop=Stop(gap=1e-2)).point
    solution = solve(problem, warm=warm)
    assert solution.solver == "dual-coordinate"


def test_rows_of_zeros_put_off_a_look_but_not_for_good() -> None:
    X, y = _clouds(400, 10, 0.5)
    X[40:] = 0.0  # their margins say nothing: fewer rows seem to be visited than a look needs
    problem = Problem(X, y, loss="huber", intercept="none")
    solution = solve(problem, stop=STOP)
    assert solution.status is Status.SOLVED
    assert (solution.state.leg, solution.state.look) == (0, 0)


def _relay(**methods: Scripted) -> Relay:
    """Return a relay of scripted methods, under the names that the rule knows."""
    names = {name.replace("_", "-"): method for name, method in methods.items()}
    return Relay(1e-6, {name: lambda _, method=method: method for name, method in names.items()})


def _known(gap: float, loss: str = "hinge") -> tuple[Problem, Any]:
    known = known_optimum(loss, "augmented")
    far = hinge.Point(known.point.coef + gap, known.point.intercept, known.point.dual_coef)
    return known.problem, lambda _: far


def test_a_method_at_rest_is_followed_by_the_next_and_the_last_one_ends() -> None:
    problem, points = _known(gap=0.1)
    one, two = Scripted(points, rests_after=3), Scripted(points, rests_after=4)
    solution = solve(problem, _relay(dual_coordinate=one, interior_point=two), STOP)
    assert solution.status is Status.STALLED
    assert solution.steps == 3 + 4 + 3  # coordinate descent has the last word
    assert solution.solver == "dual-coordinate"


def test_a_stalled_coordinate_descent_is_followed_by_a_method_that_solves() -> None:
    problem, points = _known(gap=0.1)
    exact = known_optimum("hinge", "augmented").point
    one, two = Scripted(points), Scripted(lambda _: exact, lambda _: (1.0, 1.0))
    solution = solve(problem, _relay(dual_coordinate=one, interior_point=two), STOP)
    assert solution.status is Status.SOLVED
    assert solution.solver == "interior-point"
    assert solution.state.steps_before > 0


def test_a_method_that_is_not_coordinate_descent_has_patience() -> None:
    problem, points = _known(gap=0.1)
    one, two = Scripted(points, rests_after=1), Scripted(points)
    last = solve(
        problem, _relay(dual_coordinate=one, interior_point=two), Stop(gap=1e-6, steps=150)
    )
    assert last.status is Status.ITERATION_LIMIT
    assert last.solver == "interior-point"


def test_newton_that_takes_too_many_steps_gives_way_to_coordinate_descent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, points = _known(gap=0.1, loss="squared_hinge")
    seen = {"is_enough": True, "overlaps": True, "cost": math.inf, "has_settled": lambda *_: True}
    for name, answer in seen.items():
        monkeypatch.setattr(Look, name, answer)
    relay = _relay(
        dual_coordinate=Scripted(points, rests_after=3),
        newton=Scripted(points, rests_after=1_000),
        interior_point=Scripted(points, rests_after=4),
    )
    most = 20
    assert most_steps(problem, 1e-6, "newton") > most
    monkeypatch.setattr("hinge.solvers.relay.most_steps", lambda *_: most)
    state = solve(problem, relay, Stop(gap=1e-6, steps=2 + most)).state
    assert (state.name, state.steps_before) == ("newton", 2)
    solution = solve(problem, relay, STOP)
    assert solution.status is Status.STALLED
    assert solution.state.names == "dual-coordinate interior-point newton dual-coordinate"
    assert solution.steps > 2 + most + 3 + 4 + 3  # with what Newton's method does at the end


def test_what_rounding_leaves_unproven_another_method_may_prove() -> None:
    problem, points = _known(gap=0.1)
    stop = Stop(gap=1e-6)
    relay = _relay(
        dual_coordinate=Scripted(points, rests_after=3),
        newton=Scripted(points, rests_after=4),
        interior_point=Scripted(points, rests_after=4),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hinge.result.Certificate.is_rounding", True)
        hopeless = solve(problem, relay, stop)
    assert hopeless.status is Status.STALLED
    assert hopeless.state.leg == len(hopeless.state.names.split()) - 1


def test_steps_on_samples_count_half_towards_giving_up() -> None:
    problem = Problem(*_clouds(40_000, 3, 0.5), C=100.0)
    solver = Newton()
    state = solver.start(problem)
    while not state.is_final_level:
        solver.step(state, 10_000)
    relay = Relay(1e-3, {"newton": lambda _: solver})
    run = relay.start(problem)
    run.running = state
    assert 0 < state.sample_steps <= state.steps
    for most, is_lost in ((0.5, True), (1.0, False)):
        run.most_steps = most * state.steps
        assert relay._is_lost(run, solver.progress(state).steps) is is_lost


def test_a_run_that_ends_at_a_look_returns_what_coordinate_descent_has() -> None:
    problem = Problem(*_clouds(6000, 10, 0.5), loss="squared_hinge")
    three, four = (solve(problem, stop=Stop(gap=1e-6, steps=steps)) for steps in (3, 4))
    named = solve(problem, "dual-coordinate", stop=Stop(gap=1e-6, steps=3))
    assert (three.solver, four.solver) == ("dual-coordinate", "newton")
    assert np.array_equal(three.coef, named.coef)


def test_a_run_that_ends_at_once_after_a_look_returns_what_coordinate_descent_had() -> None:
    problem = Problem(*_clouds(60_000, 10, 0.5), loss="squared_hinge")
    before = solve(problem, stop=Stop(gap=1e-6, steps=3))
    after = solve(problem, stop=STOP, resume=before.state, observers=[lambda _: True])
    assert (after.solver, after.status) == ("newton", Status.INTERRUPTED)
    assert after.state.running.steps == 0
    assert after.coef.any()
    assert np.array_equal(after.coef, before.coef)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_state_pickled_between_two_methods_keeps_the_point_handed_over(intercept: str) -> None:
    problem = Problem(*_clouds(60_000, 10, 0.5), loss="squared_hinge", intercept=intercept)
    before = solve(problem, stop=Stop(gap=1e-6, steps=3))
    between = solve(problem, stop=STOP, resume=before.state, observers=[lambda _: True])
    assert (between.solver, between.state.running.steps) == ("newton", 0)
    state = pickle.loads(pickle.dumps(between.state))
    for given in (between.state, state):
        again = solve(problem, stop=Stop(gap=1e-6, steps=between.steps), resume=given)
        assert (again.solver, again.steps) == ("newton", between.steps)
        assert np.array_equal(again.coef, before.coef)
        assert replace(again.certificate, region=None) == replace(between.certificate, region=None)
    # Once the next method has made a step, the point is its own.
    ended = solve(problem, stop=STOP, resume=state)
    assert ended.status is Status.SOLVED
    assert ended.state.handed is None
    assert len(ended.state.handed_dual) == 0


def test_what_no_method_takes_is_refused_with_every_reason() -> None:
    class Refusing(Scripted):
        def supports(self, _problem: Problem) -> Support:
            return Support(False, "too wide.")

    problem, points = _known(gap=0.1)
    relay = _relay(dual_coordinate=Refusing(points), interior_point=Refusing(points))
    told = r"no solver takes it. dual-coordinate: too wide. interior-point: too wide."
    with pytest.raises(hinge.UnsupportedError, match=told):
        solve(problem, relay)


def test_what_coordinate_descent_does_not_take_begins_with_another() -> None:
    problem, points = _known(gap=0.1)
    relay = _relay(interior_point=Scripted(points, rests_after=2))
    solution = solve(problem, relay, STOP)
    assert (solution.solver, solution.steps) == ("interior-point", 2)


def test_a_method_is_made_once_and_only_if_it_may_be_chosen() -> None:
    made: list[str] = []

    def maker(name: str) -> Any:
        return lambda gap: made.append(name) or registry._BY_NAME[name](gap)

    relay = Relay(STOP.gap, {name: maker(name) for name in registry.solver_names()})
    assert solve(_stiff(), relay, STOP).status is Status.SOLVED
    assert len(made) == len(set(made))
    assert not {"pegasos", "gradient", "hard-margin"} & set(made)


def test_a_state_of_a_relay_is_refused_by_a_named_solver() -> None:
    problem = _stiff()
    state = solve(problem, stop=STOP).state
    with pytest.raises(hinge.InvalidParameterError, match="one of solver 'auto'"):
        solve(problem, "dual-coordinate", resume=state)


@pytest.mark.parametrize(("limit", "status"), [(400, Status.SOLVED), (399, Status.ITERATION_LIMIT)])
def test_a_limit_of_many_steps_leaves_some_to_others(
    limit: int, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Watch, "is_overtaken", lambda _: False)
    monkeypatch.setattr(Look, "overlaps", False)
    problem = _stiff()
    solver = registry.get_solver("auto", problem, 1e-9, limit)
    solution = solve(problem, solver, Stop(gap=1e-9, steps=limit))
    assert solution.status is status
    assert (solution.solver == "dual-coordinate") == (status is Status.ITERATION_LIMIT)
    assert solution.steps <= limit


def test_an_estimator_says_how_many_steps_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Watch, "is_overtaken", lambda _: False)
    monkeypatch.setattr(Look, "overlaps", False)
    model = hinge.LinearSVC(C=100.0, loss="hinge", tol=1e-9, max_iter=400).fit(*STIFF)
    assert model.solution_.status is Status.SOLVED


def test_sweeps_over_few_rows_do_not_use_up_all_steps() -> None:
    # Three classes need more than 800 sweeps, hundreds of which fit into the work of one call.
    X, y = load_digits(return_X_y=True)
    for digit in (1, 8, 9):
        problem = Problem(X, y == digit, intercept="augmented")
        solution = solve(problem, "dual-coordinate", Stop(gap=1e-4, steps=1000))
        assert solution.status is Status.SOLVED
        assert solution.state.run.sweeps > 800
        assert 100 < solution.steps < 500
