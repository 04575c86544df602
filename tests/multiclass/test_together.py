"""Pairs of classes solved together: the bits that each has alone, and who is left to others."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import SVC, Point, Status, Stop
from hinge.certificates import gap
from hinge.certificates.kernel_scores import training_scores
from hinge.errors import InvalidWeightsError
from hinge.kernels import RBF, Laplacian, Polynomial
from hinge.losses import get_loss
from hinge.multiclass import (
    ClassPairs,
    Labels,
    Objective,
    Plan,
    pair_batch,
    pair_memory,
    solve_one_vs_one,
)
from hinge.multiclass import together as module
from hinge.multiclass.together import batches, solve_together
from hinge.problem import Intercept
from hinge.rows import Rows
from hinge.solvers import Decomposition, StopFlag
from hinge.solvers.kernel import class_pairs

OBJECTIVE = Objective(get_loss("hinge"), 3.0, Intercept.FREE, kernel=RBF(0.4))
# For one pair at a time: the copy and the panels of the rows, the matrices of a pair and its set,
# and what memory is taken for at a time.
NEEDED_MB = 4.0 * (600 * 6 + 5 * 128 * 6 + 3 * 240**2 + 256 * (240 + 600)) / 2**20
PLAN = Plan(Decomposition(tolerance=1e-3), Stop(gap=None, kkt=1e-3), at_once=2)


def data(form: Any = np.asarray, **weights: Any) -> tuple[Rows, ClassPairs]:
    rng = np.random.default_rng(1)
    codes = rng.permutation(np.arange(600) % 5)
    X = rng.normal(size=(600, 6)) + 0.8 * np.eye(6)[codes]
    return Rows(form(X)), ClassPairs(Labels(np.arange(5), codes, **weights))


def together(rows: Rows, pairs: ClassPairs, **changed: Any) -> Any:
    objective = changed.pop("objective", OBJECTIVE)
    flag = changed.pop("flag", StopFlag())
    warm = changed.pop("warm", [None] * len(pairs))
    shared = pairs.shared(rows, objective.kernel)
    return solve_together(shared, pairs, objective, warm, replace(PLAN, **changed), flag)


def one_by_one(rows: Rows, pairs: ClassPairs, objective: Objective = OBJECTIVE) -> list[Any]:
    """Return solutions of a fit that somebody watches."""
    plan = replace(PLAN, finish=lambda *_: None)
    return solve_one_vs_one(rows, pairs, objective, [None] * len(pairs), plan, StopFlag())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_each_has_the_bits_that_it_has_alone(loss: str, form: Any, threads: int) -> None:
    rng = np.random.default_rng(0)
    weights = {"sample_weight": rng.choice([0.0, 1.0, 2.5], 600), "class_weight": np.arange(1.0, 6)}
    rows, pairs = data(form, **weights)
    objective = replace(OBJECTIVE, loss=get_loss(loss))
    found = together(rows, pairs, objective=objective, threads=threads)
    assert list(found) == list(range(10))
    for number, alone in enumerate(one_by_one(rows, pairs, objective)):
        solution = found[number]
        assert solution.status is Status.SOLVED
        np.testing.assert_array_equal(solution.dual_coef, alone.dual_coef)
        assert solution.intercept == alone.intercept
        assert (solution.steps, solution.work) == (alone.steps, alone.work)
        rounding = solution.certificate.rounding + alone.certificate.rounding
        assert solution.certificate.gap == pytest.approx(alone.certificate.gap, abs=rounding)
        assert solution.certificate.kkt == pytest.approx(alone.certificate.kkt, abs=1e-9)
        assert solution.trace.records[-1].relative_gap == solution.certificate.relative_gap
        assert solution.seconds >= solution.certificate_seconds > 0.0


def test_where_rows_find_no_room_changes_no_bit() -> None:
    rows, pairs = data()
    expected = [solution.dual_coef for solution in one_by_one(rows, pairs)]
    # Room for the rows of a pair and the data, and for some shared rows, or none.
    for megabytes in (NEEDED_MB + 0.05, NEEDED_MB + 0.005):
        solver = Decomposition(cache_mb=megabytes, tolerance=1e-3)
        found = together(rows, pairs, solver=solver, at_once=1, threads=1)
        assert len(found) == 10
        for number, coef in enumerate(expected):
            np.testing.assert_array_equal(found[number].dual_coef, coef)


def test_threads_without_memory_wait_and_change_no_bit() -> None:
    rows, pairs = data()
    solver = Decomposition(cache_mb=(NEEDED_MB + 0.05) / 2, tolerance=1e-3)
    one, two = (together(rows, pairs, solver=solver, at_once=2, threads=t) for t in (1, 2))
    assert list(one) == list(two) == list(range(10))
    for number, solution in one.items():
        np.testing.assert_array_equal(solution.dual_coef, two[number].dual_coef)
        assert solution.certificate.gap == two[number].certificate.gap


def test_one_copy_of_the_rows_has_the_memory_of_all_pairs() -> None:
    rows, pairs = data()
    expected = [solution.dual_coef for solution in one_by_one(rows, pairs)]
    # The part of one pair alone would not hold it.
    solver = Decomposition(cache_mb=(NEEDED_MB + 0.05) / 80, tolerance=1e-3)
    assert solver.cache_mb * 2**20 < 8 * rows.n_stored
    found = together(rows, pairs, solver=solver, at_once=80)
    assert list(found) == list(range(10))
    for number, coef in enumerate(expected):
        np.testing.assert_array_equal(found[number].dual_coef, coef)


def test_small_classes_of_many_features_are_left_to_others_if_their_panels_do_not_fit() -> None:
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(40, 2000)))
    pairs = ClassPairs(Labels(np.arange(20), np.arange(40) % 20))
    objective = replace(OBJECTIVE, kernel=RBF(1e-3))
    for megabytes, expected in ((5.0, 0), (50.0, 190)):
        solver = Decomposition(cache_mb=megabytes, tolerance=1e-3)
        found = together(rows, pairs, objective=objective, solver=solver, at_once=1)
        assert len(found) == expected


def test_a_class_of_one_row_and_rows_of_two_classes() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(81, 4))
    X[41:61] = X[1:21]
    rows = Rows(X)
    pairs = ClassPairs(Labels(np.arange(3), np.repeat([0, 1, 2], [1, 40, 40])))
    found = together(rows, pairs)
    assert list(found) == [0, 1, 2]
    for number, alone in enumerate(one_by_one(rows, pairs)):
        np.testing.assert_array_equal(found[number].dual_coef, alone.dual_coef)
        assert found[number].intercept == alone.intercept


@pytest.mark.parametrize(("C", "weight"), [(1e-200, 1e-200), (1e300, 1e10)])
def test_costs_beyond_floating_point_are_refused(C: float, weight: float) -> None:
    rows, pairs = data()
    weights = np.where(np.arange(600) < 3, weight, 1.0)
    with pytest.raises(InvalidWeightsError, match="C"):
        SVC(C=C).fit(rows.matrix, pairs.labels.codes, sample_weight=weights)


def test_a_fit_takes_this_way() -> None:
    rows, pairs = data()
    model = SVC(C=3.0, gamma=0.4).fit(rows.matrix, pairs.labels.codes)
    found = together(rows, pairs)
    for number, solution in enumerate(model.solutions_):
        np.testing.assert_array_equal(solution.dual_coef, found[number].dual_coef)
        assert len({id(s.certificate.region.rows) for s in model.solutions_}) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"solver": "auto"},
        {"solver": Decomposition(working_set=50)},
        {"solver": Decomposition(inner="gradient-projection")},
        {"solver": Decomposition(tolerance=1e-2)},
        {"solver": Decomposition(cache_mb=0.1)},
        {"stop": Stop(gap=1e-3)},
        {"stop": Stop(gap=None, kkt=1e-3, steps=10)},
        {"finish": lambda *_: None},
        {"resume": lambda *_: None},
        {"listeners": (object(),)},
        {"warm": [Point(np.zeros(0), 0.0, np.zeros(240))] * 10},
        {"objective": replace(OBJECTIVE, intercept=Intercept.NONE)},
        {"objective": replace(OBJECTIVE, kernel=Laplacian(0.3))},
        {"objective": replace(OBJECTIVE, kernel=RBF(1e6))},
        {"objective": replace(OBJECTIVE, kernel=Polynomial(3, 1e12, 1e12))},
    ],
    ids="-".join,
)
def test_what_is_more_than_this_is_left_to_others(changed: dict[str, Any]) -> None:
    rows, pairs = data()
    assert together(rows, pairs, **changed) == {}


@pytest.mark.parametrize("threads", [1, 2])
def test_those_who_go_on_from_solutions_are_given_all_of_them_at_once(threads: int) -> None:
    rows, pairs = data(sample_weight=np.arange(600) % 3 * 0.5)
    given: list[Any] = []
    hooks = {"finish": lambda *_: None, "finish_pairs": lambda *call: given.append(call)}
    found = together(rows, pairs, threads=threads, **hooks)
    assert list(found) == list(range(10))
    ((solved, workers),) = given
    assert workers == threads
    assert list(solved) == list(range(10))
    for number, solution in found.items():
        pair = solved[number]
        np.testing.assert_array_equal(pair.end.alpha, solution.dual_coef)
        problem = pairs.problem(pairs.shared(rows, OBJECTIVE.kernel), OBJECTIVE, number)
        np.testing.assert_array_equal(pair.is_positive, problem.signs > 0)
        np.testing.assert_array_equal(pair.weights, problem.sample_weight)
        exact = training_scores(problem, solution.point).values + solution.intercept
        np.testing.assert_allclose(pair.scores, exact, atol=1e-4)


LIMITED = replace(PLAN, stop=Stop(gap=None, kkt=1e-3, seconds=1000.0))


def test_a_time_limit_that_is_not_reached_changes_nothing() -> None:
    rows, pairs = data()
    limited, free = together(rows, pairs, stop=LIMITED.stop), together(rows, pairs)
    assert list(limited) == list(free) == list(range(10))
    for number, solution in free.items():
        assert limited[number].status is Status.SOLVED
        np.testing.assert_array_equal(limited[number].dual_coef, solution.dual_coef)
        assert limited[number].certificate.gap == solution.certificate.gap


def test_pairs_that_a_part_of_the_time_is_not_enough_for_are_left_to_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, pairs = data()
    monkeypatch.setattr(module, "_SOLVING", 0.0)
    assert together(rows, pairs, stop=LIMITED.stop) == {}
    warm = [None] * len(pairs)
    solutions = solve_one_vs_one(rows, pairs, OBJECTIVE, warm, LIMITED, StopFlag())
    assert [solution.status for solution in solutions] == [Status.SOLVED] * 10


def test_what_is_solved_when_the_time_is_over_is_kept_without_a_proof(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, pairs = data()
    free = together(rows, pairs)
    monkeypatch.setattr(
        module, "Deadlines", lambda *_: pair_batch.Deadlines(judging=-math.inf)
    )  # which is over as soon as pairs are solved
    limited = together(rows, pairs, stop=LIMITED.stop)
    assert list(limited) == list(range(10))
    for number, solution in limited.items():
        assert solution.status is Status.TIME_LIMIT
        assert solution.certificate.notes == (
            "the time limit came before the first certificate: nothing is proven",
        )
        assert not solution.trace.records
        np.testing.assert_array_equal(solution.dual_coef, free[number].dual_coef)


def test_two_classes_share_nothing() -> None:
    rows, _ = data()
    pairs = ClassPairs(Labels(np.arange(2), np.arange(600) % 2))
    assert together(rows, pairs) == {}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_native_code_does_not_finish_is_solved_by_others(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, pairs = data()
    plain = SVC(C=3.0, gamma=0.4).fit(rows.matrix, pairs.labels.codes)
    monkeypatch.setattr(class_pairs, "WORK_A_ROUND", 1)
    assert together(rows, pairs, threads=n_jobs) == {}
    model = SVC(C=3.0, gamma=0.4, n_jobs=n_jobs).fit(rows.matrix, pairs.labels.codes)
    for solution, other in zip(model.solutions_, plain.solutions_, strict=True):
        assert solution.status is Status.SOLVED
        np.testing.assert_array_equal(solution.dual_coef, other.dual_coef)


def test_what_the_judge_refuses_is_solved_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, pairs = data()
    judge = pair_batch.pair_gaps

    def strict(*given: Any, **options: Any) -> Any:
        found = judge(*given, **options)
        found[3] = replace(found[3], kkt=1.0)
        return found

    monkeypatch.setattr(pair_batch, "pair_gaps", strict)
    assert sorted(together(rows, pairs)) == [0, 1, 2, 4, 5, 6, 7, 8, 9]
    model = SVC(C=3.0, gamma=0.4).fit(rows.matrix, pairs.labels.codes)
    assert {solution.status for solution in model.solutions_} == {Status.SOLVED}
    assert model.solutions_[3].certificate.kkt <= 1e-3


def test_much_support_is_judged_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, pairs = data()
    expected = together(rows, pairs)
    monkeypatch.setattr(pair_memory, "_SUPPORT_BYTES", 1000)
    for number, solution in together(rows, pairs).items():
        assert solution.certificate.gap == pytest.approx(expected[number].certificate.gap, rel=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_judging", [False, True])
def test_a_fit_that_is_stopped_keeps_what_is_solved(
    is_judging: bool, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, pairs = data()
    flag = StopFlag()
    solved = class_pairs.PairEnd

    def pressed_while_solving(*given: Any) -> Any:
        flag.set()
        return solved(*given)

    def pressed_while_judging(*_: Any, check: Any, **__: Any) -> None:
        flag.set()
        check()

    if is_judging:
        monkeypatch.setattr(pair_batch, "pair_gaps", pressed_while_judging)
    else:
        monkeypatch.setattr(class_pairs, "PairEnd", pressed_while_solving)
    found = together(rows, pairs, flag=flag, threads=threads)
    assert len(found) == 10 if is_judging else 1 <= len(found) <= threads
    for solution in found.values():
        assert solution.status is Status.INTERRUPTED
        assert solution.certificate.gap == np.inf
        assert "nothing is proven" in solution.certificate.notes[0]
        assert np.count_nonzero(solution.dual_coef) > 0


def test_batches_are_blocks_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.repeat(np.arange(40), 10)
    pairs = ClassPairs(Labels(np.arange(40), codes))
    assert [len(batch) for batch in batches(pairs)] == [780]
    found = batches(pairs, 2500)
    assert sorted(number for batch in found for number in batch) == list(range(780))
    assert max(sum(pairs.size(number) for number in batch) for batch in found) <= 2500
    classes = [{which for number in batch for which in pairs.pairs[number]} for batch in found]
    assert max(map(len, classes)) <= 20
    monkeypatch.setattr(module, "MOST_ROWS", 19)
    assert batches(pairs) == []


def test_batches_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, pairs = data()
    whole = together(rows, pairs)
    monkeypatch.setattr(pair_memory, "ROWS_TOGETHER", 1500)
    parts = together(rows, pairs)
    assert 3 < len(parts) < 10  # pairs that are alone are left to others
    for number, solution in parts.items():
        np.testing.assert_array_equal(solution.dual_coef, whole[number].dual_coef)
        problem = pairs.problem(pairs.shared(rows, OBJECTIVE.kernel), OBJECTIVE, number)
        alone = gap(problem, solution.point)
        assert solution.certificate.primal == pytest.approx(alone.primal, rel=1e-12)
