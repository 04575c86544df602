"""Exact paths in C: every corner is an optimum, and so is everything in between."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.solvers.kernel_cases import rows_of_two_classes

import hinge
from hinge import Problem, Stop, solve
from hinge.kernels import RBF, Linear, Precomputed
from hinge.solvers import exact_path
from hinge.solvers.kernel.path_events import LARGEST, ZERO, closing
from hinge.testing import verify_certificate


def _weights(n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    return rng.uniform(0.2, 3.0, size=n) * (rng.uniform(size=n) < 0.9)


def _duplicates(**options) -> Problem:
    X, y = rows_of_two_classes(24, seed=1)
    return Problem(np.vstack([X, X[:12]]), np.concatenate([y, y[:6], -y[6:12]]), **options)


def _problems() -> dict[str, Problem]:
    X, y = rows_of_two_classes(60, seed=3)
    rng = np.random.default_rng(0)
    factor = np.round(rng.normal(size=(50, 3)) * 16.0) / 16.0
    side = np.where(factor[:, 0] + rng.normal(size=50) > 0.0, 1, -1)
    return {
        "rbf": Problem(X, y, kernel=RBF(1.0)),
        "no intercept": Problem(X, y, kernel=RBF(1.0), intercept="none"),
        "weights": Problem(X, y, kernel=RBF(0.5), sample_weight=_weights(60)),
        "linear": Problem(X, y, kernel=Linear()),
        "low rank": Problem(factor @ factor.T, side, kernel=Precomputed(psd=True)),
        "duplicates": _duplicates(kernel=RBF(1.0)),
        "duplicates of a plane": _duplicates(kernel=Linear()),
        "as many of either class": Problem(X, np.where(np.arange(60) % 2, 1, -1), kernel=RBF(0.2)),
        "two rows": Problem(X[:2], [0, 1], kernel=RBF(1.0)),
    }


PROBLEMS = _problems()


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_corner_is_certified(name: str) -> None:
    problem = PROBLEMS[name]
    path = exact_path(problem, 0.01, 100.0)
    assert path.is_complete
    assert path.Cs[0] == 0.01
    assert path.Cs[-1] == 100.0
    assert (np.diff(path.Cs) > 0.0).all()
    assert len(path.pieces) == len(path.Cs) - 1
    middles = 0.5 * (path.Cs[1:] + path.Cs[:-1])
    for C in np.concatenate((path.Cs, middles[::4])):
        certificate = path.certificate(float(C))
        assert certificate.relative_gap <= 1e-8, C
        assert certificate.kkt <= 1e-8, C


@pytest.mark.parametrize("name", ["rbf", "weights", "duplicates"])
def test_as_by_independent_solves(name: str) -> None:
    problem = PROBLEMS[name]
    path = exact_path(problem, 0.05, 50.0)
    for C in np.exp(np.linspace(math.log(0.05), math.log(50.0), 7)):
        alone = solve(problem.with_C(C), "decomposition", Stop(gap=1e-8)).certificate
        along = path.certificate(float(C))
        verify_certificate(problem.with_C(C), path.point(float(C)), along)
        assert abs(along.primal - alone.primal) <= along.gap + alone.gap


def test_pieces_join() -> None:
    path = exact_path(PROBLEMS["rbf"], 0.1, 10.0)
    for number in range(1, len(path.pieces)):
        C = float(path.Cs[number])
        before = path.point(math.nextafter(C, 0.0))
        after = path.point(C)
        assert np.max(np.abs(before.dual_coef - after.dual_coef)) <= 1e-8
    assert path.n_free().shape == (len(path.pieces),)


def test_little_memory_changes_nothing() -> None:
    roomy = exact_path(PROBLEMS["rbf"], 0.1, 10.0)
    narrow = exact_path(PROBLEMS["rbf"], 0.1, 10.0, cache_mb=0.002)
    assert len(narrow.Cs) == len(roomy.Cs)
    assert np.allclose(narrow.Cs, roomy.Cs, rtol=1e-9)


def test_the_interval_of_multipliers_closes() -> None:
    # nu >= -e of the first two, nu <= -e of the others; ends meet where 1 + t = 3 - t.
    gradient, rates = np.array([-1.0, 0.0, -3.0, -4.0]), np.array([-1.0, -0.5, 1.0, 0.0])
    signs = np.ones(4)
    where = np.array([ZERO, ZERO, LARGEST, LARGEST], dtype=np.int8)
    corner, low, high = closing(gradient, rates, signs, where)
    assert (corner.step, corner.rows) == (1.0, (0, 2))
    assert (low, high) == (1.0, 3.0)
    assert math.isinf(closing(gradient, -rates, signs, where)[0].step)
    assert math.isinf(closing(gradient, rates, signs, np.full(4, ZERO, dtype=np.int8))[0].step)


def test_a_limit_of_time_cuts_a_path_short() -> None:
    path = exact_path(PROBLEMS["rbf"], 0.1, 10.0, seconds=1e-9)
    assert not path.is_complete
    assert path.Cs[-1] < 10.0


def test_what_has_no_straight_pieces_is_refused() -> None:
    X, y = rows_of_two_classes(20, seed=0)
    for options in ({"kernel": RBF(1.0), "loss": "squared_hinge"}, {"kernel": None}):
        with pytest.raises(hinge.UnsupportedError, match=r"needs a kernel .* Use hinge.path"):
            exact_path(Problem(X, y, **options), 0.1, 1.0)
    with pytest.raises(hinge.UnsupportedError, match="positive semidefinite"):
        exact_path(Problem(X, y, kernel="sigmoid"), 0.1, 1.0)
    problem = Problem(X, y, kernel=RBF(1.0))
    for ends in ((1.0, 1.0), (2.0, 1.0), (1.0, math.inf)):
        with pytest.raises(hinge.InvalidParameterError, match="C_to"):
            exact_path(problem, *ends)
    path = exact_path(problem, 0.5, 1.0)
    for C in (0.4, 1.1):
        with pytest.raises(hinge.InvalidParameterError, match=r"not on the path, which is from 0"):
            path.point(C)
