"""Every class against every other: pairs, their rows, their weights, and who solves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.estimators.data import three_classes, two_classes

from hinge import Point, Problem, Status, Stop, kernels, solve
from hinge.losses import get_loss
from hinge.multiclass import ClassPairs, Labels, Objective, Plan, solve_one_vs_one
from hinge.problem import Intercept
from hinge.rows import Rows
from hinge.rows_part import RowsPart
from hinge.solvers import Decomposition, StopFlag

OBJECTIVE = Objective(get_loss("hinge"), 2.0, Intercept.FREE, kernel=kernels.RBF(0.3))
STOP = Stop(gap=None, kkt=1e-3)


def iris(**weights: Any) -> tuple[Rows, ClassPairs]:
    X, y = three_classes()
    return Rows(X), ClassPairs(Labels(np.arange(3), y, **weights))


def test_pairs_come_in_the_order_of_scikit_learn() -> None:
    _, pairs = iris()
    assert pairs.pairs == [(0, 1), (0, 2), (1, 2)]
    assert [pairs.label(k) for k in range(3)] == [(0, 1), (0, 2), (1, 2)]
    np.testing.assert_array_equal(pairs.rows_of(1), np.r_[0:50, 100:150])
    assert pairs.size(1) == 100


def test_two_classes_are_used_in_place() -> None:
    X, y = two_classes()
    rows, pairs = Rows(X), ClassPairs(Labels(np.array(["a", "b"]), y))
    assert pairs.rows_of(0) is None
    assert pairs.label(0) == "b"
    assert pairs.problem(rows, OBJECTIVE, 0).rows is rows


@pytest.mark.parametrize("threads", [1, 2])
def test_each_pair_is_what_it_would_be_alone(threads: int) -> None:
    weights = {
        "sample_weight": np.arange(150) % 3 * 1.0,
        "class_weight": np.array([1.0, 2.0, 0.5]),
    }
    rows, pairs = iris(**weights)
    plan = Plan(stop=STOP, threads=threads)
    solutions = solve_one_vs_one(rows, pairs, OBJECTIVE, [None] * 3, plan, StopFlag())
    X, y = three_classes()
    costs = weights["sample_weight"] * weights["class_weight"][y]
    for number, (i, j) in enumerate(pairs.pairs):
        chosen = ((y == i) | (y == j)) & (costs > 0)
        np.testing.assert_array_equal(pairs.rows_of(number), np.flatnonzero(chosen))
        problem = Problem(
            X[chosen], y[chosen], C=2.0, kernel=OBJECTIVE.kernel, sample_weight=costs[chosen]
        )
        alone = solve(problem, stop=STOP)
        both = solutions[number].certificate, alone.certificate
        assert abs(both[0].primal - both[1].primal) <= both[0].gap + both[1].gap
        # To the bit it is what the other pairs, whoever solves them, leave it to be.
        part = pairs.problem(pairs.shared(rows, OBJECTIVE.kernel), OBJECTIVE, number)
        np.testing.assert_array_equal(part.rows.matrix, problem.rows.matrix)
        by_itself = solve(part, stop=STOP)
        np.testing.assert_array_equal(solutions[number].dual_coef, by_itself.dual_coef)
        assert solutions[number].certificate.gap == by_itself.certificate.gap
        assert solutions[number].state is None


def test_whoever_never_begins_has_coefficients_of_zero() -> None:
    rows, pairs = iris()
    flag = StopFlag()
    flag.set()
    solutions = solve_one_vs_one(rows, pairs, OBJECTIVE, [None] * 3, Plan(stop=STOP), flag)
    assert {s.status for s in solutions} == {Status.INTERRUPTED}
    assert "before this pair of classes began" in solutions[2].certificate.notes[0]
    np.testing.assert_array_equal(solutions[2].dual_coef, np.zeros(100))


def test_states_are_there_when_a_pair_is_finished() -> None:
    rows, pairs = iris()
    seen: dict[int, tuple[Problem, Any]] = {}

    def finish(number: int, problem: Problem, solution: Any) -> None:
        seen[number] = (problem, solution)

    plan = Plan(stop=STOP, finish=finish, threads=2)
    solutions = solve_one_vs_one(rows, pairs, OBJECTIVE, [None] * 3, plan, StopFlag())
    assert sorted(seen) == [0, 1, 2]
    for number, (problem, solution) in seen.items():
        assert solution.state.problem is problem
        np.testing.assert_array_equal(solution.dual_coef, solutions[number].dual_coef)


def test_a_matrix_is_cut_to_the_rows_of_a_pair() -> None:
    X, y = three_classes()
    matrix = kernels.RBF(0.3).block(X, X)
    pairs = ClassPairs(Labels(np.arange(3), y))
    objective = Objective(get_loss("hinge"), 2.0, Intercept.FREE, kernel=kernels.Precomputed())
    problem = pairs.problem(Rows(matrix), objective, 2)
    np.testing.assert_array_equal(problem.rows.values, matrix[50:, 50:])
    start = Point(np.zeros(0), 0.0, np.zeros(100))
    assert solve(problem, stop=STOP, warm=start).status is Status.SOLVED


@pytest.mark.parametrize(
    "kernel", [kernels.RBF(0.3), kernels.Polynomial(degree=2), kernels.Laplacian(0.2)]
)
@pytest.mark.parametrize("make", [np.asarray, lambda X: X.astype(np.float32), sp.csr_array])
def test_pairs_that_are_solved_alone_copy_no_pair_as_a_whole(
    make: Callable[[Any], Any], kernel: kernels.Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: RowsPart) -> Rows:
        raise AssertionError

    monkeypatch.setattr(RowsPart, "copied", refuse)
    X, y = three_classes()
    rows, pairs = Rows(make(X)), ClassPairs(Labels(np.arange(3), y))
    objective = replace(OBJECTIVE, kernel=kernel)
    plan = Plan(stop=replace(STOP, steps=10**9))  # limits on steps are for each pair alone
    solutions = solve_one_vs_one(rows, pairs, objective, [None] * 3, plan, StopFlag())
    assert all(solution.status is Status.SOLVED for solution in solutions)


@pytest.mark.parametrize("steps", [None, 10**9])
def test_certificates_share_the_support_vectors(steps: int | None) -> None:
    rows, pairs = iris()
    plan = Plan(solver=Decomposition(), stop=replace(STOP, steps=steps))
    solutions = solve_one_vs_one(rows, pairs, OBJECTIVE, [None] * 3, plan, StopFlag())
    regions: list[Any] = [solution.certificate.region for solution in solutions]
    assert len({id(region.rows) for region in regions}) == 1
    support = np.zeros(150, dtype=bool)
    for number, (region, solution) in enumerate(zip(regions, solutions, strict=True)):
        alpha = solution.point.dual_coef
        own = pairs.rows_of(number)[np.flatnonzero(alpha)]
        support[own] = True
        vectors = region.rows.values[region.support]
        np.testing.assert_array_equal(vectors, rows.values[own])
    assert region.rows.n_rows == np.count_nonzero(support)
