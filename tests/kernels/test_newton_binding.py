"""The compiled passes of Newton's method: what they refuse, and what they sum up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hinge._native import core

ROWS, WIDTH = 40, 3


def _passes(**changes: Any) -> tuple[core.NewtonPasses, dict[str, Any]]:
    rng = np.random.default_rng(0)
    parts: dict[str, Any] = {
        "values": rng.normal(size=(ROWS, WIDTH)),
        "signs": np.where(rng.random(ROWS) < 0.5, 1, -1).astype(np.int8),
        "costs": None,
        "squared_norms": np.ones(ROWS),
        "variables": np.zeros((5, ROWS)),
        "is_exact": np.zeros(ROWS, dtype=np.uint8),
    }
    parts.update(changes)
    arrays = core.NewtonArrays(
        *(parts["signs"], parts["costs"], 1.0),
        *(parts["squared_norms"], parts["variables"], parts["is_exact"]),
    )
    view = core.RowsView(parts["values"], None, None, ROWS, WIDTH)
    return core.NewtonPasses(view, arrays, core.LossWindow(1.0, np.inf, 2.0, True), 1.0), parts


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("signs", np.ones(ROWS - 1, dtype=np.int8)),
        ("costs", np.ones(ROWS + 1)),
        ("squared_norms", np.ones(ROWS - 1)),
        ("variables", np.zeros((5, ROWS - 1))),
        ("variables", np.zeros((4, ROWS))),
        ("is_exact", np.zeros(ROWS - 1, dtype=np.uint8)),
    ],
)
def test_arrays_that_do_not_fit_the_rows_are_refused(name: str, array: Any) -> None:
    with pytest.raises(ValueError, match=r"entries, not|must"):
        _passes(**{name: array})


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (0, ROWS + 1), (5, 4)])
def test_rows_that_are_not_there_are_refused(start: int, stop: int) -> None:
    passes, _ = _passes()
    with pytest.raises(ValueError, match="no such rows"):
        passes.measure(start, stop, ROWS, np.zeros(WIDTH + 1), 1)
    with pytest.raises(ValueError, match="no such rows"):
        passes.shift(start, stop, ROWS, (0.0, 0.0, 1.0), np.zeros((1, 3)), 1)


@pytest.mark.parametrize("size", [0, -1])
def test_panels_without_rows_are_refused(size: int) -> None:
    passes, _ = _passes()
    with pytest.raises(ValueError, match="a panel must have rows"):
        passes.measure(0, ROWS, size, np.zeros(WIDTH + 1), 1)


def test_targets_of_another_size_are_refused() -> None:
    passes, _ = _passes()
    width = WIDTH + 1
    with pytest.raises(ValueError, match="a vector over the features has 3 entries, not 4"):
        passes.measure(0, ROWS, ROWS, np.zeros(WIDTH), 1)
    place = (0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="the sums has"):
        passes.gradient(0, ROWS, ROWS, place, True, np.zeros((1, 3 * width)), 1)
    with pytest.raises(ValueError, match="the panels' sums has 1 entries, not 2"):
        passes.gradient(0, ROWS, ROWS - 1, place, True, np.zeros((1, 3 * width + 6)), 1)
    with pytest.raises(ValueError, match="the panels' sums has 1 entries, not 2"):
        passes.product(0, ROWS, ROWS - 1, np.zeros(width), np.zeros((1, width)), 1)
    with pytest.raises(ValueError, match="the panels' sums has 3 entries, not 1"):
        passes.search(0, ROWS, ROWS, place, np.zeros((3, 3)), 1)
    vectors = np.zeros(width), np.zeros(width)
    with pytest.raises(ValueError, match="the sums has 2 entries, not 1"):
        passes.trial(0, ROWS, ROWS, *vectors, place, np.zeros((1, 2)), 1)
    with pytest.raises(ValueError, match="the changed rows has 1 entries, not 0"):
        passes.scaled(0, ROWS, np.zeros((1, width)))
    with pytest.raises(ValueError, match="for BLAS"):
        passes.outer(0, ROWS, np.zeros((width, width)))


@pytest.mark.parametrize("threads", [1, 3])
def test_the_gradient_is_that_of_the_losses(threads: int) -> None:
    passes, parts = _passes()
    weights = np.array([0.5, -0.2, 0.1, 0.3])
    passes.measure(0, ROWS, 3, weights, threads)
    sums = np.zeros((-(-ROWS // 3), 3 * (WIDTH + 1) + 6))
    passes.gradient(0, ROWS, 3, (0.0, 0.0, 1.0), True, sums, threads)
    rows = np.column_stack((parts["values"], np.ones(ROWS)))
    depth = np.maximum(0.0, 1.0 - parts["signs"] * (rows @ weights))
    for panel, found in enumerate(sums):
        some = slice(3 * panel, 3 * panel + 3)
        pull = parts["signs"][some] * depth[some]
        np.testing.assert_allclose(found[:4], -2.0 * rows[some].T @ pull, rtol=1e-12)
        curved = 2.0 * (depth[some] > 0) @ np.square(rows[some])
        np.testing.assert_allclose(found[4:8], curved, rtol=1e-12)
        np.testing.assert_allclose(found[-6], np.sum(np.square(depth[some])), rtol=1e-12)
