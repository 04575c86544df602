"""A few support vectors of very many or very wide rows: what is prepared at a time is bounded."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from hinge import Point, Problem
from hinge.certificates import gap
from hinge.certificates.kernel_panels import ProductPanels
from hinge.certificates.pair_gap import pair_gaps
from hinge.certificates.pair_groups import PairPoints
from hinge.kernels import RBF
from hinge.losses import get_loss
from hinge.rows import Rows


def _peak(work: Callable[[], object]) -> int:
    """Return the most bytes that are held at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _few(n_rows: int, count: int) -> Point:
    alpha = np.zeros(n_rows)
    alpha[:count] = 0.5
    return Point(np.zeros(0), 0.0, alpha)


def test_nothing_waits_for_a_garbage_collection() -> None:
    X = np.random.default_rng(0).normal(size=(3000, 5))
    problem = Problem(X, X[:, 0] > 0.0, kernel=RBF(0.1))
    gc.collect()
    gc.disable()
    try:
        gap(problem, _few(3000, 700))
        # Buffers for panels are most of what a certificate takes.
        assert not [left for left in gc.get_objects() if isinstance(left, ProductPanels)]
    finally:
        gc.enable()


def test_wide_float32_rows() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 500)).astype(np.float32)
    problem = Problem(X, np.arange(20_000) % 2, kernel=RBF(1e-3))
    assert _peak(lambda: gap(problem, _few(20_000, 2))) < X.nbytes


def test_sparse_rows_and_support_vectors_of_many_features() -> None:
    rng = np.random.default_rng(0)
    n_rows, width = 20_000, 30_000
    lengths = np.where(np.arange(n_rows) < 4, 3000, 20)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    columns = np.concatenate([np.sort(rng.choice(width, k, replace=False)) for k in lengths])
    X = sp.csr_array((rng.normal(size=len(columns)), columns, starts), shape=(n_rows, width))
    problem = Problem(X, np.arange(n_rows) % 2, kernel=RBF(1e-3))
    assert _peak(lambda: gap(problem, _few(n_rows, 4))) < 200_000_000  # dense rows take 1.9 GB


def test_pairs_of_classes_of_wide_rows() -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 400)).astype(np.float32)
    groups = [np.arange(0, 20_000, 2), np.arange(1, 20_000, 2)]
    alpha = (np.zeros(10_000), np.zeros(10_000))
    alpha[0][0] = alpha[1][0] = 0.5
    costs = [np.ones(10_000)] * 2
    data = (RBF(1e-3), get_loss("hinge"), Rows(X), groups, costs, [(0, 1)], [alpha], np.zeros(1))
    points = PairPoints(*data)
    assert _peak(lambda: pair_gaps(points)) < X.nbytes
