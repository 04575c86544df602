"""Platt's choice of pairs: the optimum of the other rules, from any seed, resumed or not."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tests.solvers.kernel_cases import CASES, rows_of_two_classes

from hinge import Problem, Status, Stop, solve
from hinge.certificates import gap
from hinge.kernels import RBF
from hinge.solvers import SMO
from hinge.testing import known_optimum, verify

STOP = Stop(gap=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("name", ["ordinary", "duplicates", "weights", "nearly a matrix of ones"])
def test_the_same_optimum_as_by_the_other_rules(name: str, loss: str) -> None:
    problem = CASES[name](intercept="free", loss=loss)
    platt, second = (solve(problem, SMO(rule), STOP) for rule in ("platt", "second"))
    assert platt.status is Status.SOLVED
    verify(problem, platt, STOP)
    assert platt.certificate.primal == pytest.approx(second.certificate.primal, rel=2e-5)


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_known_optimum(loss: str, number: int) -> None:
    made = known_optimum(loss, "free", kernel="linear", seed=number)
    solution = solve(made.problem, SMO("platt"), Stop(gap=1e-6), seed=number)
    assert solution.status is Status.SOLVED
    optimum = gap(made.problem, made.point).primal
    assert solution.certificate.primal == pytest.approx(optimum, rel=2e-6)


@pytest.mark.parametrize("number", range(6))
def test_random_problems_differ_by_no_more_than_their_gaps(number: int) -> None:
    rng = np.random.default_rng(number)
    X, y = rows_of_two_classes(120, seed=number)
    C = float(10.0 ** rng.uniform(-2, 3))
    problem = Problem(X, y, kernel=RBF(0.3), C=C, sample_weight=rng.uniform(0.0, 2.0, len(y)))
    found = [solve(problem, SMO(rule), Stop(gap=1e-4)) for rule in ("platt", "first", "second")]
    for solution in found:
        assert solution.status is Status.SOLVED
    values = [solution.certificate.primal for solution in found]
    assert max(values) - min(values) <= 2e-4 * max(values)


def test_without_an_intercept_single_coefficients_move() -> None:
    problem = CASES["ordinary"](intercept="none")
    solution = solve(problem, SMO("platt"), STOP)
    assert solution.status is Status.SOLVED
    verify(problem, solution, STOP)


@pytest.mark.parametrize("calls", [1, 3, 10])
def test_a_resumed_run_has_the_same_bits(calls: int) -> None:
    problem = Problem(*rows_of_two_classes(400, seed=1), kernel=RBF(0.3), C=10.0)
    whole = solve(problem, SMO("platt"), STOP, seed=4)
    seen = []

    def enough(event: Any) -> bool:
        seen.append(event.progress.steps)
        return len(seen) >= calls

    begun = solve(problem, SMO("platt"), STOP, seed=4, observers=[enough])
    assert begun.steps < whole.steps
    state = pickle.loads(pickle.dumps(begun.state))
    rest = solve(problem, SMO("platt"), STOP, seed=4, resume=state)
    np.testing.assert_array_equal(rest.dual_coef, whole.dual_coef)
    assert rest.steps == whole.steps


@pytest.mark.parametrize("steps", [0, 1, 7])
def test_a_limit_of_steps_is_kept(steps: int) -> None:
    problem = Problem(*rows_of_two_classes(150, seed=1), kernel=RBF(0.3), C=10.0)
    assert solve(problem, SMO("platt"), Stop(gap=0.0, steps=steps)).steps <= steps


def test_any_seed_finds_the_optimum() -> None:
    problem = Problem(*rows_of_two_classes(150, seed=1), kernel=RBF(0.3), C=10.0)
    runs = [solve(problem, SMO("platt"), STOP, seed=seed) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(runs[0].dual_coef, runs[1].dual_coef)
    values = [run.certificate.primal for run in runs]
    assert max(values) - min(values) <= 2e-5 * max(values)


@pytest.mark.parametrize("rows_kept", [0, 3, 40])
def test_little_memory_changes_no_optimum(rows_kept: int) -> None:
    problem = Problem(*rows_of_two_classes(100, seed=2), kernel=RBF(0.3), C=10.0)
    megabytes = max(1e-9, rows_kept * 100 * 4 / 2**20)
    solution = solve(problem, SMO("platt", cache_mb=megabytes), Stop(gap=1e-3))
    assert solution.status is Status.SOLVED
    verify(problem, solution, Stop(gap=1e-3))


def test_a_warm_start_is_at_the_end_already() -> None:
    problem = Problem(*rows_of_two_classes(150, seed=1), kernel=RBF(0.3), C=10.0)
    solution = solve(problem, SMO("platt"), Stop(gap=1e-4))
    again = solve(problem, SMO("platt"), Stop(gap=1e-4), warm=solution)
    assert again.status is Status.SOLVED
    assert again.steps < 0.2 * solution.steps
