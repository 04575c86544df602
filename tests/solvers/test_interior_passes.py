"""The native passes of the interior point method against formulas in NumPy."""

from __future__ import annotations

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from tests.solvers.plain_path import DualRows, centred

from hinge import Problem
from hinge._native import core
from hinge.solvers import InteriorPoint

N, D, TAU = 150, 7, 0.3
EXTENT = (3, N - 2)  # neither begins nor ends with a chunk
PANELS = (*EXTENT, (N - 5) // 2 + 1)  # two of them, the second shorter


def setting(loss: str, container, intercept: str = "augmented", weighted: bool = False):
    """Return a state with made-up variables, and the same things as NumPy arrays."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.6)
    y = np.where(rng.random(N) < 0.4, 1, -1)
    weights = rng.integers(0, 4, N).astype(float) if weighted else None
    scale = {"intercept_scale": 2.0} if intercept == "augmented" else {}
    X = container(X)
    problem = Problem(X, y, loss=loss, C=1.5, intercept=intercept, sample_weight=weights, **scale)
    state = InteriorPoint().start(problem)
    state.row_variables[...] = rng.random((8, N)) + 0.1
    constant = {"augmented": 2.0, "free": 1.0, "none": 0.0}[intercept]
    dense = X.toarray() if sp.issparse(X) else X
    rows = dense.astype(np.float64)
    if constant:
        rows = np.column_stack((rows, np.full(N, constant)))
    part = slice(*EXTENT)
    costs = problem.costs[part]
    present = costs > 0.0
    costs = np.where(present, costs, np.mean(problem.costs[problem.costs > 0]))
    bounded = loss == "hinge"
    bend = 0.0 if bounded else problem.loss.dual_curvature / costs
    own = state.row_variables[:, part].copy()
    plain = SimpleNamespace(
        rows=rows[part],
        signs=problem.signs[part] * present,
        costs=costs,
        upper=problem.loss.dual_upper * costs,
        change=own[5],
        second=(own[6], own[7]),
        dual=DualRows(*own[:5], problem.loss.dual_linear, bend, bounded),
        loss=problem.loss,
        own=own,
    )
    return state, plain


CASES = {
    "dense, augmented": ("hinge", np.asarray, "augmented", False),
    "dense, free": ("squared_hinge", np.asarray, "free", False),
    "dense float32, free": ("hinge", lambda X: X.astype(np.float32), "free", True),
    "CSR float32": ("squared_hinge", lambda X: sp.csr_array(X.astype(np.float32)), "none", True),
    "CSR, augmented": ("hinge", sp.csr_array, "augmented", True),
}


@pytest.fixture(params=CASES)
def case(request):
    return setting(*CASES[request.param])


def check_variables(state, plain, names: str) -> None:
    order = ("alpha", "room", "low", "high", "margin", "change", "second_low", "second_high")
    for number, name in enumerate(order):
        if name in names.split() and (plain.dual.is_bounded or name not in ("room", "high")):
            got = state.row_variables[number, slice(*EXTENT)]
            np.testing.assert_allclose(got, plain.own[number], rtol=1e-11, atol=1e-13, err_msg=name)


def value_sums(plain) -> list[float]:
    here = np.abs(plain.signs)
    alpha, bend = plain.dual.alpha, plain.dual.bend
    losses = plain.costs * plain.loss.value(plain.dual.margin)
    return [here @ losses, here @ alpha, here @ (bend * alpha * alpha)]


def close(got, want) -> None:
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)


def test_measure(case) -> None:
    state, plain = case
    weights = np.linspace(-1.0, 1.0, plain.rows.shape[1])
    sums = np.zeros((2, len(weights) + 3))
    state.passes.measure(*PANELS, weights, sums, 2)
    plain.dual.margin[...] = plain.signs * (plain.rows @ weights)
    check_variables(state, plain, "margin")
    want = [*(plain.rows.T @ (plain.signs * plain.dual.alpha)), *value_sums(plain)]
    close(sums.sum(axis=0), want)


@pytest.mark.parametrize("centring", [False, True])
def test_matrix(case, centring: bool) -> None:
    state, plain = case
    width = plain.rows.shape[1]
    sums = np.zeros((2, 3 * width))
    scaled, square = np.zeros((N, width)), np.zeros((width, width))
    tau = TAU if centring else math.nan
    n_kept = state.passes.scaled(*EXTENT, (tau, 0.0), sums[0], scaled)
    assert n_kept == np.count_nonzero(plain.signs)
    state.passes.outer(*EXTENT, (tau, 0.0), sums[1], square)
    if centring:
        plain.dual.centre(TAU, plain.upper)
        check_variables(state, plain, "alpha low room high")
    dual, here = plain.dual, np.abs(plain.signs)
    weights = here * dual.spread
    want = plain.rows.T @ (weights[:, None] * plain.rows)
    close(scaled[:n_kept].T @ scaled[:n_kept], want)
    single = np.zeros((N, width), np.float32)
    assert state.passes.scaled_single(*EXTENT, (tau, 0.0), np.zeros(3 * width), single) == n_kept
    np.testing.assert_array_equal(single, scaled.astype(np.float32))
    close(np.tril(square), np.tril(want))
    pushes = (dual.alpha, dual.spread * dual.force, dual.spread * dual.barrier())
    vectors = [plain.rows.T @ (plain.signs * push) for push in pushes]
    close(sums[0], np.concatenate(vectors))
    np.testing.assert_array_equal(sums[0], sums[1])


def test_search(case) -> None:
    state, plain = case
    direction = np.linspace(-1.0, 2.0, plain.rows.shape[1])
    slopes, again = np.zeros((2, 1)), np.zeros((2, 1))
    state.passes.trial(*PANELS, direction, (TAU, 0.7), slopes, 2)
    plain.change[...] = plain.signs * (plain.rows @ direction)
    check_variables(state, plain, "change")
    alpha, _ = centred(plain.dual, plain.dual.margin + 0.7 * plain.change, TAU, plain.upper)
    close(slopes.sum(), alpha @ plain.change)
    state.passes.search(*PANELS, TAU, 0.7, again, 2)
    np.testing.assert_array_equal(again, slopes)
    state.passes.settle(*PANELS, 0.7, 2)
    plain.dual.margin[...] += 0.7 * plain.change
    check_variables(state, plain, "margin")


def test_affine(case) -> None:
    state, plain = case
    direction = np.linspace(-1.0, 2.0, plain.rows.shape[1])
    sums, peaks = np.zeros((2, len(direction) + 3)), np.zeros(2)
    state.passes.affine(*PANELS, direction, sums, peaks, 2)
    move = plain.dual.affine(plain.signs * (plain.rows @ direction))
    plain.second[0][...], plain.second[1][...] = second = plain.dual.second_order(move)
    check_variables(state, plain, "second_low" + " second_high" * plain.dual.is_bounded)
    taken = plain.signs * plain.dual.spread * plain.dual.corrector(*second)
    close(sums.sum(axis=0), [*(plain.rows.T @ taken), *plain.dual.products(move)])
    assert peaks.max() == pytest.approx(plain.dual.blocked(move), rel=1e-12)


def test_final_refine_and_update(case) -> None:
    state, plain = case
    dual, second = plain.dual, plain.second
    direction = np.linspace(-1.0, 2.0, plain.rows.shape[1])
    sums, taken, values = (np.zeros((2, k)) for k in (len(direction), len(direction), 4))
    peaks = np.zeros(2)
    state.passes.final(*PANELS, direction, TAU, sums, peaks, 2)
    plain.change[...] = plain.signs * (plain.rows @ direction)
    move = dual.corrected(plain.change, second, TAU)
    close(sums.sum(axis=0), plain.rows.T @ (plain.signs * move.alpha))
    assert peaks.max() == pytest.approx(dual.blocked(move), rel=1e-12)

    state.passes.refine(*PANELS, TAU, 0.4, taken, 2)
    low, high = dual.off_centre(move, 0.4, TAU)
    second[0][...] -= low
    if dual.is_bounded:
        second[1][...] += high
    want = plain.rows.T @ (plain.signs * dual.spread * dual.corrector(-low, high))
    close(taken.sum(axis=0), want)

    state.passes.update(*PANELS, TAU, 0.01, values, 2)
    move = dual.corrected(plain.change, second, TAU)
    dual.take(move, 0.01)
    dual.margin[...] += 0.01 * plain.change
    check_variables(state, plain, "alpha low margin room high")
    close(values.sum(axis=0), [*value_sums(plain), dual.products(move)[0]])


def test_panels_have_the_sums_of_their_own_rows(case) -> None:
    state, plain = case
    twin = copy.deepcopy(state.row_variables)
    direction = np.linspace(-1.0, 2.0, plain.rows.shape[1])
    width, (start, stop, size) = len(direction), PANELS
    together, apart = np.zeros((2, 2, width + 3)), np.zeros((2, 2, width + 3))
    peaks = np.zeros((2, 2))
    state.passes.measure(*PANELS, direction, together[0], 3)
    state.passes.affine(*PANELS, direction, together[1], peaks[0], 3)
    state.row_variables[...] = twin
    for panel, first in enumerate(range(start, stop, size)):
        rows = first, min(first + size, stop), size
        part = slice(panel, panel + 1)
        state.passes.measure(*rows, direction, apart[0, part], 1)
        state.passes.affine(*rows, direction, apart[1, part], peaks[1, part], 1)
    np.testing.assert_array_equal(together, apart)
    np.testing.assert_array_equal(peaks[0], peaks[1])
    assert not np.array_equal(together[0, 0], together[0, 1])


def test_huge_margins_have_small_coefficients() -> None:
    state, _ = setting("hinge", np.asarray)
    state.row_variables[4] = 1e200
    state.passes.scaled(0, N, (1e-3, 0.0), np.zeros(3 * D + 3), np.zeros((N, D + 1)))
    assert np.all(state.row_variables[:4] > 0.0)
    assert np.isfinite(state.row_variables[:4]).all()


def passes(values=None, structure=(None, None), shape=(4, 2), **other) -> core.InteriorPasses:
    values = np.zeros(shape) if values is None else values
    signs = np.ones(other.get("signs", 4), np.int8)
    variables = np.ones(other.get("variables", (8, 4)))
    costs = np.ones(other["costs"]) if "costs" in other else None
    return core.InteriorPasses(
        core.RowsView(values, *structure, *shape),
        core.InteriorArrays(signs, costs, variables),
        core.PathProgram(1.0, 0.0, 1.0),
        1.0,
        0.0,
    )


SHORT, LONG = np.zeros(3, np.int16), np.zeros(5, np.int32)
RULE = (1.0, 0.0)  # of a matrix: tau, and the least weight


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": np.zeros((4, 2), np.int32)}, "must be float32 or float64"),
        ({"values": np.zeros((3, 2))}, "values has 6 entries, not 8"),
        ({"shape": (-1, 2), "values": np.zeros((0, 2))}, "must have a shape"),
        ({"signs": 3}, "signs has 3 entries, not 4"),
        ({"costs": 3}, "costs has 3 entries"),
        ({"variables": (7, 4)}, r"must have shape \(8, n_rows\)"),
        ({"variables": (8, 3)}, r"must have shape \(8, n_rows\)"),
        ({"values": np.zeros(3), "structure": (SHORT, LONG)}, "column indices must be int32"),
        ({"values": np.zeros(3), "structure": (SHORT.astype("i4"), None)}, "need their offsets"),
        (
            {"values": np.zeros(3), "structure": (SHORT.astype("i4"), LONG.astype("i2"))},
            "row offsets must be int32",
        ),
        (
            {"values": np.zeros(3), "structure": (SHORT.astype("i8"), LONG[:3])},
            "the row offsets has 3 entries, not 5",
        ),
        (
            {"values": np.zeros(2), "structure": (SHORT.astype("i4"), LONG)},
            "the column indices has 3 entries, not 2",
        ),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        passes(**arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("settle", (0, 5, 4, 1.0, 1), "no such rows"),
        ("settle", (-1, 2, 4, 1.0, 1), "no such rows"),
        ("settle", (0, 4, 0, 1.0, 1), "a panel must have rows"),
        ("search", (3, 2, 4, 1.0, 1.0, np.zeros((1, 1)), 1), "no such rows"),
        ("search", (0, 4, 3, 1.0, 1.0, np.zeros((1, 1)), 1), "panels' sums has 1 entries, not 2"),
        ("measure", (0, 4, 4, np.zeros(3), np.zeros((1, 5)), 1), "the weights has 3 entries"),
        ("measure", (0, 4, 4, np.zeros(2), np.zeros((1, 4)), 1), "the sums has 4 entries, not 5"),
        (
            "affine",
            (0, 4, 4, np.zeros(2), np.zeros((1, 4)), np.zeros(1), 1),
            "the sums has 4 entries, not 5",
        ),
        (
            "affine",
            (0, 4, 4, np.zeros(2), np.zeros((1, 5)), np.zeros(2), 1),
            "the peaks has 2 entries, not 1",
        ),
        (
            "final",
            (0, 4, 4, np.zeros(2), 1.0, np.zeros((1, 3)), np.zeros(1), 1),
            "the sums has 3 entries, not 2",
        ),
        (
            "final",
            (0, 4, 4, np.zeros(2), 1.0, np.zeros((1, 2)), np.zeros(0), 1),
            "the peaks has 0 entries, not 1",
        ),
        (
            "trial",
            (0, 4, 4, np.zeros(1), (1.0, 1.0), np.zeros((1, 1)), 1),
            "direction has 1 entries",
        ),
        ("refine", (0, 4, 4, 1.0, 1.0, np.zeros((1, 1)), 1), "the sums has 1 entries"),
        ("update", (0, 4, 4, 1.0, 1.0, np.zeros((1, 3)), 1), "the sums has 3 entries, not 4"),
        ("scaled", (0, 4, RULE, np.zeros(6), np.zeros((3, 2))), "too few scaled rows"),
        ("scaled", (0, 4, RULE, np.zeros(6), np.zeros((4, 3))), "a scaled row has 3"),
        ("scaled", (0, 4, RULE, np.zeros(7), np.zeros((4, 2))), "the sums has 7 entries, not 6"),
        ("outer", (0, 4, RULE, np.zeros(7), np.zeros((2, 2))), "the sums has 7 entries, not 6"),
        ("outer", (0, 4, RULE, np.zeros(6), np.zeros((2, 3))), "the matrix has 3"),
        ("outer", (0, 4, RULE, np.zeros(6), np.zeros((3, 2))), "the matrix has 3"),
    ],
)
def test_calls_that_do_not_fit_are_refused(name: str, arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(passes(), name)(*arguments)
