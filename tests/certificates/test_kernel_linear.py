"""Scores of linear kernels by weights: within their bounds, without a single kernel value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.certificates import gap, kernel_linear, kernel_panels
from hinge.certificates.kernel_machine import Machine
from hinge.certificates.kernel_scores import scores_at, support_scores
from hinge.kernels import Kernel, Linear, Normalised, Polynomial
from hinge.rows import Rows
from hinge.testing import extended_kernel

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)


@pytest.fixture
def no_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        message = "a kernel value was computed"
        raise AssertionError(message)

    monkeypatch.setattr(kernel_panels.ProductPanels, "values", refuse)


@pytest.mark.usefixtures("no_panels")
@pytest.mark.parametrize("kernel", [Linear(), Normalised(Linear())], ids=repr)
@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array])
@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1.0, 1e6, 1e18])
@pytest.mark.parametrize("weight", [1e-200, 1.0, 1e6])
def test_scores_are_within_their_bounds(
    kernel: Kernel, form: Any, scale: float, weight: float, seed: int
) -> None:
    if form is np.float32 and scale < 1e-30:
        pytest.skip("no numbers of float32")
    if isinstance(kernel, Normalised) and scale < 1e-100:
        pytest.skip("squared lengths underflow")
    rng = np.random.default_rng(seed)
    X = scale * (rng.normal(size=(700, 5)) * 10.0 ** rng.uniform(-3, 0, size=(700, 1)))
    X[:, 1] += 3.0 * scale  # terms that are far larger than what is left of them
    X *= rng.random(X.shape) < 0.7
    X[:, 4] += scale
    rows, support = Rows(form(X)), rng.permutation(700)[:600]
    machine = Machine(kernel, rows, support, weight * rng.normal(size=600))
    stored = rows.matrix.toarray() if rows.is_sparse else rows.matrix.astype(np.float64)
    exact = extended_kernel(kernel, stored, stored[machine.ids])
    sums, sizes = exact @ machine.coef, np.abs(exact) @ np.abs(machine.coef)
    scores = scores_at(machine, (rows, np.arange(700)))
    assert (np.abs(scores.values - sums) <= scores.error).all()
    total = exact @ np.abs(machine.coef)
    assert (np.abs(scores.plus + scores.minus - total) <= scores.error).all()
    assert (scores.magnitude >= sizes * (1.0 - 1e-12) - scores.error).all()
    assert (scores.error <= 1e-12 * scores.magnitude + 1e-280).all()
    own = support_scores(machine)
    assert (np.abs(own.values - sums[machine.ids]) <= own.error).all()


def test_sums_that_cancel_are_within_their_bounds() -> None:
    """Pairs of opposite rows of the same coefficient: nothing is left but rounding."""
    X = np.random.default_rng(0).normal(size=(300, 4)) + 1e6
    rows = Rows(np.concatenate((X, -X)))
    machine = Machine(Linear(), rows, np.arange(600), np.full(600, 0.1))
    scores = scores_at(machine, (rows, np.arange(600)))
    exact = extended_kernel(Linear(), rows.matrix, rows.matrix[machine.ids]) @ machine.coef
    assert (np.abs(scores.values - exact) <= scores.error).all()
    assert np.max(np.abs(scores.values)) > 0.0
    assert (scores.error < 1e-12 * scores.magnitude).all()


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_certificates_are_those_of_kernel_values(sparse: bool, intercept: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6)) * (rng.random((1500, 6)) < 0.8)
    y = X[:, 0] + 0.5 * rng.normal(size=1500) > 0
    data = sp.csr_array(X) if sparse else X
    alpha = np.where(rng.random(1500) < 0.4, 0.5, 0.0)
    point = Point(np.zeros(0), 0.1 if intercept == "free" else 0.0, alpha)
    found = [
        gap(Problem(data, y, C=1.0, kernel=kernel, intercept=intercept), point)
        for kernel in (Linear(), Polynomial(1, 1.0, 0.0))
    ]
    for name in ("primal", "dual", "gap", "kkt"):
        assert getattr(found[0], name) == pytest.approx(getattr(found[1], name), rel=1e-9), name
    for one, two in zip(*(c.decision_bounds(X[:50]) for c in found), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-6)


def test_threads_change_no_bit_and_a_check_may_stop_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_linear, "_PART_VALUES", 1)
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(3000, 3)))
    machine = Machine(Linear(), rows, np.arange(0, 3000, 2), rng.normal(size=1500))
    wanted = (rows, np.arange(3000))
    one, two = (scores_at(machine, wanted, threads).values for threads in (1, 2))
    np.testing.assert_array_equal(one, two)
    calls: list[int] = []
    scores_at(machine, wanted, check=lambda: calls.append(1))
    assert len(calls) > 3000 // 256

    def stop() -> None:
        calls.pop()
        if not calls:
            raise InterruptedError

    for left in (1, len(calls)):
        del calls[left:]
        with pytest.raises(InterruptedError):
            scores_at(machine, wanted, check=stop)
        calls.extend(range(50))


def test_weights_that_are_too_many_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_linear, "_MOST_FEATURES", 2)
    rows = Rows(np.random.default_rng(0).normal(size=(20, 3)))
    machine = Machine(Linear(), rows, np.arange(9), np.ones(9))
    assert not kernel_linear.has_weights(machine)
    exact = extended_kernel(Linear(), rows.matrix, rows.matrix[:9]) @ np.ones(9)
    scores = scores_at(machine, (rows, np.arange(20)))
    assert (np.abs(scores.values - exact) <= scores.error).all()
