"""SMO and coordinate descent with kept kernel rows: rules, little memory, resting rows."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from tests.solvers.kernel_cases import CASES, rows_of_two_classes

import hinge
from hinge import SVC, Problem, Status, Stop, solve
from hinge.kernels import RBF
from hinge.solvers import SMO, Decomposition, KernelDualCoordinate, Solver
from hinge.testing import verify

STOP = Stop(gap=1e-6, steps=1_000_000)


def _many(kind: type[Solver], n: int = 400, C: float = 1.0) -> Problem:
    """Return a problem of more rows than are computed at once, some of which may rest."""
    X, y = rows_of_two_classes(n, seed=2)
    intercept = "none" if kind is KernelDualCoordinate else "free"
    return Problem(X, y, kernel=RBF(0.3), C=C, intercept=intercept)


@pytest.mark.parametrize("name", ["ordinary", "duplicates", "weights", "nearly a matrix of ones"])
def test_the_first_order_rule_finds_the_same_optimum(name: str) -> None:
    problem = CASES[name](intercept="free")
    first, second = (solve(problem, SMO(rule), STOP) for rule in ("first", "second"))
    for solution in (first, second):
        assert solution.status is Status.SOLVED
        verify(problem, solution, STOP)
    assert first.certificate.primal == pytest.approx(second.certificate.primal, rel=2e-6)


def test_the_second_order_rule_takes_fewer_steps() -> None:
    problem = Problem(*rows_of_two_classes(300, seed=3), kernel=RBF(0.2), C=100.0)
    runs = [solve(problem, SMO(rule), Stop(gap=1e-3)) for rule in ("first", "second")]
    assert runs[1].steps < runs[0].steps


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(hinge.InvalidParameterError, match="one of 'first', 'platt', 'second'"):
        SMO("third")


@pytest.mark.parametrize("kind", [SMO, KernelDualCoordinate])
@pytest.mark.parametrize("rows_kept", [0, 3, 40])
def test_little_memory_changes_no_optimum(kind: type[Solver], rows_kept: int) -> None:
    problem = _many(kind, 100)
    megabytes = max(1e-9, rows_kept * 100 * 4 / 2**20)
    stop = Stop(gap=1e-3)
    solution = solve(problem, kind(cache_mb=megabytes), stop)
    assert solution.status is Status.SOLVED
    # A copy of the rows, where one is made, is part of the memory.
    left = rows_kept - math.ceil(solution.state.source.copy_mb * 2**20 / (100 * 4))
    assert solution.state.cache.n_slots == max(left, kind.least_kept)
    verify(problem, solution, stop)


@pytest.mark.parametrize("kind", [SMO, KernelDualCoordinate])
def test_rows_rest_and_come_back(kind: type[Solver]) -> None:
    problem = _many(kind, C=100.0)
    most = 0

    def watch(event) -> None:
        nonlocal most
        most = max(most, int(np.count_nonzero(event.state().resting)))

    stop = Stop(gap=1e-5)
    solution = solve(problem, kind(), stop, observers=[watch])
    verify(problem, solution, stop)
    assert most > 40
    assert not solution.state.resting.any()
    plain = solve(problem, kind(shrinking=False), stop)
    verify(problem, plain, stop)


def test_a_row_is_kept_once() -> None:
    solution = solve(_many(KernelDualCoordinate), KernelDualCoordinate(), Stop(gap=1e-4))
    kept = solution.state.kept[solution.state.kept >= 0]
    assert len(np.unique(kept)) == len(kept) > 64


def test_an_estimator_takes_the_solver_by_name() -> None:
    X, y = rows_of_two_classes(120)
    machine = SVC(solver="smo", tol=1e-4, gamma=0.5).fit(X, y)
    assert machine.solution_.solver == "smo"
    reference = SVC(solver=Decomposition(tolerance=1e-4), tol=1e-4, gamma=0.5).fit(X, y)
    np.testing.assert_allclose(
        machine.decision_function(X), reference.decision_function(X), atol=2e-3
    )
    with pytest.raises(hinge.UnsupportedError, match=r"ties them.*An SVC always has an intercept"):
        SVC(solver="dual-coordinate").fit(X, y)


@pytest.mark.filterwarnings("ignore:probability is deprecated:FutureWarning")
def test_probabilities_start_from_any_state_of_a_kernel_machine() -> None:
    X, y = rows_of_two_classes(120)
    by_smo, by_default = (
        SVC(solver=solver, probability=True, tol=1e-5).fit(X, y).predict_proba(X)
        for solver in ("smo", "auto")
    )
    np.testing.assert_allclose(by_smo, by_default, atol=0.02)


@pytest.mark.parametrize("cache_mb", [0.5, 1.0, 24.0])
def test_kept_rows_and_the_matrix_of_a_working_set_share_the_cache(cache_mb: float) -> None:
    problem = _many(Decomposition, n=1500)
    state = Decomposition(cache_mb).start(problem, None, 0)
    matrix = 4 * min(len(state.beta), state.largest_set) ** 2
    assert state.cache.rows.nbytes + matrix <= cache_mb * 2**20
    assert state.largest_set >= 256


def test_a_fit_takes_no_more_than_its_cache_a_tenth_of_it_and_the_rows() -> None:
    problem = _many(Decomposition, n=4000, C=100.0)
    cache_mb = 16.0  # a quarter of the kernel matrix
    tracemalloc.start()
    try:
        solution = solve(problem, Decomposition(cache_mb), Stop(kkt=1e-3, gap=None))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert solution.status is Status.SOLVED
    assert peak <= 1.1 * cache_mb * 2**20 + problem.rows.values.nbytes


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_working_sets_of_very_few_rows_get_there(rows: int) -> None:
    problem = _many(Decomposition)
    solution = solve(problem, Decomposition(working_set=rows), Stop(gap=1e-4))
    assert solution.status is Status.SOLVED
    verify(problem, solution, Stop(gap=1e-4))
