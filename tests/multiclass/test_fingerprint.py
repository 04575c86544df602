"""The fingerprint of data knows numbers, labels and weights, and nothing of how they are kept."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.multiclass import Labels, data_fingerprint
from hinge.rows import Rows

RNG = np.random.default_rng(4)
X = np.where(RNG.random((500, 7)) < 0.4, RNG.normal(size=(500, 7)), 0.0).astype(np.float32)
CODES = np.arange(500) % 3


def labels(codes=CODES, weights=None) -> Labels:
    return Labels(np.arange(3), np.asarray(codes), weights)


KNOWN = data_fingerprint(Rows(X), labels())


@pytest.mark.parametrize(
    "same",
    [
        X.astype(np.float64),
        np.asfortranarray(X),
        sp.csr_array(X),
        sp.csc_array(X.astype(np.float64)),
        X.astype(">f8"),
        np.where(X == 0.0, -0.0, X),
        X.tolist(),
    ],
    ids=["float64", "columns", "sparse", "sparse columns", "big-endian", "negative zeros", "lists"],
)
def test_storage_does_not_matter(same):
    assert data_fingerprint(Rows(same), labels()) == KNOWN


def test_types_of_codes_and_weights_of_one_do_not_matter():
    assert data_fingerprint(Rows(X), labels(CODES.astype(np.uint8))) == KNOWN
    assert data_fingerprint(Rows(X), labels(weights=np.ones(500))) == KNOWN


def test_explicit_zeros_do_not_matter():
    full = sp.csr_array(np.where(X == 0.0, 1.0, X))
    full.data[full.data == 1.0] = 0.0
    assert full.nnz == X.size
    assert data_fingerprint(Rows(full), labels()) == KNOWN


def test_shape_labels_weights_and_values_matter():
    wider = np.column_stack([X, np.zeros(500, dtype=np.float32)])
    swapped = X.copy()
    swapped[[0, 499]] = swapped[[499, 0]]
    weights = np.ones(500)
    weights[250] = 2.0
    others = {
        data_fingerprint(Rows(wider), labels()),
        data_fingerprint(Rows(X[:-1]), labels(CODES[:-1])),
        data_fingerprint(Rows(swapped), labels()),
        data_fingerprint(Rows(X), labels(np.roll(CODES, 1))),
        data_fingerprint(Rows(X), labels(weights=weights)),
        data_fingerprint(Rows(np.nextafter(X, np.float32(9))), labels()),
    }
    assert len(others) == 6
    assert KNOWN not in others


def test_it_does_not_change_between_versions():
    rows = Rows([[1.0, 0.0], [0.0, 2.5], [3.0, -1.0]])
    known = Labels(np.array([0, 1]), np.array([0, 1, 0]))
    expected = "10b93649f02cd76fc148f691353f7b37ba0eb47a5686976f049069418e4a718a"
    assert data_fingerprint(rows, known) == expected


@pytest.mark.parametrize("n", [1, 2, 3, 100, 255, 256])
def test_few_rows_are_all_looked_at(n: int) -> None:
    spread = np.linspace(0, n - 1, 256).astype(np.int64)
    assert np.array_equal(np.unique(spread), np.arange(n))
    known = data_fingerprint(Rows(X[:n] + 1.0), labels(CODES[:n]))
    for row in {0, n // 2, n - 1}:
        other = X[:n] + 1.0
        other[row, 3] += 0.5
        assert data_fingerprint(Rows(other), labels(CODES[:n])) != known


def test_rows_without_zeros_have_the_fingerprint_of_sparse_ones() -> None:
    full = np.abs(X) + np.float32(1.0)
    assert data_fingerprint(Rows(full), labels()) == data_fingerprint(
        Rows(sp.csr_array(full)), labels()
    )
