"""What rounding does to kernel values is less than what is said of it, and that is little."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.kernels import RBF, ChiSquared, Kernel, Laplacian, Linear, Polynomial, Sigmoid
from hinge.kernels.exponential import EXP_UNITS
from hinge.kernels.sigmoid import TANH_UNITS
from hinge.testing import extended_kernel

pytestmark = pytest.mark.skipif(
    np.finfo(np.longdouble).eps > 1e-18, reason="needs a longdouble wider than float64"
)

KERNELS: list[Kernel] = [
    Linear(),
    Polynomial(2, 0.3, 0.5),
    Polynomial(5, -0.1, 2.0),
    Polynomial(0, 1.0),
    RBF(0.7),
    RBF(0.0),
    Sigmoid(0.2, -0.3),
    Laplacian(0.4),
    ChiSquared(0.9),
]


def _norms(A: np.ndarray, B: np.ndarray, kernel: Kernel, dense: bool) -> tuple[np.ndarray, float]:
    """Return norms from where ``block`` measures them."""
    centre = A.mean(axis=0) if dense and getattr(kernel, "is_translation_invariant", False) else 0.0
    norms = [np.sqrt(np.sum((rows - centre) ** 2, axis=1)) * (1 + 1e-12) for rows in (A, B)]
    return norms[0], float(norms[1].max())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_values_are_within_their_bounds(kernel: Kernel, sparse: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(60):
        d = int(rng.integers(1, 40))
        scale, offset = 10.0 ** rng.uniform(-4, 2), rng.choice([0.0, 1.0, 1e3])
        A, B = (np.abs(scale * rng.normal(size=(n, d)) + offset) for n in (6, 9))
        if sparse:
            A, B = (rows * (rng.random(rows.shape) < 0.5) for rows in (A, B))
        A[1], B[2] = B[1], A[0]  # equal rows, whose distance is nothing but rounding
        exact = extended_kernel(kernel, A, B)
        forms = (sp.csr_array(A), sp.csr_array(B)) if sparse else (A, B)
        got = kernel.block(*forms)
        norms, far = _norms(A, B, kernel, not sparse)
        relative, absolute = kernel.block_error(norms, far, d)
        bound = relative[:, None] * np.abs(got) + absolute[:, None]
        assert (np.abs(got - exact) <= bound).all()


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.1)], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_offset_and_scale_cost_no_digits(kernel, offset: float, scale: float) -> None:
    rng = np.random.default_rng(0)
    # Multiples of 2^-20, so that the shift itself is exact.
    A, B = (np.round(rng.normal(size=(20, 50)) * 2**20) / 2**20 for _ in range(2))
    power = 2 if isinstance(kernel, RBF) else 1
    there = type(kernel)(kernel.gamma / scale**power)
    got = there.block((A + offset) * scale, (B + offset) * scale)
    exact = extended_kernel(there, (A + offset) * scale, (B + offset) * scale)
    assert np.max(np.abs(got - exact) / exact) < 1e-12
    norms, far = _norms((A + offset) * scale, (B + offset) * scale, there, True)
    relative, absolute = there.block_error(norms, far, 50)
    assert np.max(relative + absolute) < 1e-12


def test_neighbours_far_from_the_origin_keep_their_distance() -> None:
    """The case that expansion in float32, and in float64 without a centre, gets wrong."""
    rng = np.random.default_rng(0)
    A = 1e7 + rng.normal(size=(10, 100))
    B = A + 1e-2 * rng.normal(size=(10, 100))
    exact = extended_kernel(RBF(1.0), A, B)
    naive = (A * A).sum(1)[:, None] + (B * B).sum(1) - 2.0 * A @ B.T
    assert np.max(np.abs(np.exp(-naive) - exact)) > 1e-2
    assert np.max(np.abs(RBF(1.0).block(A, B) - exact)) < 1e-11


@pytest.mark.parametrize("kernel", [Laplacian(1.0), ChiSquared(1.0)], ids=repr)
def test_sums_in_which_every_term_is_lost_are_within_their_bounds(kernel: Kernel) -> None:
    """One and many numbers too small to change it, one by one: the worst that a sum can do."""
    A, B = np.zeros((1, 4000)), np.full((1, 4000), 1e-16)
    B[0, 0] = 1.0
    got, exact = kernel.block(A, B), extended_kernel(kernel, A, B)
    relative, absolute = kernel.block_error(np.ones(1), 1.0, 4000)
    error = abs(float(got[0, 0] - exact[0, 0]))
    assert 1e-13 < error <= relative[0] * got[0, 0] + absolute[0] < 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponentials_and_tangents_are_as_exact_as_is_assumed(dtype: type) -> None:
    unit = float(np.finfo(dtype).eps) / 2
    for function, low, high, units in (
        (np.exp, -80.0, 80.0, EXP_UNITS),
        (np.exp, -1e-3, 1e-3, EXP_UNITS),
        (np.tanh, -20.0, 20.0, TANH_UNITS),
        (np.tanh, -1e-3, 1e-3, TANH_UNITS),
    ):
        t = np.random.default_rng(0).uniform(low, high, 400_000).astype(dtype)
        exact = function(t.astype(np.longdouble))
        assert np.max(np.abs(function(t) - exact) / np.abs(exact)) <= 0.5 * units * unit
        # In a buffer of another type, and a length that no vector divides.
        wide = np.empty(len(t) - 3)
        function(t[3:], out=wide)
        assert np.max(np.abs(wide - exact[3:]) / np.abs(exact[3:])) <= 0.5 * units * unit


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_bounds_of_the_diagonal_hold(kernel: Kernel) -> None:
    rng = np.random.default_rng(0)
    A = np.abs(rng.normal(size=(40, 7))) * 10.0 ** rng.uniform(-3, 0.5, size=(40, 1))
    norms = np.linalg.norm(A, axis=1) * (1 + 1e-12)
    above = kernel.diagonal_above(A, norms, 7)
    exact = np.asarray([extended_kernel(kernel, row[None], row[None])[0, 0] for row in A])
    assert (above >= exact).all()
    assert (above <= exact + 1e-10 * np.maximum(np.abs(exact), 1.0)).all()


def test_what_leaves_the_range_of_numbers_has_no_bound() -> None:
    kernel = Polynomial(5, 1.0, 0.0)
    _, absolute = kernel.block_error(np.asarray([1.0, 1e40]), 1e40, 3)
    assert np.isfinite(absolute[0])
    assert absolute[1] == np.inf
    _, absolute = kernel.block_error(np.asarray([1.0, 1e5]), 1e5, 3, 2.0**-24)
    assert np.isfinite(absolute[0])
    assert absolute[1] == np.inf


def test_chi_squared_of_numbers_below_the_normal_ones_is_within_its_bounds() -> None:
    kernel = ChiSquared(1e307)
    A, B = np.array([[1e-309, 0.0]]), np.array([[0.0, 0.0], [2e-309, 3e-310]])
    exact = np.exp(-np.array([[1e-2, (1.0 / 3.0 + 0.3) * 1e-2]]))
    relative, absolute = kernel.block_error(np.ones(1), 1.0, 2)
    got = kernel.block(A, B)
    assert (np.abs(got - exact) <= relative[:, None] * got + absolute[:, None]).all()


@pytest.mark.parametrize("spread", [0.1, 1.0, 10.0])
def test_the_slope_of_a_kernel_that_levels_off_is_bounded_by_the_size_of_its_values(
    spread: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    kernel = Sigmoid(1.0, 0.0)
    values = np.tanh(spread * rng.normal(size=(20, 50)))
    weights = rng.exponential(size=50)
    weights /= weights.sum()
    sizes = np.abs(values) @ weights
    assert np.all((1.0 - values**2) @ weights <= kernel.slope_above(sizes) + 1e-12)
    assert np.all(kernel.slope_above(sizes) <= 1.0)
    assert kernel.levels_off
    assert not RBF(1.0).levels_off
    assert np.array_equal(RBF(1.0).slope_above(sizes), np.ones(20))
