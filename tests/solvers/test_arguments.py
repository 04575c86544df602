"""What errors say of arguments of ``solve``, ``path`` and ``estimate`` that are something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hinge
from hinge import InvalidParameterError, Problem, Solution, Stop
from hinge.solvers import SMO, Decomposition, DualCoordinate, Event, Gradient, Newton, Pegasos

X = np.array([[0.0], [1.0], [2.0], [3.0]])
Y = [0, 0, 1, 1]


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem(X, Y)


@pytest.fixture(scope="module")
def solution(problem: Problem) -> Solution:
    return hinge.solve(problem)


SWITCHES = {
    "dual-coordinate": (DualCoordinate, ("shrinking", "screening", "extrapolation")),
    "decomposition": (Decomposition, ("shrinking",)),
    "smo": (SMO, ("shrinking",)),
    "gradient": (Gradient, ("undo",)),
    "pegasos": (Pegasos, ("index", "project", "replacement")),
}
CALLS = {
    "hinge.solve": hinge.solve,
    "hinge.path": lambda problem, **options: hinge.path(problem, [0.1, 1.0], **options),
    "hinge.estimate": hinge.estimate,
}


@pytest.mark.parametrize("caller", CALLS)
@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (X, r"numpy\.ndarray of shape \(4, 1\)"),
        ([[0.0], [1.0]], r"list: \[\[0\.0\], \[1\.0\]\]"),
        (None, "NoneType: None"),
    ],
)
def test_rows_are_no_problem(caller: str, argument: Any, words: str) -> None:
    message = rf"{caller} takes a hinge\.Problem; got {words}\. Make one .* hinge\.Problem\(X, y\)"
    with pytest.raises(InvalidParameterError, match=message):
        CALLS[caller](argument)


@pytest.mark.parametrize("caller", CALLS)
@pytest.mark.parametrize("number", ["a", 1.5, None, True])
def test_seeds(problem: Problem, caller: str, number: Any) -> None:
    message = f"seed must be an integer; got .*{number!r}"
    with pytest.raises(InvalidParameterError, match=message):
        CALLS[caller](problem, seed=number)


@pytest.mark.parametrize("solver", ["dual-coordinate", "interior-point", "newton"])
def test_a_seed_may_be_any_integer(solver: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20_000, 3))
    problem = Problem(rows, rows[:, 0] + rng.normal(size=len(rows)) > 0.0)
    solution = hinge.solve(problem, solver, hinge.Stop(gap=1e-2), seed=-1)
    assert solution.status is hinge.Status.SOLVED


@pytest.mark.parametrize("caller", ["hinge.solve", "hinge.path"])
@pytest.mark.parametrize("stop", [{}, {"gap": 1e-3}, 1e-3, Stop])
def test_stops(problem: Problem, caller: str, stop: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"stop must be a hinge\.Stop, such as .*; got"):
        CALLS[caller](problem, stop=stop)


def watch(event: Event) -> bool:
    return event.seconds < 0.0


@pytest.mark.parametrize("caller", ["hinge.solve", "hinge.path"])
@pytest.mark.parametrize(
    ("observers", "message"),
    [
        (watch, r"observers must be a list of functions; got function: .* observers=\[observer\]"),
        (3, r"observers must be a list of functions; got int: 3\.$"),
        ([watch, 3], r"observers\[1\] must be a function that takes an event; got int: 3\."),
    ],
)
def test_observers(problem: Problem, caller: str, observers: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        CALLS[caller](problem, observers=observers)


@pytest.mark.parametrize("warm", [np.zeros(1), {"coef": [0.0]}, "solution"])
def test_starts(problem: Problem, warm: Any) -> None:
    message = r"warm must be a hinge\.Solution, a hinge\.Point or None; got .*hinge\.Point\(coef,"
    with pytest.raises(InvalidParameterError, match=message):
        hinge.solve(problem, warm=warm)


def test_a_solution_is_not_its_state(problem: Problem, solution: Solution) -> None:
    message = r"got hinge\.result\.Solution\. Pass resume=solution\.state to go on, or warm="
    with pytest.raises(InvalidParameterError, match=message):
        hinge.solve(problem, resume=solution)
    with pytest.raises(InvalidParameterError, match=r"got str: 'state'\. A solution has it as"):
        hinge.solve(problem, resume="state")
    assert hinge.solve(problem, resume=solution.state).status is hinge.Status.SOLVED


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("solver", [[], {}, np.zeros(2), Newton, None])
def test_solvers(solver: Any, kernel: str | None) -> None:
    with pytest.raises(InvalidParameterError, match=r"solver must be one of .*'auto'.*; got "):
        hinge.solve(Problem(X, Y, kernel=kernel), solver)


def test_long_values_are_cut(problem: Problem) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        hinge.solve(problem, stop=list(range(10_000)))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("value", ["none", "False", None, 0])
@pytest.mark.parametrize("solver", SWITCHES)
def test_switches_are_true_or_false(solver: str, value: Any) -> None:
    kind, names = SWITCHES[solver]
    for name in names:
        with pytest.raises(InvalidParameterError) as caught:
            kind(**{name: value})
        assert str(caught.value) == f"{name} must be True or False; got {value!r}."
        assert getattr(kind(**{name: np.False_}), name) is False
