"""Probabilities: calibrated on rows not trained on, monotone, reproducible, as good as LIBSVM's."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import log_loss
from sklearn.utils.fixes import parse_version
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import SVC, Problem, Stop, solve
from hinge.estimators import _calibration
from hinge.estimators._calibration import held_out_parts
from hinge.estimators._sigmoid import Scored, coupled, fit_sigmoid, fit_sigmoids
from hinge.multiclass import together
from hinge.solvers.kernel.held_out import held_out_scores

pytestmark = pytest.mark.filterwarnings("ignore:.*probability.*deprecated:FutureWarning")


def digits() -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:900] / 16.0, y[:900]


@pytest.mark.parametrize("data", [two_classes, cancer, three_classes, digits])
def test_they_are_as_good_as_those_of_scikit_learn(data: Any) -> None:
    X, y = data()
    train = np.arange(len(y)) % 3 != 0
    ours = SVC(probability=True).fit(X[train], y[train])
    theirs = svm.SVC(probability=True, random_state=0).fit(X[train], y[train])
    probabilities = ours.predict_proba(X[~train])
    assert probabilities.shape == (np.count_nonzero(~train), len(ours.classes_))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(ours.predict_log_proba(X[~train]), np.log(probabilities))
    mine, other = (log_loss(y[~train], m.predict_proba(X[~train])) for m in (ours, theirs))
    assert mine <= 1.15 * other + 0.01
    signs = np.sign(theirs._probA)
    np.testing.assert_array_equal(np.sign(ours.probA_), signs)


@pytest.mark.parametrize("data", [two_classes, cancer])
def test_they_rise_with_the_decision_value(data: Any) -> None:
    X, y = data()
    model = SVC(probability=True).fit(X, y)
    order = np.argsort(model.decision_function(X))
    assert np.all(np.diff(model.predict_proba(X)[order, 1]) >= 0.0)


def test_they_never_fall_even_if_scores_mislead() -> None:
    scores = np.linspace(-1, 1, 40)
    found = fit_sigmoid(scores, scores < 0, np.ones(40))
    assert found.slope == 0.0
    np.testing.assert_allclose(found(scores), 0.5)


def test_the_seed_alone_decides() -> None:
    X, y = two_classes()
    first = SVC(probability=True, random_state=3).fit(X, y)
    again = SVC(probability=True, random_state=3, n_jobs=2).fit(X, y)
    other = SVC(probability=True, random_state=4).fit(X, y)
    assert first.probA_ == again.probA_
    assert first.probB_ == again.probB_
    assert first.probA_ != other.probA_
    np.testing.assert_array_equal(first.dual_coef_, other.dual_coef_)


@pytest.mark.filterwarnings("default")
def test_the_deprecation_is_told_where_scikit_learn_tells_it() -> None:
    X, y = three_classes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVC(probability=True).fit(X, y)
        SVC().fit(X, y)
        SVC(probability="deprecated").fit(X, y)
    told = [w for w in caught if w.category is FutureWarning]
    expected = parse_version(sklearn.__version__) >= parse_version("1.9")
    assert len(told) == expected
    assert all(w.filename == __file__ for w in told)
    model = SVC(probability=True)
    assert not hasattr(clone(model).set_params(probability="deprecated"), "predict_proba")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pairs_of_classes_are_solved_together_and_then_calibrated(n_jobs: int) -> None:
    X, y = three_classes()
    plain = SVC().fit(X, y)
    model = SVC(probability=True, n_jobs=n_jobs).fit(X, y)
    regions = [solution.certificate.region for solution in model.solutions_]
    assert len({id(region.rows) for region in regions}) == 1  # as of pairs that are judged at once
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    again = SVC(probability=True).fit(X, y)
    np.testing.assert_array_equal(model.probA_, again.probA_)
    np.testing.assert_array_equal(model.probB_, again.probB_)


def test_pairs_that_are_solved_alone_keep_their_own_sigmoids(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], [30, 30, 30, 80])
    X = rng.normal(size=(len(y), 2)) + 1.5 * np.array([[0, 0], [2, 0], [0, 2], [2, 2]])[y]
    monkeypatch.setattr(together, "MOST_ROWS", 70)  # pairs of the last class are larger
    mixed = SVC(probability=True).fit(X, y)
    monkeypatch.setattr(together, "MOST_ROWS", 0)
    alone = SVC(probability=True).fit(X, y)
    assert mixed.probA_.shape == mixed.probB_.shape == (6,)
    of_last = [2, 4, 5]
    np.testing.assert_array_equal(mixed.probA_[of_last], alone.probA_[of_last])
    # The others are calibrated on the same rows, by machines that stop at another place.
    np.testing.assert_allclose(mixed.predict_proba(X), alone.predict_proba(X), atol=0.1)


def test_sigmoids_of_several_machines_are_those_of_each() -> None:
    random = np.random.default_rng(2)
    machines = []
    for count in (2, 7, 300):
        scores = random.normal(size=count) * 10.0
        positive = scores + 5.0 * random.normal(size=count) > 0.0
        machines.append(Scored(scores, positive, random.uniform(0.5, 2.0, size=count)))
    machines.append(Scored(np.linspace(-1, 1, 40), np.arange(40) < 20, np.ones(40)))
    machines.append(Scored(np.zeros(3), np.array([True, False, False]), np.ones(3)))
    together = fit_sigmoids(machines)
    for found, machine in zip(together, machines, strict=True):
        assert found == fit_sigmoids([machine])[0]
    assert together[3].slope == 0.0
    assert together[4](np.zeros(1))[0] == pytest.approx((2 / 3 + 1 / 4 + 1 / 4) / 3)


def test_a_class_of_one_row_is_calibrated_all_the_same() -> None:
    X, y = two_classes()
    y = np.where(np.arange(len(y)) == 5, 2, y)
    probabilities = SVC(probability=True).fit(X, y).predict_proba(X)
    assert np.isfinite(probabilities).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_machines_that_have_not_seen_the_rows(weighted: bool) -> None:
    X, y = two_classes(n=120)
    weights = np.ones(len(y))
    if weighted:
        weights[::5] = 0.0
    problem = Problem(X, y, kernel="rbf", sample_weight=weights)
    solution = solve(problem, stop=Stop(gap=None, kkt=1e-5))
    folds = held_out_parts(problem, np.random.default_rng(0))
    found = held_out_scores((problem, solution.point, solution.state), folds, 1e-5, 10**12)
    cold = held_out_scores((problem, solution.point, None), folds, 1e-5, 10**12)
    assert np.all(np.bincount(np.concatenate(folds), minlength=len(y)) == (weights > 0))
    for rows, scores, others in zip(folds, found, cold, strict=True):
        left = weights.copy()
        left[rows] = 0.0
        without = Problem(X, y, kernel=problem.kernel, sample_weight=left)
        exact = solve(without, stop=Stop(gap=None, kkt=1e-5))
        assert exact.dual_coef is not None
        pulls = without.signs * exact.dual_coef
        wanted = problem.kernel.block(X[rows], X) @ pulls + exact.intercept
        np.testing.assert_allclose(scores, wanted, atol=1e-3)
        np.testing.assert_allclose(others, wanted, atol=1e-3)


def test_machines_without_some_rows_are_no_better_than_they_need_to_be() -> None:
    X, y = two_classes(n=300)
    problem = Problem(X, y, kernel="rbf", C=10.0)
    solution = solve(problem, stop=Stop(gap=None, kkt=1e-5))
    folds = held_out_parts(problem, np.random.default_rng(0))
    fitted = (problem, solution.point, solution.state)
    loose, tight = (held_out_scores(fitted, folds, v, 10**12) for v in (0.5, 1e-5))
    for some, exact in zip(loose, tight, strict=True):
        assert some is not None
        assert exact is not None
        difference = np.max(np.abs(some - exact))
        assert 1e-3 < difference < 0.5


def test_without_time_there_are_no_scores_of_other_machines() -> None:
    X, y = two_classes(n=300)
    problem = Problem(X, y, kernel="rbf", C=10.0)
    solution = solve(problem, stop=Stop(gap=None, kkt=1e-5))
    folds = held_out_parts(problem, np.random.default_rng(0))
    fitted = (problem, solution.point, solution.state)
    assert held_out_scores(fitted, folds, 1e-5, 10**12, is_late=lambda: True) == [None] * 3
    looks = iter([False, False, *[True] * 10])
    some = held_out_scores(fitted, folds, 1e-5, 10**12, is_late=lambda: next(looks))
    assert [part is None for part in some] == [False, True, True]


class _Clock:
    """The time of a calibration, which is over after the fit."""

    def perf_counter(self) -> float:
        return math.inf


@pytest.mark.parametrize("data", [two_classes, three_classes, digits])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_time_limit_is_for_the_calibration_as_well(
    data: Any, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data()
    if kernel == "precomputed":
        X = X @ X.T
    train, test = np.arange(len(y)) % 3 != 0, np.arange(len(y)) % 3 == 0
    A, B = (
        (X[train][:, train], X[test][:, train]) if kernel == "precomputed" else (X[train], X[test])
    )
    calm = SVC(probability=True, kernel=kernel, time_limit=1000.0).fit(A, y[train])
    monkeypatch.setattr(_calibration, "time", _Clock())
    pairs = len(calm.intercept_)
    whose = "" if pairs == 1 else f" of {pairs} of {pairs} pairs of classes"
    message = rf"no time left within time_limit=1000.0 to calibrate the probabilities{whose} on"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        late = SVC(probability=True, kernel=kernel, time_limit=1000.0).fit(A, y[train])
    assert [w.filename for w in caught if w.category is ConvergenceWarning] == [__file__]
    np.testing.assert_array_equal(late.dual_coef_, calm.dual_coef_)
    assert np.any(late.probA_ != calm.probA_)
    mine, other = (log_loss(y[test], m.predict_proba(B)) for m in (late, calm))
    assert mine <= 1.5 * other + 0.05


def test_no_limit_leaves_time_for_all() -> None:
    X, y = three_classes()
    free = SVC(probability=True).fit(X, y)
    limited = SVC(probability=True, time_limit=1000.0).fit(X, y)
    np.testing.assert_array_equal(free.probA_, limited.probA_)


def test_of_many_rows_some_are_held_out() -> None:
    random = np.random.default_rng(0)
    X, y = random.normal(size=(9000, 2)), np.arange(9000) % 10 == 0
    folds = held_out_parts(Problem(X, y), random)
    rows = np.concatenate(folds)
    assert len(rows) == len(np.unique(rows)) == 4000
    assert all(np.mean(y[fold]) == pytest.approx(0.1, abs=0.01) for fold in folds)


def test_the_sigmoid_is_the_most_likely_one() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=200) * 1e3
    positive = scores / 1e3 + random.normal(size=200) > 0.3
    weights = random.uniform(0.5, 2.0, size=200)
    pros, cons = weights[positive].sum(), weights[~positive].sum()
    targets = np.where(positive, (pros + 1) / (pros + 2), 1 / (cons + 2))

    def cost(point: Any) -> float:
        z = point[0] * scores / 1e3 + point[1]
        return float(weights @ (targets * z + np.logaddexp(0, -z)))

    best = minimize(cost, [0.0, 0.0], method="BFGS", options={"gtol": 1e-8})
    found = fit_sigmoid(scores, positive, weights)
    np.testing.assert_allclose([found.slope * 1e3, found.offset], best.x, rtol=1e-4)


@given(st.integers(3, 6), st.integers(0, 10**6))
def test_coupled_probabilities_minimise_what_they_should(k: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    pairwise = random.uniform(0.001, 0.999, size=(3, k * (k - 1) // 2))
    found = coupled(pairwise, k)
    assert np.all(found >= 0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    first, second = np.triu_indices(k, 1)

    def cost(p: Any, r: Any) -> float:
        return float(np.sum(np.square((1 - r) * p[first] - r * p[second])))

    for p, r in zip(found, pairwise, strict=True):
        for _ in range(20):
            other = random.dirichlet(np.ones(k))
            assert cost(p, r) <= cost(0.9 * p + 0.1 * other, r) + 1e-12


def test_coupling_of_true_ratios_gives_them_back() -> None:
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])
    pairwise = np.column_stack([p[:, i] / (p[:, i] + p[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    np.testing.assert_allclose(coupled(pairwise, 3), p)
