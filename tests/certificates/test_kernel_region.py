"""Where the optimum of a kernel machine lies, and labels that no further training can change."""

from __future__ import annotations

import gc
import pickle
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from tests.certificates.kernel_problems import (
    near_point,
    plain_scores,
    random_kernel_point,
    random_kernel_problem,
    solved,
)

from hinge import SVC, Point, Problem
from hinge.certificates import gap, kernel_region
from hinge.kernels import RBF, Laplacian, Linear, Normalised, Polynomial, Precomputed
from hinge.losses import optimal_intercepts
from hinge.testing import known_optimum, reference_solution

LOSSES = ["hinge", "squared_hinge", "huber"]


def _optimal_scores(known) -> list[np.ndarray]:
    """Return the decision values of the optimum, for both ends of what b* may be."""
    problem = known.problem
    scores = plain_scores(problem, known.point.dual_coef)
    intercepts = [known.point.intercept]
    if problem.intercept.value == "free":
        signs = problem.signs.astype(float)
        intercepts += optimal_intercepts(problem.loss, scores, signs, problem.costs)
    return [scores + intercept for intercept in intercepts]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["free", "none"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_bounds_hold_every_optimum(loss: str, intercept: str, sparse: bool, seed) -> None:
    rng = np.random.default_rng(seed)
    settled = []
    for case in range(6):
        known = known_optimum(
            loss, intercept, sparse=sparse, weighted=True, seed=seed + case, kernel="linear"
        )
        for size in (0.0, 1e-9, 1e-6, 1e-3, 1.0):
            point = near_point(known.problem, known.point, size, rng)
            certificate = gap(known.problem, point)
            lower, upper = certificate.decision_bounds(known.problem.rows)
            for values in _optimal_scores(known):
                assert (lower <= values).all()
                assert (values <= upper).all()
            if size <= 1e-9:
                settled.append(np.mean(certificate.settled(known.problem.rows)))
    assert np.mean(settled) > 0.4


def test_two_certificates_of_one_problem_never_contradict_each_other(seed: int) -> None:
    """Both intervals hold the same optimum, so they overlap: no tolerance, on any problem."""
    rng = np.random.default_rng(seed)
    settled_by_loose, judged = 0, 0
    while judged < 150:
        problem = random_kernel_problem(rng)
        if problem.kernel.name == "precomputed":
            continue
        judged += 1
        best = near_point(problem, solved(problem), 0.0, rng)
        extra = np.abs(rng.normal(size=(5, problem.n_features)))
        tight, loose = gap(problem, best), gap(problem, random_kernel_point(problem, rng))
        for queries in (problem.rows, extra, sp.csr_array(extra)):
            bounds = [certificate.decision_bounds(queries) for certificate in (tight, loose)]
            assert (bounds[0][0] <= bounds[1][1]).all()
            assert (bounds[1][0] <= bounds[0][1]).all()
            settled_by_loose += int(loose.settled(queries).sum())
    assert settled_by_loose > 150


@pytest.mark.parametrize(
    "kernel",
    [RBF(0.05), Polynomial(2, 0.5, 1.0), Laplacian(0.05), Normalised(Linear())],
    ids=repr,
)
def test_a_smaller_gap_settles_more(kernel) -> None:
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(120, 3)))
    problem = Problem(X, X[:, 0] > X[:, 1], C=10.0, kernel=kernel)
    best = reference_solution(problem)
    queries = np.abs(rng.normal(size=(300, 3)))
    counts = [
        gap(problem, near_point(problem, best, size, np.random.default_rng(1))).unsettled(queries)
        for size in (1e-1, 1e-3, 0.0)
    ]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]
    assert counts[-1] < 150


def test_an_optimum_has_the_radius_of_its_gap() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    problem = Problem(X, X[:, 0] > 0, C=5.0, kernel=RBF(0.3), intercept="none")
    certificate = gap(problem, reference_solution(problem))
    lower, upper = certificate.decision_bounds(X)
    width = 2.0 * np.sqrt(certificate.gap)
    np.testing.assert_allclose(upper - lower, width, rtol=1e-3)


