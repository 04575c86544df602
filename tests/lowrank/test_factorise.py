"""Low-rank factors: what they leave is positive semidefinite, of the trace that they say."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from hinge.kernels import RBF, Laplacian, Linear, Polynomial, Precomputed, Sigmoid
from hinge.lowrank import factorise, largest_remainder, remainder_values
from hinge.lowrank.factorise import METHODS
from hinge.rows import Rows

KERNEL = RBF(0.3)
RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4))
EVERY_KERNEL = (KERNEL, Laplacian(0.3), Polynomial(3, 0.5, 1.0), Linear())


@pytest.mark.parametrize("kernel", EVERY_KERNEL, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("method", METHODS)
def test_the_remainder_is_what_it_says(method: str, kernel) -> None:
    factor = factorise(kernel, X, rank=25, method=method)
    matrix = kernel.block(X, X)
    left = matrix - factor.values @ factor.values.T
    size = np.max(np.diag(matrix))
    assert factor.rank <= 25
    assert np.min(np.linalg.eigvalsh(left)) >= -1e-11 * size * len(X)
    np.testing.assert_allclose(np.diag(left), factor.remainder, atol=1e-11 * size)
    assert factor.trace == pytest.approx(np.trace(matrix))
    assert factor.trace_error == pytest.approx(np.trace(left), abs=1e-10 * size * len(X))


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_get_the_coordinates_of_the_projection(method: str) -> None:
    factor = factorise(KERNEL, X, rank=30, method=method)
    np.testing.assert_allclose(factor.transform(X), factor.values, atol=1e-9)
    others = np.random.default_rng(1).standard_normal((17, 4))
    # The projection of a new image has with basis images the inner products of the image itself.
    coordinates = factor.transform(others)
    expected = KERNEL.block(others, X[factor.basis[:30]])
    if method not in ("lanczos", "weighted"):  # these keep a part of the span of their rows
        at_basis = coordinates @ factor.values[factor.basis[:30]].T
        np.testing.assert_allclose(at_basis, expected, atol=1e-8)
    weights = np.random.default_rng(2).standard_normal(factor.rank)
    machine = KERNEL.block(others, X[factor.basis]) @ factor.coefficients(weights)
    np.testing.assert_allclose(machine, coordinates @ weights, atol=1e-8)


def test_the_norm_of_a_weight_vector_is_that_of_its_function() -> None:
    factor = factorise(KERNEL, X, rank=20)
    weights = np.random.default_rng(3).standard_normal(20)
    coef = factor.coefficients(weights)
    among = KERNEL.block(X[factor.basis], X[factor.basis])
    assert coef @ among @ coef == pytest.approx(weights @ weights, rel=1e-8)


def test_leading_eigenvectors_are_the_best_factor() -> None:
    factor = factorise(KERNEL, X, rank=15, method="lanczos")
    eigenvalues = np.linalg.eigvalsh(KERNEL.block(X, X))[::-1]
    assert factor.trace_error == pytest.approx(np.sum(eigenvalues[15:]), rel=1e-6)
    for method in METHODS:
        other = factorise(KERNEL, X, rank=15, method=method)
        assert other.trace_error >= factor.trace_error * (1.0 - 1e-9)


@pytest.mark.parametrize("method", ["cholesky", "random-cholesky"])
@pytest.mark.parametrize("tolerance", [0.3, 1e-3, 1e-9])
def test_a_tolerance_is_reached_and_a_smaller_one_takes_more(method: str, tolerance: float) -> None:
    factor = factorise(KERNEL, X, tolerance=tolerance, method=method)
    assert factor.relative_error <= tolerance
    coarser = factorise(KERNEL, X, tolerance=min(0.9, 30.0 * tolerance), method=method)
    assert coarser.rank <= factor.rank
    capped = factorise(KERNEL, X, rank=3, tolerance=tolerance, method=method)
    assert capped.rank == min(3, factor.rank)


@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_of_small_rank_is_found_out(method: str) -> None:
    few = np.repeat(np.random.default_rng(4).standard_normal((6, 3)), 5, axis=0)
    factor = factorise(KERNEL, few, rank=20, method=method)
    assert factor.rank <= 6
    if method != "uniform" and method != "leverage":  # these may miss a row
        assert factor.rank == 6
        assert factor.relative_error <= 1e-12


def test_rows_that_are_all_zero_make_an_empty_factor() -> None:
    factor = factorise(Linear(), np.zeros((5, 3)), rank=2)
    assert factor.rank == 0
    assert factor.relative_error == 0.0
    assert factor.transform(np.ones((4, 3))).shape == (4, 0)


@pytest.mark.parametrize("method", METHODS)
def test_the_seed_decides_and_threads_do_not(method: str) -> None:
    first = factorise(KERNEL, X, rank=20, method=method, seed=5)
    again = factorise(KERNEL, X, rank=20, method=method, seed=5, threads=3)
    assert first.values.tobytes() == again.values.tobytes()
    assert first.basis.tobytes() == again.basis.tobytes()


def test_storage_changes_the_values_by_rounding_alone() -> None:
    dense = factorise(KERNEL, X, rank=20)
    sparse = factorise(KERNEL, sp.csr_array(X), rank=20)
    np.testing.assert_allclose(np.abs(sparse.values), np.abs(dense.values), atol=1e-9)
    single = factorise(KERNEL, X, rank=20, single=True)
    assert single.values.dtype == np.float32
    np.testing.assert_allclose(
        single.values @ single.values.T, dense.values @ dense.values.T, atol=1e-5
    )
    narrow = factorise(KERNEL, X.astype(np.float32), rank=20)
    assert narrow.values.dtype == np.float64


def test_a_matrix_is_known_by_the_numbers_of_its_rows() -> None:
    matrix = KERNEL.block(X, X)
    factor = factorise(Precomputed(psd=True), matrix, rank=30)
    np.testing.assert_allclose(factor.transform(matrix), factor.values, atol=1e-9)


def test_products_with_the_remainder() -> None:
    factor = factorise(KERNEL, X, rank=30)
    left = KERNEL.block(X, X) - factor.values @ factor.values.T
    vector = np.random.default_rng(6).standard_normal(len(X))
    np.testing.assert_allclose(remainder_values(factor, Rows(X), vector), left @ vector, atol=1e-11)


@given(seed=st.integers(0, 10**6), steps=st.integers(8, 40))
@settings(max_examples=20, deadline=None)
def test_the_largest_eigenvalue_of_the_remainder_is_bounded(seed: int, steps: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((60, 3))
    factor = factorise(KERNEL, rows, rank=10, seed=seed)
    left = KERNEL.block(rows, rows) - factor.values @ factor.values.T
    largest = float(np.linalg.eigvalsh(left)[-1])
    bound = largest_remainder(factor, Rows(rows), steps=steps, seed=seed)
    assert largest * (1.0 - 1e-9) <= bound <= factor.trace_error
    if steps == 40:
        assert bound <= 1.5 * largest


def test_a_factor_can_be_abandoned_between_pieces() -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        factorise(KERNEL, X, rank=100, check=check)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give a rank, a tolerance, or both"),
        ({"rank": 0}, "rank must be at least 1; got 0"),
        ({"rank": 2.5}, "rank must be an integer"),
        ({"tolerance": 1.0}, "between 0 and 1; got 1.0"),
        ({"tolerance": 0.0}, "between 0 and 1; got 0.0"),
        ({"tolerance": 0.1, "method": "uniform"}, "method 'uniform' takes a rank"),
        ({"rank": 3, "method": "eigen"}, "method must be one of"),
        ({"rank": 3, "most_mb": 1e-5}, "does not hold a single column of 120 rows"),
    ],
)
def test_what_cannot_be_is_refused(options, message: str) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=message):
        factorise(KERNEL, X, **options)


def test_kernels_that_are_not_positive_semidefinite_are_refused() -> None:
    with pytest.raises(hinge.UnsupportedError, match="positive semidefinite"):
        factorise(Sigmoid(0.5, -1.0), X, rank=3)


def test_rows_of_another_width_are_refused() -> None:
    factor = factorise(KERNEL, X, rank=3)
    with pytest.raises(hinge.InvalidDataError, match="X has 5 features"):
        factor.transform(np.ones((2, 5)))


def test_memory_limits_the_rank() -> None:
    factor = factorise(KERNEL, X, tolerance=1e-9, most_mb=8 * 120 * 7 / 2**20)
    assert factor.rank == 7
    assert factor.values.flags.c_contiguous


def test_weights_say_which_directions_of_a_sample_matter() -> None:
    """A sample that rows far from the others dominate is cut where the rows that matter lie."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((400, 6)) * np.array([4.0, 2.0, 1.0, 0.5, 0.25, 0.1])
    rows[:40] *= 10.0
    kernel = Linear()
    best = np.linalg.eigvalsh(kernel.block(rows, rows))[:-3].sum()
    errors = [
        factorise(kernel, rows, rank=3, method="weighted", seed=seed).trace_error
        for seed in range(5)
    ]
    plain = [
        factorise(kernel, rows, rank=3, method="uniform", seed=seed).trace_error
        for seed in range(5)
    ]
    assert best <= min(errors)
    assert np.mean(errors) < np.mean(plain)


def test_a_sample_without_a_cut_is_the_plain_projection() -> None:
    """Weights cancel where all directions of a sample are kept."""
    few = X[:12]
    factor = factorise(KERNEL, few, rank=12, method="weighted", seed=3)
    drawn = factor.basis
    among = KERNEL.block(few[drawn], few[drawn])
    across = KERNEL.block(few, few[drawn])
    plain = across @ np.linalg.solve(among, across.T)
    np.testing.assert_allclose(factor.values @ factor.values.T, plain, atol=1e-9)
