"""The samples that come before all rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Problem, Status, Stop, solve
from hinge.solvers import InteriorPoint, Newton
from hinge.solvers.linear.pilot import draw, sample_sizes

N, D = 20_000, 10


def weighted(present: np.ndarray, container=np.asarray) -> Problem:
    """Return a problem of which only some rows have a weight."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, D))
    X[:, -1] = np.arange(N)  # tells a row of a sample from the others
    y = (X[:, 0] + rng.normal(size=N) > 0.0).astype(int)
    y[present[:2]] = [0, 1]
    weights = np.zeros(N)
    weights[present] = rng.random(len(present)) + 0.5
    return Problem(container(X), y, loss="squared_hinge", sample_weight=weights)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("count", [2, 300, 5_000])
def test_a_sample_is_drawn_from_the_rows_that_have_a_weight(count: int, container) -> None:
    present = np.sort(np.random.default_rng(1).choice(N, count, replace=False))
    problem = weighted(present, container)
    size = sample_sizes(problem)[0]
    assert 300 < size < 5_000
    sample = draw(problem, size, seed=0)
    blocks = [block.matrix for block in sample.rows.blocks()]
    numbers = np.concatenate([(m.toarray() if sp.issparse(m) else m)[:, -1] for m in blocks])
    assert len(numbers) == min(size, count)
    assert np.isin(numbers, present).all()
    assert len(np.unique(numbers)) == len(numbers)  # the stretches do not overlap
    assert np.sum(sample.costs) == pytest.approx(np.sum(problem.costs))


@pytest.mark.parametrize("solver", [InteriorPoint(), Newton()], ids=lambda solver: solver.name)
def test_a_sample_may_have_missed_every_weight(solver) -> None:
    problem = weighted(np.array([7, 8, 9]))
    assert solve(problem, solver, Stop(gap=1e-6, steps=200)).status is Status.SOLVED


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_copy_the_rows_of_a_sample(threads: int) -> None:
    X = np.random.default_rng(0).normal(size=(40_000, 60)).astype(np.float32)
    y = np.where(X[:, 0] > 0.0, 1, -1)
    X[:, 1] = np.arange(len(X))  # which row it is
    sample = draw(Problem(X, y), 20_000, seed=1, threads=threads)
    picks = sample.rows.values[:, 1].astype(np.int64)
    assert np.all(np.diff(picks) > 0)
    np.testing.assert_array_equal(sample.rows.values, X[picks])
    np.testing.assert_array_equal(sample.signs, y[picks])
