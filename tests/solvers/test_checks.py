"""The shipped checks: a right solver passes them all, and each wrong one fails its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from tests.solvers.plain_coordinate import PlainCoordinate

from hinge.testing import known_optimum, solver_checks, yield_checks


def _checks_of(solver, name: str):
    found = [check for check in yield_checks(solver) if check.property.__name__ == name]
    assert found
    return found


# Plain Python is slow: some kinds of problem stand for all of them.
SOME = ("hinge-none-dense-float64", "huber-augmented-csr-float32")
CHECKS = [check for check in yield_checks(PlainCoordinate()) if check.label.startswith(SOME)]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_a_right_solver_passes(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    counts = Counter(check.property.__name__ for check in yield_checks(PlainCoordinate()))
    # three losses, two intercepts, dense and CSR, two types; weighted or not
    assert counts.pop("check_a_row_without_weight_is_absent") == 24
    assert set(counts.values()) == {48}
    written = {name for name in vars(solver_checks) if name.startswith("check_")}
    assert set(counts) | {"check_a_row_without_weight_is_absent"} == written


class StopsEarly(PlainCoordinate):
    def finish_pass(self, state) -> None:
        super().finish_pass(state)
        state.at_rest = state.steps >= 2


class DependsOnTheBudget(PlainCoordinate):
    def step(self, state, work: int) -> int:
        state.weights += 1e-13 * min(work, 5000)
        return super().step(state, work)


class ForgetsItsPlace(PlainCoordinate):
    def start(self, problem, warm=None, seed=0):
        state = super().start(problem, warm, seed)
        state.__class__ = _Forgetful
        return state


class _Forgetful(type(PlainCoordinate().start(known_optimum(intercept="none").problem))):
    def __getstate__(self):
        return {**super().__getstate__(), "random": np.random.default_rng(99)}


class UsesAGlobalGenerator(PlainCoordinate):
    def finish_pass(self, state) -> None:
        super().finish_pass(state)
        state.order = _GLOBAL.permutation(state.kept)


_GLOBAL = np.random.default_rng()


class WritesToTheWarmPoint(PlainCoordinate):
    def start(self, problem, warm=None, seed=0):
        if warm is not None:
            warm.dual_coef[0] += 1.0
        return super().start(problem, warm, seed)


class HandsOutItsOwnArrays(PlainCoordinate):
    def point(self, state):
        return replace(super().point(state), coef=state.weights[:-1], dual_coef=state.alpha)


class IgnoresWarmStarts(PlainCoordinate):
    def start(self, problem, _warm=None, seed=0):
        return super().start(problem, None, seed)


class VisitsRowsWithoutWeight(PlainCoordinate):
    def start(self, problem, warm=None, seed=0):
        state = super().start(problem, warm, seed)
        state.order = state.random.permutation(problem.n_rows)
        state.order = state.order[problem.costs[state.order] > 0]
        return state


@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        (StopsEarly, "check_reaches_the_known_optimum"),
        (DependsOnTheBudget, "check_any_budget_gives_the_same_bits"),
        (ForgetsItsPlace, "check_a_pickled_state_resumes"),
        (UsesAGlobalGenerator, "check_the_seed_decides_the_bits"),
        (WritesToTheWarmPoint, "check_inputs_are_left_alone"),
        (HandsOutItsOwnArrays, "check_a_returned_point_is_a_copy"),
        (IgnoresWarmStarts, "check_a_warm_start_at_the_optimum_stays"),
        (VisitsRowsWithoutWeight, "check_a_row_without_weight_is_absent"),
    ],
)
def test_a_wrong_solver_fails(wrong: type, check: str) -> None:
    failures = 0
    for each in _checks_of(wrong(), check)[:4]:
        try:
            each()
        except AssertionError:
            failures += 1
    assert failures >= 2
