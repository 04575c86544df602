"""Certificates of pairs of classes at once: what each of them would be alone, and the truth."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Point, Problem, Stop, solve
from hinge.certificates import gap, pair_blocks, pair_gap, pair_scores, pair_tasks
from hinge.certificates.kernel_panels import ProductPanels
from hinge.certificates.pair_gap import pair_gaps
from hinge.certificates.pair_groups import PairPoints
from hinge.kernels import RBF, InnerProductKernel, Linear, Polynomial, Sigmoid
from hinge.losses import get_loss
from hinge.rows import Rows
from hinge.testing import extended_kernel, verify_certificate

EXTENDED = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)


class Case:
    """Four groups of rows in some pairs, with points near the optima."""

    def __init__(
        self,
        kernel: InnerProductKernel,
        loss: str = "hinge",
        form: Any = np.asarray,
        n: int = 120,
        kkt: float = 1e-3,
    ) -> None:
        rng = np.random.default_rng(5)
        codes = rng.permutation(np.arange(n) % 4)
        values = np.round(rng.normal(size=(n, 3)) + codes[:, None] % 3, 3)
        X = form(values)
        rows = Rows(X)
        kernel = kernel.resolved(rows)
        groups = [np.flatnonzero(codes == k) for k in range(4)]
        costs = [2.0 * (1.0 + rng.random(len(ids))) for ids in groups]
        pairs = [(0, 1), (0, 2), (3, 0), (1, 2), (3, 1)]
        self.problems, alpha, intercept = [], [], []
        for first, second in pairs:
            ids = np.concatenate((groups[first], groups[second]))
            y = np.repeat([False, True], [len(groups[first]), len(groups[second])])
            weights = np.concatenate((costs[first], costs[second]))
            problem = Problem(X[ids], y, loss, sample_weight=weights, kernel=kernel)
            point = solve(problem, stop=Stop(gap=None, kkt=kkt)).point
            cut = len(groups[first])
            self.problems.append(problem)
            alpha.append((point.dual_coef[:cut], point.dual_coef[cut:]))
            intercept.append(point.intercept)
        given = get_loss(loss), rows, groups, costs, pairs, alpha, np.asarray(intercept)
        self.points = PairPoints(kernel, *given)
        self.new = values[::3] + 0.1

    def alone(self) -> list[tuple[Problem, Point]]:
        """Return every problem with its point."""
        points = [
            Point(np.zeros(0), b, np.concatenate(alpha))
            for alpha, b in zip(self.points.alpha, self.points.intercept, strict=True)
        ]
        return list(zip(self.problems, points, strict=True))


WAYS = ["at once", "in float64", "in float32 first"]
KERNELS = [RBF(0.5), Linear(), Polynomial(2, 0.5, 1.0)]
FORMS = [np.asarray, np.float32, sp.csr_array]


def _go(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have scores computed in one of the ways, two of which are for more rows than there are."""
    if way != "at once":
        monkeypatch.setattr(pair_scores, "_AT_ONCE", 0)
    if way == "in float32 first":
        monkeypatch.setattr(pair_scores, "_FEW_VALUES", 0)


@EXTENDED
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_they_are_true_and_what_each_is_alone(
    kernel: InnerProductKernel, loss: str, form: Any, way: str, monkeypatch: Any
) -> None:
    _go(way, monkeypatch)
    case = Case(kernel, loss, form)
    found = pair_gaps(case.points)
    for (problem, point), certificate in zip(case.alone(), found, strict=True):
        verify_certificate(problem, point, certificate)
        alone = gap(problem, point)
        scale = alone.rounding + 1e-12 * abs(alone.primal)
        assert certificate.primal == pytest.approx(alone.primal, abs=scale)
        assert certificate.dual == pytest.approx(alone.dual, abs=scale)
        assert certificate.gap == pytest.approx(alone.gap, abs=2.0 * scale)
        assert certificate.rounding <= 4.0 * alone.rounding
        assert certificate.kkt == pytest.approx(alone.kkt, abs=1e-9)
        assert certificate.notes == alone.notes
        assert certificate.region.radius == pytest.approx(certificate.gap**0.5, rel=1e-12)
        share = 2e-2 if way == "in float32 first" else 1e-6  # float32 may make it a little wider
        _check_region(certificate.region, alone.region, case.new, share)


