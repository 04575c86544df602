"""A run that was cut short goes on from its file as if nothing had happened."""

import contextlib
import re
import signal
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from tests.models.fitted import fit

import hinge
from hinge import ModelFileError, Problem, Status, Stop, solve
from hinge.models import Checkpoint, load_checkpoint, save_checkpoint

pytestmark = pytest.mark.usefixtures("small_data_as_large")

SETTINGS = {
    "hinge": {"loss": "hinge", "intercept": "augmented", "C": 5.0},
    "free": {"loss": "hinge", "intercept": "free"},
    "squared": {"loss": "squared_hinge", "intercept": "none"},
    "huber": {"loss": "huber", "intercept": "augmented", "intercept_scale": 3.0},
}


def rows(n_rows=200, n_features=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


def assert_same_bits(solution, expected) -> None:
    assert solution.status == expected.status
    assert solution.steps == expected.steps
    assert solution.work == expected.work
    assert np.array_equal(solution.coef, expected.coef)
    assert solution.intercept == expected.intercept
    assert np.array_equal(solution.dual_coef, expected.dual_coef)
    assert solution.certificate.gap == expected.certificate.gap


@pytest.mark.parametrize("solver", ["dual-coordinate", "primal-newton", "interior-point", "newton"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(
    tmp_path, options, storage, solver
):
    X, y = rows()
    if not hinge.solvers.get_solver(solver, Problem(X, y)).supports(Problem(X, y, **options)):
        pytest.skip(f"{solver} does not take this loss")
    stop = Stop(gap=1e-7)
    whole = solve(Problem(storage(X), y, **options), solver, stop, seed=3)
    assert whole.steps >= 2
    for steps in (0, 1, whole.steps // 2, whole.steps - 1):
        begun = solve(Problem(storage(X), y, **options), solver, replace(stop, steps=steps), seed=3)
        path = tmp_path / "run"
        save_checkpoint(path, begun.state.problem, begun)
        problem = Problem(storage(X), y, **options)
        state = load_checkpoint(path, problem)
        assert_same_bits(solve(problem, solver, stop, seed=3, resume=state), whole)


def test_a_relay_goes_on_with_the_method_that_it_was_at(tmp_path):
    X, y = rows()
    problem = Problem(X * np.logspace(0, 4, X.shape[1]), y, C=100.0, intercept="augmented")
    stop = Stop(gap=1e-7)
    whole = solve(problem, stop=stop)
    handed = whole.state.steps_before
    assert 0 < handed < whole.steps
    for steps in (handed - 1, handed, handed + 1, whole.steps - 1):
        begun = solve(problem, stop=replace(stop, steps=steps))
        save_checkpoint(tmp_path / "run", problem, begun)
        state = load_checkpoint(tmp_path / "run", problem)
        assert_same_bits(solve(problem, stop=stop, resume=state), whole)


def _handed_over():
    """Return a problem and a run of it that ended between two methods."""
    X = np.random.default_rng(0).normal(size=(60_000, 10))
    y = (X[:, 0] + np.random.default_rng(1).normal(size=60_000) > 0).astype(int)
    problem = Problem(X, y, loss="squared_hinge", intercept="none")
    begun = solve(problem, stop=Stop(gap=1e-6, steps=3))
    between = solve(problem, stop=Stop(gap=1e-6), resume=begun.state, observers=[lambda _: True])
    assert between.state.is_handed
    return problem, between


def test_a_relay_between_two_methods_keeps_the_point_that_was_handed_over(tmp_path):
    problem, between = _handed_over()
    save_checkpoint(tmp_path / "run", problem, between)
    state = load_checkpoint(tmp_path / "run", problem)
    again = solve(problem, stop=Stop(gap=1e-6, steps=between.steps), resume=state)
    assert again.steps == between.steps
    np.testing.assert_array_equal(again.coef, between.coef)
    np.testing.assert_array_equal(again.dual_coef, between.dual_coef)
    assert replace(again.certificate, region=None) == replace(between.certificate, region=None)


def test_a_point_handed_over_that_is_forged_is_refused_or_proves_nothing(tmp_path):
    problem, between = _handed_over()
    state, stop = between.state, Stop(gap=1e-6, steps=between.steps)
    state.handed_intercept = 7.0  # the problem has none
    save_checkpoint(tmp_path / "run", problem, state)
    assert (
        solve(problem, stop=stop, resume=load_checkpoint(tmp_path / "run", problem)).intercept == 0
    )
    state.handed_coef = np.full(10, np.nan)
    save_checkpoint(tmp_path / "run", problem, state)
    spoiled = solve(problem, stop=stop, resume=load_checkpoint(tmp_path / "run", problem))
    assert spoiled.status is hinge.Status.NUMERICAL_ERROR
    for name, part in (
        ("handed_coef", np.zeros(11)),
        ("handed_dual", np.zeros(3)),
        ("is_handed", False),
    ):
        twin = state.resumed(problem)
        twin.solver_name = state.solver_name
        twin.put(name, part)
        save_checkpoint(tmp_path / "run", problem, twin)
        told = "the checkpoint (has 'handed_|does not have what a state of 'auto' has)"
        with pytest.raises(ModelFileError, match=told):
            load_checkpoint(tmp_path / "run", problem)


def test_the_options_of_a_solver_are_part_of_its_state(tmp_path):
    problem = Problem(*rows())
    solver = hinge.solvers.DualCoordinate(order="random", shrinking=False, aim=0.1)
    begun = solve(problem, solver, Stop(steps=2))
    save_checkpoint(tmp_path / "run", problem, begun.state)
    assert load_checkpoint(tmp_path / "run", problem).schedule == begun.state.schedule


def test_another_problem_is_refused(tmp_path):
    X, y = rows()
    problem = Problem(X, y)
    save_checkpoint(tmp_path / "run", problem, solve(problem, stop=Stop(steps=1)))
    others = [problem.with_C(2.0), Problem(X, 1 - y), Problem(X[:-1], y[:-1]), Problem(X + 1, y)]
    for other in others:
        with pytest.raises(ModelFileError, match="run: the checkpoint belongs to another problem"):
            load_checkpoint(tmp_path / "run", other)


def test_only_states_can_be_saved(tmp_path):
    problem = Problem(*rows())
    solution = replace(solve(problem), state=None)
    with pytest.raises(hinge.InvalidParameterError, match="state must be the state of a run"):
        save_checkpoint(tmp_path / "run", problem, solution)


def test_a_model_is_no_checkpoint_and_a_checkpoint_no_model(tmp_path):
    X, y = rows()
    hinge.models.save(fit(X, y), tmp_path / "model")
    problem = Problem(X, y)
    with pytest.raises(ModelFileError, match="holds a 'linear-classifier'; wanted is 'checkpoint'"):
        load_checkpoint(tmp_path / "model", problem)
    save_checkpoint(tmp_path / "run", problem, solve(problem, stop=Stop(steps=1)))
    with pytest.raises(ModelFileError, match="it holds a 'checkpoint'; wanted is 'linear-class"):
        hinge.models.load(tmp_path / "run")


def test_an_observer_writes_checkpoints_during_a_run(tmp_path):
    X, y = rows()
    problem = Problem(X, y, C=100.0)
    keeper = Checkpoint(tmp_path / "run", seconds=0.0)
    whole = solve(problem, "dual-coordinate", Stop(gap=1e-8), observers=[keeper])
    assert keeper.written > 2
    state = load_checkpoint(tmp_path / "run", problem)
    assert np.array_equal(state.rows, whole.state.rows, equal_nan=True)
    keeper.remove()
    keeper.remove()
    assert list(tmp_path.iterdir()) == []


class CutShortError(Exception):
    """Stands for a process that is killed."""


def killed_after(count):
    calls = iter(range(count))

    def callback(_event):
        if next(calls, None) is None:
            raise CutShortError

    return callback


def classes_data():
    X, _ = rows(600, 5)
    return X, np.argmax(X[:, :4] + np.random.default_rng(1).normal(size=(600, 4)), axis=1)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("steps", [0, 1, 4, 7, 10])
def test_a_fit_of_several_classes_goes_on_to_the_same_bits(tmp_path, steps, n_jobs):
    X, y = classes_data()
    options = {"loss": "hinge", "C": 10.0, "tol": 1e-6, "n_jobs": n_jobs}
    whole = fit(X, y, **options)
    path = tmp_path / "run"
    keeper = Checkpoint(path, seconds=0.0, then=killed_after(steps))
    with pytest.raises(CutShortError):
        fit(X, y, callback=keeper, **options)
    again = Checkpoint(path, seconds=1000.0, resume=True)
    resumed = fit(X, y, callback=again, **options)
    assert (again.resumed_problems > 0) == (keeper.written > 0)
    assert np.array_equal(resumed.coef_, whole.coef_)
    assert np.array_equal(resumed.intercept_, whole.intercept_)
    for ours, theirs in zip(resumed.solutions_, whole.solutions_, strict=True):
        assert_same_bits(ours, theirs)
    assert np.array_equal(resumed.settled(X), whole.settled(X))


def test_finished_classes_are_certified_anew_and_go_on_if_more_is_asked_for(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    fit(X, y, tol=1e-2, callback=Checkpoint(path, seconds=0.0))
    same = Checkpoint(path, resume=True)
    model = fit(X, y, tol=1e-2, callback=same)
    assert same.resumed_problems == 4
    assert all(solution.status is Status.SOLVED for solution in model.solutions_)
    more = Checkpoint(path, resume=True)
    better = fit(X, y, tol=1e-6, callback=more)
    assert better.certificate_.relative_gap <= 1e-6
    assert all(solution.status is Status.SOLVED for solution in better.solutions_)


def test_a_fit_that_ran_out_of_time_goes_on(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    keeper = Checkpoint(path, seconds=1000.0)
    fit(X, y, max_iter=2, tol=1e-9, callback=keeper)
    keeper.write()
    resumed = fit(X, y, tol=1e-9, callback=Checkpoint(path, resume=True))
    assert np.array_equal(resumed.coef_, fit(X, y, tol=1e-9).coef_)


@pytest.mark.parametrize("end", ["callback", "ctrl-c"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_resumed_fit_that_is_stopped_at_once_keeps_every_class(tmp_path, n_jobs, end):
    X, y = classes_data()
    path = tmp_path / "run"
    keeper = Checkpoint(path, seconds=1000.0)
    before = fit(X, y, max_iter=3, tol=1e-9, callback=keeper)
    keeper.write()

    pressed = []  # a second Ctrl-C would end the test run, and another class may report first

    def stop_at_once(_event):
        if end == "ctrl-c" and not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return end == "callback"

    again = Checkpoint(path, seconds=1000.0, resume=True, then=stop_at_once)
    model = hinge.LinearSVC(tol=1e-9, n_jobs=n_jobs, callback=again)
    with contextlib.suppress(hinge.errors.Interrupted), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert [solution.status for solution in model.solutions_] == [Status.INTERRUPTED] * 4
    assert again.resumed_problems == 4
    assert np.abs(model.coef_).max(axis=1).min() > 0.1
    assert model.score(X, y) >= before.score(X, y) - 0.05
    again.write()
    whole = fit(X, y, tol=1e-9)
    assert np.array_equal(
        fit(X, y, tol=1e-9, callback=Checkpoint(path, resume=True)).coef_, whole.coef_
    )


def test_finished_classes_are_kept_by_a_stopped_fit_that_asks_for_more(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    before = fit(X, y, tol=1e-2, callback=Checkpoint(path, seconds=0.0))
    again = Checkpoint(path, seconds=1000.0, resume=True, then=lambda _: True)
    model = fit(X, y, tol=1e-9, callback=again)
    assert np.array_equal(model.coef_[1:], before.coef_[1:])
    for solution in model.solutions_[1:]:
        assert solution.status is Status.INTERRUPTED
        assert solution.certificate.notes == (
            "training was stopped before this class went on: nothing is proven",
        )


def test_another_seed_is_refused(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    keeper = Checkpoint(path, seconds=1000.0)
    fit(X, y, max_iter=2, tol=1e-9, random_state=3, callback=keeper)
    keeper.write()
    wrong = re.escape("run: the checkpoint is of a fit with seed 3; this one has seed 4. Go on")
    with pytest.raises(ModelFileError, match=wrong):
        fit(X, y, random_state=4, callback=Checkpoint(path, resume=True))
    whole = fit(X, y, tol=1e-9, random_state=3)
    resumed = fit(X, y, tol=1e-9, random_state=3, callback=Checkpoint(path, resume=True))
    assert np.array_equal(resumed.coef_, whole.coef_)
    assert [solution.seed for solution in resumed.solutions_] == [3] * 4


def test_another_seed_is_refused_for_finished_classes(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    fit(X, y, random_state=3, callback=Checkpoint(path, seconds=0.0))
    with pytest.raises(ModelFileError, match="a fit with seed 3; this one has seed 0"):
        fit(X, y, callback=Checkpoint(path, resume=True))


def test_a_run_states_the_seed_that_it_began_with(tmp_path):
    problem = Problem(*rows(), C=100.0)
    stop = Stop(gap=1e-8)
    whole = solve(problem, stop=stop, seed=5)
    begun = solve(problem, stop=replace(stop, steps=2), seed=5)
    save_checkpoint(tmp_path / "run", problem, begun)
    for state in (begun.state, load_checkpoint(tmp_path / "run", problem)):
        resumed = solve(problem, stop=stop, resume=state, seed=7)
        assert resumed.seed == 5
        assert_same_bits(resumed, whole)


def test_what_may_change_is_tolerance_limits_and_threads(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    keeper = Checkpoint(path, seconds=1000.0)
    fit(X, y, max_iter=2, tol=1e-6, callback=keeper)
    keeper.write()
    other = {"tol": 1e-9, "max_iter": 500, "time_limit": 600.0, "n_jobs": 2}
    model = fit(X, y, callback=Checkpoint(path, resume=True), **other)
    assert [solution.status for solution in model.solutions_] == [Status.SOLVED] * 4


def test_a_fit_of_other_data_is_refused(tmp_path):
    X, y = classes_data()
    path = tmp_path / "run"
    fit(X, y, callback=Checkpoint(path, seconds=0.0))
    with pytest.raises(ModelFileError, match="belongs to another problem"):
        fit(X, np.roll(y, 1), callback=Checkpoint(path, resume=True))


def test_without_a_file_a_fit_begins_at_the_beginning(tmp_path):
    X, y = rows()
    keeper = Checkpoint(tmp_path / "run", resume=True)
    fit(X, y, callback=keeper)
    assert keeper.resumed_problems == 0


def test_a_fit_can_be_ended_by_the_callback_behind_a_checkpoint(tmp_path):
    X, y = rows()
    model = fit(X, y, C=100.0, tol=1e-9, callback=Checkpoint(tmp_path / "a", then=lambda _: True))
    assert model.solution_.status is Status.INTERRUPTED


def test_the_time_between_checkpoints_is_checked(tmp_path):
    with pytest.raises(hinge.InvalidParameterError, match=re.escape("seconds")):
        Checkpoint(tmp_path / "run", seconds=-1.0)
