"""Where the optimum lies, and labels that no further training can change."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.certificates.random_problems import (
    balanced,
    best_intercept,
    random_point,
    random_problem,
    scores_of,
    weights_of,
)
from tests.measured_memory import needs_true_memory

import hinge
from hinge import Point, Problem
from hinge.certificates import gap
from hinge.certificates.settled import optimum_region
from hinge.losses import intercept, optimal_intercepts
from hinge.testing import known_optimum, reference_solution

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]


def _raw(problem: Problem) -> np.ndarray:
    blocks = [block.matrix for block in problem.rows.blocks()]
    return np.concatenate([m.toarray() if sp.issparse(m) else np.array(m) for m in blocks])


def _near(known, size: float, rng: np.random.Generator) -> Point:
    """Return a point near a known optimum, its dual part feasible."""
    problem = known.problem
    top = problem.loss.upper_bound(problem.costs)
    noise = size * rng.normal(size=problem.n_rows) * problem.costs
    alpha = np.clip(known.point.dual_coef + noise, 0.0, top)
    if problem.intercept.value == "free":
        alpha = balanced(problem, alpha)
    coef = weights_of(problem, alpha)
    return Point(coef, best_intercept(problem, coef, alpha), alpha)


def _optimal_scores(known) -> list[np.ndarray]:
    """Return the decision values of the optimum, for both ends of what b* may be."""
    problem = known.problem
    scores = scores_of(problem, known.point.coef)
    intercepts = [known.point.intercept]
    if problem.intercept.value == "free":
        signs = problem.signs.astype(float)
        intercepts += optimal_intercepts(problem.loss, scores, signs, problem.costs)
    return [scores + intercept for intercept in intercepts]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_bounds_hold_every_optimum(loss: str, intercept: str, sparse: bool, seed) -> None:
    rng = np.random.default_rng(seed)
    settled = []
    for case in range(10):
        known = known_optimum(loss, intercept, sparse=sparse, weighted=True, seed=seed + case)
        X = _raw(known.problem)
        for size in (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0):
            certificate = gap(known.problem, _near(known, size, rng))
            lower, upper = certificate.decision_bounds(X)
            for values in _optimal_scores(known):
                assert (lower <= values).all()
                assert (values <= upper).all()
                sure = certificate.settled(X)
                assert (np.sign(values[sure]) == np.sign(lower[sure])).all()
            assert certificate.unsettled(X) == np.count_nonzero(~certificate.settled(X))
            if size <= 1e-9:
                settled.append(np.mean(certificate.settled(X)))
    assert np.mean(settled) > 0.4


def test_two_certificates_of_one_problem_never_contradict_each_other(seed: int) -> None:
    """Both intervals hold the same optimum, so they overlap: no tolerance, on any problem."""
    rng = np.random.default_rng(seed)
    settled_by_loose = 0
    for _ in range(400):
        problem = random_problem(rng)
        best = reference_solution(problem)
        if problem.intercept.value == "free":
            alpha = balanced(problem, best.dual_coef)
            coef = weights_of(problem, alpha)
            best = Point(coef, best_intercept(problem, coef, alpha), alpha)
        queries = np.vstack([_raw(problem), rng.normal(size=(5, problem.n_features))])
        tight = gap(problem, best)
        loose = gap(problem, random_point(problem, rng))
        bounds = [certificate.decision_bounds(queries) for certificate in (tight, loose)]
        assert (bounds[0][0] <= bounds[1][1]).all()
        assert (bounds[1][0] <= bounds[0][1]).all()
        both = tight.settled(queries) & loose.settled(queries)
        assert ((bounds[0][0] > 0) == (bounds[1][0] > 0))[both].all()
        settled_by_loose += int(loose.settled(queries).sum())
    assert settled_by_loose > 400


def test_where_the_intercept_is_an_interval_some_labels_never_settle() -> None:
    X = np.asarray([[0.0], [4.0], [-4.0], [0.0]])
    problem = Problem(X, [1, 1, 0, 0], C=1e-3)
    # w* = 8e-3; every b within +-0.968 is optimal.
    point = Point(np.asarray([8e-3]), 0.5, np.full(4, 1e-3))
    certificate = gap(problem, point)
    assert certificate.relative_gap < 1e-12
    lower, upper = certificate.decision_bounds(X)
    assert (lower <= 8e-3 * X[:, 0] - 0.968).all()
    assert (upper >= 8e-3 * X[:, 0] + 0.968).all()
    assert (upper - lower <= 2 * 0.968 + 1e-6).all()
    assert certificate.unsettled(X) == 4
    # Far enough out even the whole interval leaves the sign alone.
    assert certificate.settled([[1000.0], [-1000.0]]).all()


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_a_smaller_gap_settles_more(intercept: str) -> None:
    rng = np.random.default_rng(0)
    known = known_optimum("hinge", intercept, n_pairs=40)
    X = rng.normal(size=(500, known.problem.n_features)) * 4
    counts = [
        gap(known.problem, _near(known, size, np.random.default_rng(1))).unsettled(X)
        for size in (1e-1, 1e-3, 1e-6, 0.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_form_of_rows_is_taken(dtype: type) -> None:
    known = known_optimum()
    certificate = gap(known.problem, known.point)
    X = _raw(known.problem).astype(dtype)
    wanted = certificate.settled(X)
    assert wanted.any()
    for form in (np.asfortranarray(X), X.tolist(), sp.csr_array(X), sp.csc_array(X)):
        np.testing.assert_array_equal(certificate.settled(form), wanted)
    np.testing.assert_array_equal(certificate.settled(known.problem.rows), wanted)


def test_rows_of_another_width_are_refused() -> None:
    known = known_optimum()
    certificate = gap(known.problem, known.point)
    with pytest.raises(hinge.InvalidDataError, match="3 features; the certificate is for 7"):
        certificate.settled(np.zeros((2, 3)))


def test_a_certificate_without_a_region_settles_nothing() -> None:
    known = known_optimum()
    certificate = gap(known.problem, known.point, region=False)
    X = np.eye(known.problem.n_features)
    lower, upper = certificate.decision_bounds(X)
    assert (lower == -np.inf).all()
    assert (upper == np.inf).all()
    assert certificate.unsettled(X) == len(X)
    assert certificate.unsettled(sp.csr_array(X)) == len(X)


@pytest.mark.parametrize("scale", [1e-200, 1e-165, 1e-160])
def test_rows_whose_norm_underflows_are_not_settled_for_that(scale: float) -> None:
    X = np.asarray([[1.0], [-1.0], [2.0], [-0.5]])
    problem = Problem(X, [1, 0, 1, 1], intercept="none")
    # A useless dual point: the optimum may lie on either side of zero.
    certificate = gap(problem, Point(np.asarray([0.1]), 0.0, np.zeros(4)))
    assert not certificate.settled([[1.0]]).any()
    assert not certificate.settled([[scale]]).any()


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_data_far_from_the_origin(offset: float) -> None:
    """Distances from the mean are found by subtraction; what that loses must be added back."""
    rng = np.random.default_rng(0)
    centred = np.round(rng.normal(size=(40, 3)) * 1024) / 1024  # so that the shift is exact
    X, y = centred + offset, (centred[:, 0] > 0).astype(int)
    best = reference_solution(Problem(centred, y, C=0.1))
    certificates = []
    for rows in (X, centred):
        problem = Problem(rows, y, C=0.1)
        alpha = balanced(problem, best.dual_coef)
        coef = weights_of(problem, alpha)
        point = Point(coef, best_intercept(problem, coef, alpha), alpha)
        certificates.append(gap(problem, point))
    # A free intercept takes up the shift: both problems have the same optimal decision values.
    far, near = certificates[0].decision_bounds(X), certificates[1].decision_bounds(centred)
    assert (far[0] <= near[1]).all()
    assert (near[0] <= far[1]).all()
    assert certificates[1].settled(centred).mean() > 0.9


def test_the_label_of_a_certified_point_is_inside_its_own_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(100):
        problem = random_problem(rng)
        if problem.intercept.value == "free":
            continue  # there the point's own intercept may lie outside the interval of b*
        point = random_point(problem, rng)
        point = replace(point, coef=weights_of(problem, point.dual_coef))
        if problem.intercept.value == "augmented":
            point = replace(point, intercept=best_intercept(problem, point.coef, point.dual_coef))
        lower, upper = gap(problem, point).decision_bounds(problem.rows)
        values = scores_of(problem, point.coef) + point.intercept
        assert (lower <= values).all()
        assert (values <= upper).all()


class Countdown:
    """A check that raises when it is called for the last time of so many."""

    def __init__(self, calls: float) -> None:
        self.calls = 0
        self.last = calls

    def __call__(self) -> None:
        self.calls += 1
        if self.calls == self.last:
            raise TimeoutError


def test_the_search_for_a_free_intercept_can_be_abandoned_at_every_block() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200_000, 2))
    problem = Problem(X, X[:, 0] + rng.normal(size=len(X)) > 0.0)
    point = Point(np.asarray([1.0, 0.0]))
    unhurried = Countdown(np.inf)
    optimum_region(problem, (point, point), (1.0, 0.0), check=unhurried)
    assert unhurried.calls >= 10 * intercept._BLOCKS  # ten passes of that many blocks
    for calls in (1, 5, 20, unhurried.calls // 2, unhurried.calls):
        with pytest.raises(TimeoutError):
            optimum_region(problem, (point, point), (1.0, 0.0), check=Countdown(calls))


@needs_true_memory
@pytest.mark.parametrize("loss", LOSSES)
def test_the_region_of_a_free_intercept_takes_little_memory(loss: str) -> None:
    rng = np.random.default_rng(0)
    n = 400_000
    X = rng.normal(size=(n, 10))
    problem = Problem(X, X[:, 0] + rng.normal(size=n) > 0.0, loss=loss, C=0.01)
    point = Point(np.eye(10)[0], 0.0, np.zeros(n))
    problem.rows.squared_norms  # noqa: B018 - kept with the rows, not counted here
    tracemalloc.start()
    try:
        certificate = gap(problem, point)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert certificate.region is not None
    assert peak <= 28 * n
