"""Paths of kernel machines over C and gamma: certified, warm, and without work done twice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.estimators.data import two_classes

from hinge import (
    InvalidParameterError,
    Problem,
    Status,
    Stop,
    UnsupportedError,
    kernels,
    path,
    solve,
)
from hinge.kernels import with_gamma
from hinge.testing import verify

CS = [100.0, 0.1, 1.0, 10.0]
STOP = Stop(gap=1e-4)


def problem(**options: Any) -> Problem:
    X, y = two_classes(n=200)
    return Problem(X, y, **{"kernel": "rbf", **options})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_every_value_is_certified(loss: str, weighted: bool) -> None:
    weights = np.where(np.arange(200) % 5 == 0, 0.0, 1.0 + np.arange(200) % 3) if weighted else None
    whole = problem(loss=loss, sample_weight=weights)
    for C, solution in zip(CS, path(whole, CS, stop=STOP), strict=True):
        here = whole.with_C(C)
        verify(here, solution, STOP)
        alone = solve(here, stop=STOP)
        bound = max(alone.certificate.gap, solution.certificate.gap)
        assert abs(alone.certificate.primal - solution.certificate.primal) <= bound
        assert solution.state is None


def test_kernel_values_serve_on() -> None:
    whole = problem()
    along = path(whole, sorted(CS), stop=STOP)
    alone = [solve(whole.with_C(C), stop=STOP) for C in sorted(CS)]
    assert sum(s.work for s in along[1:]) < 0.7 * sum(s.work for s in alone[1:])


def test_gammas_make_a_grid() -> None:
    whole = problem()
    seen = set()
    grid = path(
        whole, CS, stop=STOP, gammas=[0.5, 0.05],
        observers=[lambda e: seen.add((e.number, e.count))],
    )  # fmt: skip
    assert len(grid) == 2
    assert seen == {(n, 8) for n in range(8)}
    for gamma, along in zip([0.5, 0.05], grid, strict=True):
        for C, solution in zip(CS, along, strict=True):
            verify(whole.with_kernel(kernels.RBF(gamma)).with_C(C), solution, STOP)


def test_an_observer_ends_the_grid() -> None:
    stop = Stop(gap=1e-9)  # which no first step reaches
    grid = path(problem(), CS, stop=stop, gammas=[0.5, 0.05], observers=[lambda e: e.number == 2])
    assert grid[0][1].status is Status.SOLVED
    assert grid[0][2].status is Status.INTERRUPTED
    assert {s.status for s in grid[1]} == {Status.INTERRUPTED}
    assert "never" not in str(grid[1][0].certificate)
    np.testing.assert_array_equal(grid[1][0].dual_coef, np.zeros(200))


def test_other_kernels() -> None:
    X, y = two_classes()
    inner = kernels.Normalised(kernels.Polynomial(2, 0.5, 1.0))
    assert with_gamma(inner, 0.1) == kernels.Normalised(kernels.Polynomial(2, 0.1, 1.0))
    (along,) = path(Problem(X, y, kernel=inner), [1.0], stop=STOP, gammas=[0.1])
    verify(Problem(X, y, kernel=with_gamma(inner, 0.1)), along[0], STOP)
    with pytest.raises(UnsupportedError, match="has no gamma to change"):
        path(Problem(X, y, kernel="linear"), [1.0], gammas=[0.1])
    with pytest.raises(UnsupportedError, match="the problem is linear"):
        path(Problem(X, y), [1.0], gammas=[0.1])
    with pytest.raises(InvalidParameterError, match=r"gammas\[0\] must not be negative"):
        path(problem(), [1.0], gammas=[-1.0])


def test_another_kernel_has_other_images() -> None:
    X, y = two_classes()
    first = Problem(X, y, kernel=kernels.Polynomial(2, 1.0, 0.0))
    before = first.image_squares
    second = first.with_kernel(kernels.RBF(1.0))
    np.testing.assert_allclose(second.image_squares, np.ones(len(X)))
    assert first.image_squares is before
    assert second.rows is first.rows


def test_rounding_alone_does_not_keep_a_run_going() -> None:
    solution = solve(problem(), stop=Stop(gap=None, kkt=0.0))
    assert solution.status is Status.STALLED
    assert solution.certificate.kkt < 1e-5


def test_absent_rows_of_a_matrix() -> None:
    X, y = two_classes()
    weights = np.where(np.arange(len(y)) % 3 == 0, 0.0, 1.0)
    kernel = kernels.RBF(0.3)
    matrix = Problem(
        kernel.block(X, X), y, kernel=kernels.Precomputed(psd=True), sample_weight=weights
    )
    rows = Problem(X, y, kernel=kernel, sample_weight=weights)
    first, second = solve(matrix, stop=STOP), solve(rows, stop=STOP)
    assert first.status is Status.SOLVED
    assert first.certificate.primal == pytest.approx(second.certificate.primal, rel=1e-4)


def test_many_values_are_points_of_the_exact_path() -> None:
    whole, Cs, stop = problem(), list(np.geomspace(0.05, 50.0, 20)), Stop(gap=1e-7)
    along = path(whole, Cs[::-1], stop=stop)
    assert {solution.solver for solution in along} == {"active-set"}
    for C, solution in zip(Cs[::-1], along, strict=True):
        verify(whole.with_C(C), solution, stop)
    few = path(whole, Cs[:3], stop=stop)
    assert {solution.solver for solution in few} == {"decomposition"}
    named = path(whole, Cs, "smo", stop=stop)
    for one, other in zip(along[::-1], named, strict=True):
        assert one.certificate.primal == pytest.approx(other.certificate.primal, rel=1e-6)


def test_a_walk_without_time_leaves_all_values_to_the_usual_way() -> None:
    whole, Cs = problem(), list(np.geomspace(0.05, 50.0, 20))
    along = path(whole, Cs, stop=Stop(gap=1e-7, seconds=0.0))
    assert {solution.status for solution in along} == {Status.TIME_LIMIT}
