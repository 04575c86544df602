"""The function of ``callback=``, scikit-learn's callbacks, and what ``verbose`` shows."""

# ruff: noqa: ARG001, ARG002, ARG005 - a callback must take what it is given
from __future__ import annotations

import builtins
import threading
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.fixes import parse_version
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import LinearSVC, Status
from hinge.solvers import Event

needs_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"),
    reason="scikit-learn has callbacks from 1.9 on",
)
SLOW: dict[str, Any] = {"C": 1e6, "loss": "hinge", "tol": 1e-14, "max_iter": 10**9}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_sees_every_class_on_the_calling_thread(n_jobs: int) -> None:
    X, y = three_classes()
    events: list[Any] = []
    threads = set()

    def note(event: Any) -> None:
        threads.add(threading.get_ident())
        events.append((event.number, event.label, event.progress.steps, event.point().coef.shape))

    LinearSVC(callback=note, n_jobs=n_jobs).fit(X, np.array(["a", "b", "c"])[y])
    assert threads == {threading.get_ident()}
    assert {(number, label) for number, label, _, _ in events} == {(0, "a"), (1, "b"), (2, "c")}
    assert all(steps > 0 and shape == (4,) for _, _, steps, shape in events)


def test_event_of_two_classes_names_the_second() -> None:
    X, y = two_classes()
    seen: list[Any] = []
    LinearSVC(callback=seen.append).fit(X, np.where(y == 1, "yes", "no"))
    assert isinstance(seen[0], Event)
    assert {event.label for event in seen} == {"yes"}
    assert seen[-1].certificate is not None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_callback_ends_everything_without_a_warning(n_jobs: int) -> None:
    X, y = three_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(**SLOW, callback=lambda event: True, n_jobs=n_jobs).fit(X, y)
    assert {solution.status for solution in model.solutions_} == {Status.INTERRUPTED}
    assert model.coef_.shape == (3, 4)
    begun = [solution for solution in model.solutions_ if solution.steps]
    assert 1 <= len(begun) <= n_jobs
    never = [solution for solution in model.solutions_ if not solution.steps]
    assert all("before this class began" in s.certificate.notes[0] for s in never)
    assert set(model.predict(X)) <= {0, 1, 2}


def test_only_true_ends_the_fit() -> None:
    X, y = two_classes()
    model = LinearSVC(callback=lambda event: 1).fit(X, y)
    assert model.solution_.status is Status.SOLVED


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_a_callback_reach_the_caller(n_jobs: int) -> None:
    X, y = three_classes()

    def fail(event: Any) -> None:
        message = "no more of this"
        raise RuntimeError(message)

    alive = threading.active_count()
    with pytest.raises(RuntimeError, match="no more of this"):
        LinearSVC(**SLOW, callback=fail, n_jobs=n_jobs).fit(X, y)
    assert threading.active_count() == alive


def test_a_callback_changes_no_bits() -> None:
    X, y = cancer()
    watched = LinearSVC(callback=lambda event: None).fit(X, y)
    np.testing.assert_array_equal(watched.coef_, LinearSVC().fit(X, y).coef_)


class Recorder:
    """A callback of scikit-learn's kind that writes down what it is told."""

    def __init__(self, stop_at: str | None = None) -> None:
        self.stop_at = stop_at
        self.calls: list[tuple[str, str]] = []
        self.scores: list[float] = []

    def setup(self, estimator: Any, context: Any) -> None:
        self.calls.append(("setup", context.task_name))

    def teardown(self, estimator: Any, context: Any) -> None:
        self.calls.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self.calls.append(("begin", context.task_name))

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, fitted_estimator: Any
    ) -> bool:
        self.calls.append(("end", context.task_name))
        self.scores.append(fitted_estimator.score(X, y))
        return context.task_name == self.stop_at


@needs_callbacks
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_scikit_learn_callbacks_with_several_classes(n_jobs: int) -> None:
    X, y = three_classes()
    recorder = Recorder()
    model = LinearSVC(n_jobs=n_jobs).set_callbacks(recorder).fit(X, y)
    assert recorder.calls[:2] == [("setup", "fit"), ("begin", "fit")]
    assert recorder.calls[-2:] == [("end", "fit"), ("teardown", "fit")]
    for kind in ("begin", "end"):
        assert recorder.calls.count((kind, "class")) == 3
    steps = recorder.calls.count(("end", "step"))
    assert steps == recorder.calls.count(("begin", "step")) >= 3
    assert recorder.scores[-1] == model.score(X, y)


@needs_callbacks
def test_scikit_learn_callbacks_end_the_fit() -> None:
    X, y = two_classes()
    model = LinearSVC(**SLOW).set_callbacks(Recorder(stop_at="step")).fit(X, y)
    assert model.solution_.status is Status.INTERRUPTED


@needs_callbacks
def test_scikit_learn_callbacks_are_torn_down_after_an_error() -> None:
    X, y = two_classes()
    recorder = Recorder()

    def fail(event: Any) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        LinearSVC(callback=fail).set_callbacks(recorder).fit(X, y)
    assert recorder.calls[-1] == ("teardown", "fit")


@needs_callbacks
def test_progress_bar_of_scikit_learn(capsys: pytest.CaptureFixture[str]) -> None:
    from sklearn.callback import ProgressBar  # noqa: PLC0415 - not in older versions

    X, y = three_classes()
    search = GridSearchCV(make_pipeline(StandardScaler(), LinearSVC()), {"linearsvc__C": [0.1, 1]})
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    LinearSVC().set_callbacks(ProgressBar()).fit(X, y)
    assert "LinearSVC - fit" in capsys.readouterr().out


@needs_callbacks
def test_callbacks_survive_clone() -> None:
    recorder = Recorder()
    X, y = two_classes()
    clone(LinearSVC().set_callbacks(recorder)).fit(X, y)
    assert ("teardown", "fit") in recorder.calls


def test_nothing_is_printed_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    X, y = three_classes()
    LinearSVC().fit(X, y)
    assert capfd.readouterr() == ("", "")


def test_verbose_shows_bars_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = three_classes()
    LinearSVC(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    for number in (1, 2, 3):
        assert f"({number} of 3)" in err
    assert "gap" in err


@pytest.mark.parametrize("classes", [2, 3])
def test_verbose_without_rich_prints_lines(
    classes: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without_rich(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == "rich":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_rich)
    monkeypatch.setattr("hinge.estimators._progress._SECONDS_BETWEEN_LINES", 0.0)
    X, y = three_classes() if classes == 3 else two_classes()
    LinearSVC(verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    ends = [line for line in lines if "solved, pass" in line]
    assert len(ends) == (3 if classes == 3 else 1)
    assert len(lines) > len(ends)
    assert lines[0].startswith("LinearSVC, ")
