"""Pegasos: the published step, a dual point that follows it, and a bound that changes no bit."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.data import as_dense, some_weights, two_clouds

from hinge import Point, Problem, Status, Stop, UnsupportedError, certificates, solve
from hinge._native import core
from hinge.errors import InvalidParameterError
from hinge.models.checkpoint import load_checkpoint, save_checkpoint
from hinge.solvers import Pegasos

MASK = 2**64 - 1
SPARED = 6  # place among the counters


class Words:
    """The generator of the compiled core, word by word."""

    def __init__(self, seed: int) -> None:
        self.words = [int(word) for word in core.seeded_words(seed)]

    def below(self, bound: int) -> int:
        a, b, c, d = self.words
        total = (a + d) & MASK
        result = (((total << 23) | (total >> 41)) + a) & MASK
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c ^= (self.words[1] << 17) & MASK
        self.words = [a, b, c, ((d << 45) | (d >> 19)) & MASK]
        return ((result >> 32) * bound) >> 32


def plain_pegasos(problem: Problem, batch: int, steps: int, *, project: bool) -> np.ndarray:
    """Return the weights by the formula, in NumPy."""
    X = as_dense(problem)
    X = np.column_stack([X, np.full(len(X), problem.constant_feature)])
    weights = np.ones(len(X)) if problem.sample_weight is None else problem.sample_weight
    y, total = problem.signs.astype(float), weights.sum()
    penalty = 1.0 / (problem.C * total)
    order = np.flatnonzero(weights > 0)
    words, position, w = Words(0), 0, np.zeros(X.shape[1])
    for t in range(1, steps + 1):
        drawn = []
        for _ in range(batch):
            other = position + words.below(len(order) - position)
            order[[position, other]] = order[[other, position]]
            drawn.append(order[position])
            position = (position + 1) % len(order)
        below = [i for i in drawn if y[i] * (X[i] @ w) < 1.0]
        pull = sum((weights[i] * y[i] * X[i] for i in below), np.zeros(X.shape[1]))
        w = (1.0 - 1.0 / t) * w + len(order) / total * pull / (penalty * t * batch)
        norm = float(np.linalg.norm(w))
        if project and norm > 1.0 / math.sqrt(penalty):
            w *= 1.0 / (math.sqrt(penalty) * norm)
    return w


def run(solver: Pegasos, problem: Problem, steps: int, work: int = 4_000_000) -> Any:
    state = solver.start(problem)
    state.step_limit = steps
    while solver.progress(state).steps < steps:
        solver.step(state, work)
    return state


def clouds(intercept: str = "augmented", *, n: int = 300, C: float = 0.05, **kind: Any) -> Problem:
    X, y = two_clouds(n, 6, noise=1.5)
    X = kind.get("container", np.asarray)(X.astype(kind.get("dtype", np.float64)))
    weights = some_weights(n) if kind.get("weighted", True) else None
    return Problem(X, y, C=C, intercept=intercept, intercept_scale=0.7, sample_weight=weights)


@pytest.mark.parametrize("intercept", ["augmented", "none"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("batch", "C"), [(1, 0.05), (3, 10.0), (40, 0.01)])
def test_the_steps_are_the_published_ones(
    intercept: str, container: Any, batch: int, C: float
) -> None:
    problem = clouds(intercept, C=C, container=container)
    for project in (True, False):
        state = run(Pegasos(batch, project=project), problem, 120)
        weights = state.numbers[0] * state.vectors[0]
        expected = plain_pegasos(problem, batch, 120, project=project)
        np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch", [1, 3, 50])
@pytest.mark.parametrize("replacement", [True, False])
def test_the_index_changes_no_bit(
    container: Any, dtype: Any, batch: int, replacement: bool
) -> None:
    problem = clouds(container=container, dtype=dtype)
    plain, pruned = (
        run(Pegasos(batch, index=index, replacement=replacement), problem, 40_000 // batch)
        for index in (False, True)
    )
    assert plain.vectors[0].tobytes() == pruned.vectors[0].tobytes()
    assert plain.coefficients.tobytes() == pruned.coefficients.tobytes()
    assert plain.numbers[0] == pruned.numbers[0]
    assert plain.run.examined == 40_000 // batch * batch
    assert pruned.run.refreshes > 0
    assert pruned.run.examined < 0.9 * plain.run.examined


def test_the_index_decides_only_what_a_margin_would() -> None:
    # Margins exactly at 1, and stored margins that float32 cannot hold.
    X = np.array([[1.0], [-1.0], [2.0], [-2.0], [1e39], [-1e39]] * 20)
    y = np.sign(X[:, 0])
    problem = Problem(X, y, C=1.0, intercept="none")
    plain, pruned = (run(Pegasos(5, index=index), problem, 5000) for index in (False, True))
    assert plain.vectors[0].tobytes() == pruned.vectors[0].tobytes()


@pytest.mark.parametrize("big", [20.0, 1000.0])
def test_rows_longer_than_float32_can_tell_are_always_read(big: float) -> None:
    rng, scale = np.random.default_rng(0), 1e38
    y = np.where(rng.random(20_000) < 0.5, 1, -1)
    X = np.zeros((20_000, 5))
    X[:, :4] = 0.3 * rng.normal(size=(20_000, 4)) + 0.9 * y[:, None]
    X[:40], y[:40] = [0.0, 0.0, 0.0, 0.0, big], np.where(np.arange(40) % 2, 1, -1)
    problem = Problem(scale * X, y, C=0.05 / scale**2, intercept="none")
    plain, pruned = (run(Pegasos(100, index=index), problem, 6000) for index in (False, True))
    assert pruned.run.refreshes > 0
    assert plain.vectors[0].tobytes() == pruned.vectors[0].tobytes()


def test_without_the_index_nothing_is_counted_for_it() -> None:
    plain, pruned = (run(Pegasos(20, index=index), clouds(), 500) for index in (False, True))
    assert plain.counters[SPARED] == 0
    assert pruned.counters[SPARED] > 0


@pytest.mark.parametrize("project", [True, False])
def test_the_weights_are_those_of_the_dual_point(project: bool) -> None:
    problem = clouds(C=1.0)
    state = run(Pegasos(10, project=project), problem, 700)
    alpha = state.numbers[0] * state.coefficients
    rows = as_dense(problem)
    expected = (problem.signs * alpha) @ rows
    np.testing.assert_allclose(Pegasos().point(state).coef, expected, rtol=1e-9, atol=1e-12)
    assert np.all(alpha >= 0.0)


def test_whole_passes_keep_every_coefficient_in_its_box() -> None:
    problem = clouds(n=300, weighted=False)
    state = run(Pegasos(30, project=False), problem, 50)  # five passes
    alpha = state.numbers[0] * state.coefficients
    assert alpha.max() <= problem.C * (1.0 + 1e-12)
    replaced = run(Pegasos(30, project=False, replacement=True), problem, 50)
    assert (replaced.numbers[0] * replaced.coefficients).max() > problem.C
    assert Pegasos().point(replaced).dual_coef.max() <= problem.C


def test_the_projection_keeps_the_ball() -> None:
    problem = clouds(C=100.0)
    radius = math.sqrt(problem.C * problem.sample_weight.sum())
    sizes = {}
    for project in (True, False):
        solver = Pegasos(2, project=project)
        state = solver.start(problem)
        sizes[project] = []
        for _ in range(50):
            solver.step(state, 1)
            sizes[project].append(np.linalg.norm(state.numbers[0] * state.vectors[0]))
    assert max(sizes[True]) <= radius * (1.0 + 1e-12)
    assert max(sizes[False]) > radius


def test_it_comes_near_the_optimum() -> None:
    problem = clouds(n=2000, C=0.01)
    best = solve(problem, stop=Stop(gap=1e-6)).certificate.primal
    solution = solve(problem, Pegasos(20), Stop(gap=1e-9, steps=20_000))
    assert solution.status in (Status.ITERATION_LIMIT, Status.STALLED)
    assert best <= solution.certificate.primal <= 1.01 * best
    assert solution.certificate.gap <= 0.05 * best
    certificate = certificates.gap(problem, solution.point)
    assert certificate.primal == solution.certificate.primal


def test_a_pickled_run_goes_on_in_the_middle_of_storing_margins() -> None:
    problem = clouds(n=2000)
    solver = Pegasos(20)
    straight = run(solver, problem, 2000)
    saved = solver.start(problem)
    saved.step_limit = 2000
    paused = 0
    while solver.progress(saved).steps < 2000:
        solver.step(saved, 500)
        paused += 0 < saved.counters[3] < problem.n_rows
        saved = pickle.loads(pickle.dumps(saved)).resumed(problem)
    assert paused > 0
    assert saved.vectors[0].tobytes() == straight.vectors[0].tobytes()
    assert saved.run.examined == straight.run.examined


def test_a_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    problem = clouds(n=1000)
    whole = solve(problem, Pegasos(20), Stop(gap=0.0, steps=3000), seed=4)
    begun = solve(problem, Pegasos(20), Stop(gap=0.0, steps=1100), seed=4)
    save_checkpoint(tmp_path / "run", problem, begun.state)
    state = load_checkpoint(tmp_path / "run", problem)
    rest = solve(problem, "pegasos", Stop(gap=0.0, steps=3000), resume=state)
    assert rest.state.vectors[0].tobytes() == whole.state.vectors[0].tobytes()
    assert rest.state.run.examined == whole.state.run.examined
    state.settings["batch"] = 10**15
    with pytest.raises(InvalidParameterError, match="batch must lie between"):
        solve(problem, "pegasos", resume=state)


def test_a_warm_start_begins_where_it_is_told() -> None:
    problem = clouds()
    known = solve(problem, stop=Stop(gap=1e-6))
    state = Pegasos(10).start(problem, known.point)
    begun = Pegasos(10).point(state)
    np.testing.assert_allclose(begun.coef, known.coef, rtol=1e-4, atol=1e-6)
    np.testing.assert_array_equal(begun.dual_coef, known.dual_coef)
    solution = solve(problem, Pegasos(10), Stop(gap=0.0, steps=3), warm=known)
    assert solution.steps == 3
    for wrong in (np.ones(3), np.full(problem.n_rows, np.nan)):
        ignored = Pegasos(10).start(problem, Point(known.coef, 0.0, wrong))
        assert not ignored.vectors[0].any()


def test_large_scales_are_taken_in() -> None:
    problem = clouds(C=1e-3)
    state = run(Pegasos(10), problem, 100)
    twin = pickle.loads(pickle.dumps(state)).resumed(problem)
    twin.numbers[0] *= 2.0**-200  # the same weights in another scale
    twin.vectors[0] *= 2.0**200
    twin.coefficients *= 2.0**200
    twin.numbers[[1, 7]] *= 2.0**400
    for each in (state, twin):
        each.step_limit = 300
        while Pegasos(10).progress(each).steps < 300:
            Pegasos(10).step(each, 1)
    assert twin.numbers[0] > 1e-60
    first, second = (Pegasos(10).point(each).coef for each in (state, twin))
    np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"loss": "huber"}, r"for the hinge loss, not Huber\(h=0.5\); use solver='gradient'"),
        ({"intercept": "free"}, "a free intercept has none; use intercept='augmented'"),
    ],
)
def test_what_is_refused(options: dict, why: str) -> None:
    X, y = two_clouds()
    with pytest.raises(UnsupportedError, match=why):
        solve(Problem(X, y, **{"intercept": "none", **options}), "pegasos")


@pytest.mark.parametrize(
    ("batch", "message"),
    [
        (0, "batch must lie between 1 and 16777216; got 0"),
        (2**30, "batch must lie between"),
        (2.5, "batch must be an integer of at least 0; got 2.5"),
    ],
)
def test_batches_that_make_no_sense(batch: Any, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        Pegasos(batch)


@pytest.mark.parametrize(
    ("array", "place", "value", "message"),
    [
        ("counters", 1, 10**9, "the position lies in the order"),
        ("counters", 2, 9, "a known phase"),
        ("counters", 3, -1, "at most all rows are refreshed"),
        ("counters", 0, -5, "steps are counted from 0"),
        ("order", 0, 10**6, "the order names a row that is not there"),
    ],
)
def test_a_state_that_was_tampered_with_is_refused(
    array: str, place: int, value: int, message: str
) -> None:
    state = Pegasos(10).start(clouds())
    getattr(state, array)[place] = value
    with pytest.raises(ValueError, match=message):
        Pegasos(10).progress(state)
