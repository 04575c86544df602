"""The Gaussian kernel of differences: its values, their bound, and the rows that it is for."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.kernels import RBF, Laplacian, Normalised
from hinge.kernels.differences import GaussianOfDifferences
from hinge.rows import Rows
from hinge.rows_part import SharedRows

HUGE = 1e7


def _rows(n: int, seed: int = 0, d: int = 3, huge: float = HUGE) -> np.ndarray:
    """Return rows whose last feature is a number of a group, many times as large as the others."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d))
    rows[:, -1] = huge * rng.integers(1, 4, size=n)
    return rows


def _takes_differences(X: Any, gamma: float = 1.0) -> bool:
    return isinstance(RBF(gamma).on(Rows(X)), GaussianOfDifferences)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_values_are_those_of_the_formula_within_their_bound(form: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for d in (1, 2, 7, 40):
        A, B = _rows(30, seed, d), _rows(20, seed + 1, d)
        A[3] = B[5]
        gamma = float(10.0 ** rng.uniform(-3, 1))
        kernel = GaussianOfDifferences(gamma)
        found = kernel.block(form(A), form(B))
        wide = A[:, None].astype(np.longdouble) - B[None]
        exact = np.exp(-np.longdouble(gamma) * np.sum(np.square(wide), axis=2))
        norms = np.linalg.norm(A, axis=1)
        relative, absolute = kernel.block_error(norms, float(norms.max()), d)
        assert np.all(np.abs(found - exact) <= relative[:, None] * found + absolute[:, None])
        assert np.max(relative + absolute) < 1e-13
        assert found[3, 5] == 1.0
        assert np.array_equal(kernel.diagonal(form(A)), np.ones(30))
        assert np.array_equal(kernel.diagonal_above(form(A), norms, d), np.ones(30))
    assert kernel.psd


def test_a_value_has_the_same_bits_in_any_block_and_either_order() -> None:
    kernel = GaussianOfDifferences(0.5)
    for d in (1, 3, 8, 33):
        A, B = _rows(150, 0, d), _rows(70, 1, d)
        whole = kernel.block(A, B)
        assert np.array_equal(kernel.block(B, A).T, whole)
        for first, last in ((0, 1), (3, 5), (7, 64), (149, 150)):
            assert np.array_equal(kernel.block(A[first:last], B), whole[first:last])
            assert np.array_equal(kernel.block(A, B[first : last + 1]), whole[:, first : last + 1])


def test_it_is_for_rows_of_which_products_tell_too_little() -> None:
    rng = np.random.default_rng(0)
    usual = rng.normal(size=(200, 3))
    assert not _takes_differences(usual)
    assert not _takes_differences(usual, gamma=1e4)
    assert _takes_differences(_rows(200))
    assert _takes_differences(sp.csr_array(_rows(200)))
    assert _takes_differences(_rows(200).astype(np.float32))
    assert not _takes_differences(_rows(200), gamma=1e-12)
    assert not _takes_differences(_rows(200), gamma=0.0)
    # One row far away moves the mean from which the others are measured.
    usual[0, 0] = 1e9
    assert _takes_differences(usual)


def test_rows_that_are_only_far_from_the_origin_are_measured_from_their_mean() -> None:
    far = np.random.default_rng(0).normal(size=(200, 3)) + 1e8
    assert not _takes_differences(far)
    assert _takes_differences(sp.csr_array(far))  # these stay where they are


def test_sparse_rows_of_many_features_are_never_made_dense() -> None:
    rows = sp.random_array((50, 5000), density=0.01, rng=np.random.default_rng(0), format="csr")
    assert not _takes_differences(1e9 * rows)
    assert _takes_differences(1e9 * rows[:, :4000])


def test_parts_of_rows_are_taken_as_the_whole_is() -> None:
    rows = Rows(np.concatenate((np.random.default_rng(0).normal(size=(50, 3)), _rows(50))))
    part = SharedRows(rows).part(np.arange(40))
    assert not _takes_differences(rows.take(np.arange(40)).values)
    assert isinstance(RBF(1.0).on(part), GaussianOfDifferences)


def test_kernels_made_of_it_follow_and_others_stay() -> None:
    rows, usual = Rows(_rows(50)), Rows(_rows(50, huge=1.0))
    normalised = Normalised(RBF(1.0))
    assert normalised.on(usual) is normalised
    on_rows = normalised.on(rows)
    assert isinstance(on_rows.kernel, GaussianOfDifferences)
    assert on_rows.on(rows) is on_rows
    laplacian = Laplacian(1.0)
    assert laplacian.on(rows) is laplacian
    assert pickle.loads(pickle.dumps(on_rows)) == on_rows
