"""Pairs of classes in native code: what it asks of its arrays, and who is stopped when."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hinge import Problem, Stop, solve
from hinge._native import core
from hinge.kernels import RBF, Kernel, Laplacian
from hinge.losses import Hinge
from hinge.machines.native_rows import native_kernel, native_rows, view
from hinge.rows import Rows
from hinge.solvers.kernel import class_pairs
from hinge.solvers.kernel.class_pairs import PairSettings, PairSolver
from hinge.solvers.kernel.held_out import without_rows

CLASSES = [np.arange(0, 20), np.arange(20, 50), np.arange(50, 60)]


def rows_of(kernel: Kernel = RBF(0.5)) -> Any:  # noqa: B008 - frozen
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    native = native_kernel(kernel)
    assert native is not None
    return native_rows(native, view(Rows(X)), (None, None), np.float32)


def solver() -> PairSolver:
    costs = [np.ones(len(ids)) for ids in CLASSES]
    stored = [3 * len(ids) for ids in CLASSES]
    return PairSolver(rows_of(), CLASSES, costs, stored, Hinge(), PairSettings(1e-4, 256, 1.0))


def test_it_is_balanced_and_in_its_box() -> None:
    for first, second in ((0, 1), (0, 2), (1, 2)):
        end = solver().solve(first, second, lambda: None)
        assert end is not None
        cut = len(CLASSES[first])
        assert end.alpha.shape == (cut + len(CLASSES[second]),)
        assert np.all((end.alpha >= 0.0) & (end.alpha <= 1.0))
        assert np.sum(end.alpha[:cut]) == pytest.approx(np.sum(end.alpha[cut:]))
        assert end.steps > 0
        assert end.work > 0


@pytest.mark.parametrize("pieces", [False, True])
def test_scores_are_those_of_machines_without_the_rows(
    pieces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if pieces:
        monkeypatch.setattr(class_pairs, "WORK_A_CALL", 100)
        monkeypatch.setattr(class_pairs, "_MOST_TERMS", 4)
        monkeypatch.setattr(class_pairs, "_FEWEST_TERMS", 4)
    whole = solver()
    end = whole.solve(0, 1, lambda: None)
    assert end is not None
    folds = [np.arange(part, 50, 3) for part in range(3)]
    generous = replace(end, work=10**6)
    found = whole.held_out_scores((0, 1), generous, folds, 1e-4, lambda: None)
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    y = np.arange(50) >= 20
    for rows, scores in zip(folds, found, strict=True):
        assert scores is not None
        weights = np.ones(50)
        weights[rows] = 0.0
        without = Problem(X[:50], y, kernel=RBF(0.5), sample_weight=weights)
        exact = solve(without, stop=Stop(gap=None, kkt=1e-6))
        assert exact.dual_coef is not None
        values = RBF(0.5).block(X[rows], X[:50]) @ (without.signs * exact.dual_coef)
        np.testing.assert_allclose(scores, values + exact.intercept, atol=1e-3)


def test_without_time_there_are_no_scores_of_other_machines() -> None:
    whole = solver()
    end = whole.solve(0, 1, lambda: None)
    assert end is not None
    folds = [np.arange(part, 50, 3) for part in range(3)]
    given = (0, 1), end, folds, 1e-4, lambda: None
    assert whole.held_out_scores(*given, is_late=lambda: True) == [None] * 3


def test_a_machine_that_is_under_way_when_the_time_is_over_is_taken_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = solver()
    end = whole.solve(0, 1, lambda: None)
    assert end is not None
    monkeypatch.setattr(class_pairs, "WORK_A_CALL", 1)
    looks = iter([False, False, *[True] * 10])  # before all machines, and before the first
    folds = [np.arange(0, 50, 3), np.arange(1, 50, 3)]
    given = (0, 1), end, folds, 1e-6, lambda: None
    late, never_begun = whole.held_out_scores(*given, is_late=lambda: next(looks))
    calm, _ = whole.held_out_scores(*given)
    assert late is not None
    assert never_begun is None
    assert calm is not None
    assert 1e-6 < np.max(np.abs(late - calm)) < 1.0


def test_what_is_left_without_rows_is_balanced() -> None:
    beta = np.array([-1.0, -0.5, -0.5, 1.0, 0.7, 0.3])
    lower, upper = np.repeat([-1.0, 0.0], 3), np.repeat([0.0, 1.0], 3)
    folds = [np.array([0]), np.array([3, 4]), np.array([1, 5])]
    found = without_rows(beta, lower, upper, folds)
    for left, held in zip(found, folds, strict=True):
        assert np.all(left[held] == 0.0)
        assert np.sum(left) == pytest.approx(0.0, abs=1e-15)
        assert np.all(np.abs(left) <= np.abs(beta))
    np.testing.assert_allclose(found[0], [0.0, -0.5, -0.5, 1.0, 0.0, 0.0])  # inside ones first
    free = without_rows(beta, lower, upper, folds[:1], is_balanced=False)
    np.testing.assert_array_equal(free, [[0.0, *beta[1:]]])


def test_it_asks_between_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = solver().solve(0, 1, lambda: None)
    asked: list[int] = []
    monkeypatch.setattr(class_pairs, "WORK_A_CALL", 1)
    pieces = solver().solve(0, 1, lambda: asked.append(1))
    assert len(asked) > 1
    assert whole is not None
    assert pieces is not None
    np.testing.assert_array_equal(whole.alpha, pieces.alpha)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solver().solve(0, 1, stop)


def test_arrays_must_belong_together() -> None:
    rows = rows_of()
    with pytest.raises(ValueError, match="there is no row 60"):
        core.ClassOfRows(rows, np.array([0, 60]), 2)
    with pytest.raises(ValueError, match="symmetric to the bit"):
        core.ClassOfRows(rows_of(Laplacian(0.5)), np.arange(3), 3)
    first, second = core.ClassOfRows(rows, np.arange(3), 3), core.ClassOfRows(rows, np.arange(4), 4)
    limits = core.RoundLimits(1e-3, 7, 7, 100, 100, 3, 10**9, 10**9)

    def run(n: int, points: int, given: Any = first) -> Any:
        flags = np.zeros(n, dtype=bool)
        program = core.ResidentProgram(*np.zeros((4, n)), flags, True)
        return core.PairRun(given, second, program, np.zeros(points), np.zeros(points), limits)

    assert run(7, 7).advance()[2] == 0
    with pytest.raises(ValueError, match="beta has 6 entries, not 7"):
        run(7, 6)
    with pytest.raises(ValueError, match="linear has 6 entries, not 7"):
        run(6, 7)
    with pytest.raises(ValueError, match="of the same matrix"):
        run(7, 7, core.ClassOfRows(rows_of(), np.arange(3), 3))