def test_a_centre_makes_the_interval_of_the_intercept_narrow() -> None:
    """Images of a wide kernel are all alike: measured from their mean they are short."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    problem = Problem(X, X[:, 0] + 0.3 * rng.normal(size=100) > 0, C=10.0, kernel=RBF(0.01))
    point = near_point(problem, reference_solution(problem), 1e-3, rng)
    certificate = gap(problem, point)
    low, high = certificate.region.offsets
    # From the zero vector the scores alone would be this wide.
    assert high - low < 0.5 * 2.0 * certificate.region.radius


def test_where_the_intercept_is_an_interval_some_labels_never_settle() -> None:
    X = np.asarray([[0.0], [4.0], [-4.0], [0.0]])
    problem = Problem(X, [1, 1, 0, 0], C=1e-3, kernel="linear")
    certificate = gap(problem, Point(np.zeros(0), 0.5, np.full(4, 1e-3)))
    assert certificate.relative_gap < 1e-12
    lower, upper = certificate.decision_bounds(X)
    assert (lower <= 8e-3 * X[:, 0] - 0.968).all()
    assert (upper >= 8e-3 * X[:, 0] + 0.968).all()
    assert certificate.unsettled(X) == 4
    assert certificate.settled([[1000.0], [-1000.0]]).all()


def test_a_precomputed_kernel_settles_nothing() -> None:
    known = known_optimum(kernel="precomputed")
    certificate = gap(known.problem, known.point)
    assert certificate.region is None
    assert not certificate.settled(known.problem.rows).any()
    assert isinstance(known.problem.kernel, Precomputed)


def test_the_interval_of_few_rows_is_found_when_it_is_asked_for(monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    problem = Problem(X, X[:, 0] + 0.3 * rng.normal(size=100) > 0, C=10.0, kernel=RBF(0.1))
    point = reference_solution(problem)
    found: list[tuple[float, float]] = []
    find = kernel_region.intercept_interval

    def noted(*given: object) -> tuple[float, float]:
        found.append(find(*given))
        return found[-1]

    monkeypatch.setattr(kernel_region, "intercept_interval", noted)
    region = gap(problem, point).region
    trimmed = region.without_data()
    stored = (trimmed.rows.n_rows, len(trimmed.support))
    assert stored == (len(region.support), len(region.support))
    assert found == []
    assert region.offsets == trimmed.offsets == region.offsets
    assert found == [region.offsets]  # once, for both
    assert pickle.loads(pickle.dumps(gap(problem, point).region)).offsets == region.offsets
    assert len(found) == 2
    monkeypatch.setattr(kernel_region, "FEW_ROWS", 99)
    at_once = gap(problem, point).region
    assert found[2:] == [at_once.offsets]
    assert (at_once.offsets, at_once.origin) == (region.offsets, region.origin)
    for one, two in zip(region.decision_bounds(X), trimmed.decision_bounds(X), strict=True):
        np.testing.assert_array_equal(one, two)
    assert len(found) == 3


def test_a_pickle_of_an_earlier_version_has_its_interval() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    region = SVC().fit(X, X[:, 0] > 0).certificate_.region
    state = region.__getstate__()
    frame = state.pop("measured")
    state |= {"origin": frame.origin, "offsets": frame.offsets}
    older = object.__new__(type(region))
    older.__setstate__(state)
    assert (older.offsets, older.origin) == (region.offsets, region.origin)
    assert older.offsets != (0.0, 0.0)


@pytest.mark.parametrize(("n_classes", "is_later"), [(2, True), (4, False)])
def test_many_machines_keep_no_scores(n_classes: int, is_later: bool) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40 * n_classes, 3))
    y = np.arange(len(X)) % n_classes
    # A callback has pairs of classes solved one by one.
    model = SVC(callback=lambda _: None).fit(X + 2.0 * y[:, None], y)
    frames = [certificate.region.measured for certificate in model.certificates_]
    assert len(frames) == n_classes * (n_classes - 1) // 2
    assert all((frame._find is not None) == is_later for frame in frames)


def test_a_region_of_few_rows_holds_on_to_no_data() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = SVC(C=10.0).fit(X, X[:, 0] > 0)
    region = model.certificate_.region
    assert isinstance(region.measured, kernel_region.LaterFrame)
    held, arrays = [region.measured], []
    seen: set[int] = set()
    while held:
        for thing in gc.get_referents(held.pop()):
            is_plain = not isinstance(thing, (type, ModuleType, dict)) or type(thing) is dict
            if id(thing) not in seen and is_plain and not _is_module_state(thing):
                seen.add(id(thing))
                held.append(thing)
                arrays.append(thing)
    shapes = {thing.shape for thing in arrays if isinstance(thing, np.ndarray)}
    assert (300,) in shapes
    assert X.shape not in shapes


def _is_module_state(thing: object) -> bool:
    return isinstance(thing, dict) and "__name__" in thing
