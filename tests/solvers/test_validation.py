"""Early stopping on a validation set: exact counts, the best point kept, few rows looked at."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.data import two_clouds

from hinge import Problem, Status, Stop, solve
from hinge.errors import InvalidLabelsError, InvalidParameterError
from hinge.solvers import Event, Pegasos, ValidationMonitor


def split(n: int = 1200) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = two_clouds(n, 6, noise=2.5)
    half = n // 2
    return X[:half], y[:half], X[half:], y[half:]


def test_the_counts_are_those_of_the_points() -> None:
    X, y, X_held, y_held = split()
    problem = Problem(X, y, C=0.01, intercept="augmented")
    monitor = ValidationMonitor(X_held, y_held, patience=10**6)
    counted: list[int] = []

    def check(event: Event) -> bool:
        before = len(monitor.looks)
        stop = monitor(event)
        if len(monitor.looks) > before:
            point = event.point()
            wrong = (X_held @ point.coef + point.intercept > 0.0) != (y_held == 1)
            counted.append(np.count_nonzero(wrong))
        return stop

    solve(problem, Pegasos(50), Stop(gap=0.0, steps=50_000), observers=[check])
    assert [look.errors for look in monitor.looks] == counted
    assert len(counted) > 5
    fewest = min(counted)
    assert monitor.best is not None
    point = monitor.best
    wrong = (X_held @ point.coef + point.intercept > 0.0) != (y_held == 1)
    assert np.count_nonzero(wrong) == fewest
    assert sum(look.examined for look in monitor.looks) < 0.7 * len(counted) * len(y_held)


def test_a_run_ends_when_nothing_gets_better() -> None:
    X, y, X_held, y_held = split()
    monitor = ValidationMonitor(X_held, y_held, patience=4)
    problem = Problem(X, y, C=0.01, intercept="augmented")
    solution = solve(problem, Pegasos(50), Stop(gap=0.0), observers=[monitor])
    assert solution.status is Status.INTERRUPTED
    errors = [look.errors for look in monitor.looks]
    assert min(errors[:-4]) <= min(errors[-4:])
    assert np.isfinite(solution.certificate.gap)


def test_looks_are_a_tenth_of_the_work() -> None:
    X, y, X_held, y_held = split()
    monitor = ValidationMonitor(X_held, y_held, patience=10**6)
    problem = Problem(X, y, C=0.01, intercept="augmented")
    solution = solve(problem, Pegasos(50), Stop(gap=0.0, steps=5000), observers=[monitor])
    assert len(monitor.looks) * 10 * X_held.size <= solution.work + 10 * X_held.size


def test_another_run_is_watched_anew() -> None:
    X, y, X_held, y_held = split()
    monitor, fresh = (ValidationMonitor(X_held, y_held, patience=4) for _ in range(2))
    first = Problem(X, y, C=0.01, intercept="augmented")
    second = Problem(X, 1 - y, C=1e-5, intercept="augmented")
    solve(first, Pegasos(50), Stop(gap=0.0), observers=[monitor])
    seen = monitor.looks
    for watching in (monitor, fresh):
        solve(second, Pegasos(50), Stop(gap=0.0), observers=[watching])
    assert monitor.looks == fresh.looks != seen
    assert monitor.best is not None
    assert fresh.best is not None
    assert np.array_equal(monitor.best.coef, fresh.best.coef)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["no", "maybe"], r"one label out of \[0, 1\] .* 2 rows; got labels .*'no' among them"),
        ([0, 1, 1], r"got labels of shape \(3,\)"),
    ],
)
def test_labels_that_the_problem_does_not_know(labels: list, message: str) -> None:
    X, y, X_held, _ = split()
    monitor = ValidationMonitor(X_held[:2], labels)
    with pytest.raises(InvalidLabelsError, match=message):
        solve(Problem(X, y), observers=[monitor])


def test_patience_is_at_least_one() -> None:
    with pytest.raises(InvalidParameterError, match="patience must be at least 1; got 0"):
        ValidationMonitor([[1.0]], [1], patience=0)