def _check_region(region: Any, alone: Any, X: np.ndarray, share: float) -> None:
    """Check a region against the one of the same gap, up to a share of its width."""
    slack = share * (alone.offsets[1] - alone.offsets[0]) + 1e-5
    np.testing.assert_allclose(region.offsets, alone.offsets, atol=slack)
    norm = float(np.sqrt(np.max(region.kernel.diagonal(X))))
    bounds, expected = region.decision_bounds(X), alone.decision_bounds(X)
    slack += 2.0 * norm * abs(region.radius - alone.radius)
    np.testing.assert_allclose(bounds, expected, atol=slack)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_regions_hold_the_optimum(loss: str, way: str, monkeypatch: Any) -> None:
    _go(way, monkeypatch)
    case = Case(RBF(0.5), loss)
    for (problem, _), certificate in zip(case.alone(), pair_gaps(case.points), strict=True):
        optimum = solve(problem, stop=Stop(gap=1e-9))
        least, most = certificate.region.offsets
        assert least <= optimum.intercept <= most
        low, high = certificate.region.decision_bounds(case.new)
        coef = np.where(problem.signs > 0, 1.0, -1.0) * optimum.dual_coef
        values = problem.kernel.block(case.new, problem.rows.matrix) @ coef + optimum.intercept
        assert np.all(low <= values)
        assert np.all(values <= high)


def test_what_float32_decides_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _go("in float32 first", monkeypatch)
    turns: list[tuple[np.dtype, int]] = []
    compute = pair_scores.PairScores._compute

    def noted(self: Any, arithmetic: Any, wanted: Any, **options: Any) -> None:
        count = sum(int(np.count_nonzero(flags)) for flags in wanted)
        turns.append((arithmetic.panels._dtype, count))
        compute(self, arithmetic, wanted, **options)

    monkeypatch.setattr(pair_scores.PairScores, "_compute", noted)
    case = Case(RBF(0.5), n=800)
    pair_gaps(case.points)
    support = sum(int(np.count_nonzero(a)) for pair in case.points.alpha for a in pair)
    assert [kind for kind, _ in turns] == [np.float64, np.float32, np.float64]
    assert turns[0][1] == support
    assert turns[1][1] == sum(len(problem.signs) for problem in case.problems) - support
    assert turns[2][1] < 0.05 * turns[1][1]


