"""The dual program, other C, and the fingerprint of a problem."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge import Problem
from hinge.losses import Huber
from hinge.testing import recompute

LOSSES = ["hinge", "squared_hinge", "huber"]
INTERCEPTS = ["free", "augmented", "none"]


def _random(seed: int, **options) -> Problem:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 4))
    y = np.tile([0, 1], 6)
    options.setdefault("sample_weight", rng.choice([0.0, 0.5, 2.0], 12) + (np.arange(12) < 2))
    return Problem(X, y, C=1.5, intercept_scale=2.0, **options)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_program_is_the_dual(loss: str, intercept: str, seed: int) -> None:
    problem = _random(seed, loss=loss, intercept=intercept)
    program = problem.dual()
    rng = np.random.default_rng(seed + 1)
    top = np.where(np.isfinite(program.upper - program.lower), program.upper - program.lower, 3.0)
    alpha = rng.random(12) * np.where(problem.costs > 0, top, 0.0)
    b = problem.signs * alpha
    assert (program.lower <= b).all()
    assert (b <= program.upper).all()
    X = np.asarray(problem.rows.values)
    K = X @ X.T + program.constant_feature**2
    objective = 0.5 * b @ (K + np.diag(program.diagonal)) @ b - program.linear @ b
    wanted = recompute(problem, hinge.Point(np.zeros(4), 0.0, alpha))
    assert wanted.in_the_box
    assert objective == pytest.approx(-float(wanted.dual), rel=1e-12)
    assert program.groups == (((None, 0.0),) if intercept == "free" else ())


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_without_cost_are_fixed_at_zero(loss: str) -> None:
    problem = _random(0, loss=loss, sample_weight=[1, 1] + [0] * 10)
    program = problem.dual()
    assert (program.lower[2:] == 0).all()
    assert (program.upper[2:] == 0).all()
    assert np.isfinite(program.diagonal).all()


def test_another_C_shares_everything_else() -> None:
    problem = _random(0)
    other = problem.with_C(7)
    assert (other.C, problem.C) == (7.0, 1.5)
    assert other.rows is problem.rows
    assert other.signs is problem.signs
    np.testing.assert_allclose(other.costs, problem.costs * 7 / 1.5)
    plain = hinge.Problem(problem.rows, problem.signs, C=2.0)
    assert plain.costs.tolist() == [2.0] * plain.n_rows
    assert plain.with_C(5).costs.tolist() == [5.0] * plain.n_rows
    assert not plain.costs.flags.writeable
    np.testing.assert_allclose(other.cost_squares, other.costs @ other.rows.squared_norms)
    np.testing.assert_allclose(problem.with_C(3).cost_squares, 2 * problem.cost_squares)
    with pytest.raises(hinge.InvalidParameterError, match="C must"):
        problem.with_C(0)


def test_fingerprints_of_equal_problems_are_equal() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.tile([0, 1], 20)
    one = Problem(X, y)
    assert one.fingerprint() == Problem(X.copy(), np.where(y, "b", "a")).fingerprint()
    assert one.fingerprint() == Problem(np.asfortranarray(X), y).fingerprint()
    assert one.fingerprint() == pickle.loads(pickle.dumps(one)).fingerprint()


def _changed(X: np.ndarray, y: np.ndarray) -> dict[str, Problem]:
    mirrored, swapped, nudged = X.copy(), X.copy(), X.copy()
    mirrored[1:] *= -1.0
    swapped[7] = X[7, ::-1]
    nudged[-1, -1] = np.nextafter(nudged[-1, -1], 9.0)
    other_y = y.copy()
    other_y[[3, 4]] = other_y[[4, 3]]
    return {
        "rows mirrored": Problem(mirrored, y),
        "columns of one row exchanged": Problem(swapped, y),
        "one value nudged": Problem(nudged, y),
        "a row less": Problem(X[:-1], y[:-1]),
        "a column more": Problem(np.column_stack([X, np.zeros(len(X))]), y),
        "other labels": Problem(X, other_y),
        "classes exchanged": Problem(X, 1 - y),
        "other C": Problem(X, y, C=2.0),
        "other loss": Problem(X, y, loss="huber"),
        "other width": Problem(X, y, loss=Huber(h=0.25)),
        "other intercept": Problem(X, y, intercept="none"),
        "augmented": Problem(X, y, intercept="augmented"),
        "other scale": Problem(X, y, intercept="augmented", intercept_scale=2.0),
        "weights": Problem(X, y, sample_weight=np.linspace(1, 2, len(y))),
    }


@pytest.mark.parametrize("sparse", [False, True])
def test_fingerprints_of_other_problems_differ(sparse: bool) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = np.tile([0, 1], 20)
    wrap = sp.csr_array if sparse else np.asarray
    problems = {"original": Problem(wrap(X), y), **_changed(X, y)}
    prints = {name: problem.fingerprint() for name, problem in problems.items()}
    assert len(set(prints.values())) == len(prints), prints


def test_problems_pickle() -> None:
    problem = _random(0, loss="huber", intercept="augmented")
    copy = pickle.loads(pickle.dumps(problem))
    assert repr(copy) == repr(problem)
    assert copy.costs.tobytes() == problem.costs.tobytes()