@pytest.mark.parametrize("way", WAYS)
def test_threads_change_no_bit(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _go(way, monkeypatch)
    monkeypatch.setattr(pair_scores, "_TASK_ROWS", 16)
    monkeypatch.setattr(pair_scores, "_TASK_VALUES", 64)
    for module in (pair_scores, pair_tasks, pair_blocks):
        monkeypatch.setattr(module, "PANEL_ROWS", 8)
    case = Case(RBF(0.5))
    one, two = pair_gaps(case.points), pair_gaps(case.points, threads=2)
    for a, b in zip(one, two, strict=True):
        assert (a.primal, a.dual, a.gap, a.kkt) == (b.primal, b.dual, b.gap, b.kkt)
        assert a.region.offsets == b.region.offsets


@EXTENDED
@pytest.mark.parametrize("kernel", [RBF(0.5), Polynomial(3, 0.5, 0.1)], ids=repr)
def test_support_vectors_of_a_pair_meet_once(kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _go("in float32 first", monkeypatch)
    case = Case(kernel, n=400)
    met: list[int] = []
    values = ProductPanels.values

    def counted(self: Any, panel: Any, columns: Any) -> Any:
        found = values(self, panel, columns)
        if self.dtype == np.float64:
            met.append(found.size)
        return found

    monkeypatch.setattr(ProductPanels, "values", counted)
    monkeypatch.setattr(pair_scores.PairScores, "_is_worth_it", lambda *_: True)
    monkeypatch.setattr(pair_scores.PairScores, "_open", lambda _, __, wanted: wanted & False)
    pair_gaps(case.points)
    own = sum(side.n_support**2 for side in case.points.sides)
    assert sum(met) == own + sum(
        np.count_nonzero(a) * np.count_nonzero(b) for a, b in case.points.alpha
    )
    monkeypatch.undo()
    _go("in float32 first", monkeypatch)
    whole = pair_gaps(case.points)
    # In tasks and panels so small that some have no more than a row.
    monkeypatch.setattr(pair_scores, "_TASK_VALUES", 64)
    for module in (pair_tasks, pair_blocks):
        monkeypatch.setattr(module, "PANEL_ROWS", 7)
    monkeypatch.setattr(pair_tasks, "PANEL_COLUMNS", 5)
    for (problem, point), a, b in zip(case.alone(), pair_gaps(case.points), whole, strict=True):
        verify_certificate(problem, point, a)
        assert a.primal == pytest.approx(b.primal, rel=1e-12)
        assert a.kkt == pytest.approx(b.kkt, rel=1e-9)


def test_many_support_vectors_are_taken_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    _go("in float64", monkeypatch)
    case = Case(RBF(20.0))
    whole = pair_gaps(case.points)
    monkeypatch.setattr(pair_tasks, "PANEL_COLUMNS", 7)
    for a, b in zip(pair_gaps(case.points), whole, strict=True):
        assert a.primal == pytest.approx(b.primal, rel=1e-13)
        assert a.gap == pytest.approx(b.gap, rel=1e-9)


def test_whoever_may_stop_it_is_asked_the_more_often_the_more_there_is_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _go("in float64", monkeypatch)
    case, asked = Case(RBF(20.0)), []
    monkeypatch.setattr(pair_scores, "PANEL_ROWS", 8)
    for values in (1 << 23, 1 << 10):
        monkeypatch.setattr(pair_scores, "_TASK_VALUES", values)
        calls: list[int] = []
        pair_gaps(case.points, check=lambda calls=calls: calls.append(1))
        asked.append(len(calls))
    assert asked[1] > 2 * asked[0]


def test_a_kernel_that_proves_nothing_says_so() -> None:
    case = Case(Sigmoid(0.1, 0.0))
    for certificate in pair_gaps(case.points):
        assert certificate.gap == np.inf
        assert "not (known to be) positive semidefinite" in certificate.notes[0]
        assert certificate.region is None
        assert certificate.kkt <= 1e-3


@EXTENDED
@pytest.mark.parametrize("way", WAYS[1:])
def test_scores_of_a_kernel_that_levels_off_are_within_their_bounds(
    way: str, monkeypatch: Any
) -> None:
    _go(way, monkeypatch)
    case = Case(Sigmoid(20.0, 1.0))
    alone, scores = case.alone(), pair_scores.PairScores(case.points, 1, None)
    for place, side in enumerate(case.points.sides):
        found = scores.of(place)
        for where, (number, sign) in enumerate(zip(side.numbers, side.signs[:, 0], strict=True)):
            problem, point = alone[number]
            rows = problem.rows.values
            own = rows[problem.signs == sign][side.order]
            exact = extended_kernel(problem.kernel, own, rows) @ (problem.signs * point.dual_coef)
            assert np.all(np.abs(found.values[where] - exact) <= found.error[where])


@pytest.mark.parametrize("way", WAYS)
def test_a_kernel_that_levels_off_is_judged_as_each_is_alone(way: str, monkeypatch: Any) -> None:
    _go(way, monkeypatch)
    case = Case(Sigmoid(20.0, 1.0))
    for (problem, point), found in zip(case.alone(), pair_gaps(case.points), strict=True):
        alone = gap(problem, point)
        assert found.primal == pytest.approx(alone.primal, abs=1e-10)
        assert found.kkt == pytest.approx(alone.kkt, abs=1e-10)
        assert max(found.kkt_rounding, alone.kkt_rounding) <= 1e-10


def test_a_coefficient_out_of_its_box_is_refused_in_its_pair_alone() -> None:
    case = Case(RBF(0.5))
    case.points.alpha[1][0][3] = 1e3
    found = pair_gaps(case.points)
    assert "leaves its box" in found[1].notes[0]
    assert found[1].gap == np.inf
    assert [certificate.notes for k, certificate in enumerate(found) if k != 1] == [()] * 4


def test_intervals_are_found_when_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    frames = pair_gap._frames

    def counted(*given: Any) -> Any:
        found.append(1)
        return frames(*given)

    monkeypatch.setattr(pair_gap, "_frames", counted)
    case = Case(RBF(0.5))
    regions = [certificate.region for certificate in pair_gaps(case.points)]
    assert not found
    later = [region.offsets for region in regions]
    assert len(found) == 1  # for all of them
    assert [region.offsets for region in regions] == later
    monkeypatch.setattr(pair_gap, "FEW_ROWS", 0)
    at_once = [certificate.region for certificate in pair_gaps(case.points)]
    assert len(found) == 2
    assert [region.offsets for region in at_once] == later
    assert [region.origin for region in at_once] == [region.origin for region in regions]
    assert len(found) == 2


def test_regions_share_vectors_and_pickle_their_own() -> None:
    case = Case(RBF(0.5))
    regions = [certificate.region for certificate in pair_gaps(case.points)]
    assert len({id(region.rows) for region in regions}) == 1
    for region in regions:
        own = pickle.loads(pickle.dumps(region))
        assert own.rows.n_rows == len(region.coef) < region.rows.n_rows
        np.testing.assert_allclose(
            own.decision_bounds(case.new), copy.copy(region).decision_bounds(case.new)
        )


@pytest.mark.parametrize("way", WAYS)
def test_it_can_be_given_up(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _go(way, monkeypatch)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pair_gaps(Case(RBF(0.5)).points, check=stop)
