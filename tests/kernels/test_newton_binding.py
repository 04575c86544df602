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
        "variables": np.zeros((4, ROWS)),
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
        ("variables", np.zeros((4, ROWS - 1))),
        ("variables", np.zeros((3, ROWS))),
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
        passes.measure(start, stop, np.zeros(WIDTH + 1))
    with pytest.raises(ValueError, match="no such rows"):
        passes.shift(start, stop, (0.0, 0.0, 1.0))


def test_targets_of_another_size_are_refused() -> None:
    passes, _ = _passes()
    with pytest.raises(ValueError, match="a vector over the features has 3 entries, not 4"):
        passes.measure(0, ROWS, np.zeros(WIDTH))
    with pytest.raises(ValueError, match="the sums has"):
        passes.gradient(0, ROWS, (0.0, 0.0, 1.0), True, np.zeros(3 * (WIDTH + 1)))
    with pytest.raises(ValueError, match="the changed rows has 1 entries, not 0"):
        passes.scaled(0, ROWS, np.zeros((1, WIDTH + 1)))
    with pytest.raises(ValueError, match="for BLAS"):
        passes.outer(0, ROWS, np.zeros((WIDTH + 1, WIDTH + 1)))


def test_the_gradient_is_that_of_the_losses() -> None:
    passes, parts = _passes()
    weights = np.array([0.5, -0.2, 0.1, 0.3])
    passes.measure(0, ROWS, weights)
    sums = np.zeros(3 * (WIDTH + 1) + 6)
    passes.gradient(0, ROWS, (0.0, 0.0, 1.0), True, sums)
    rows = np.column_stack((parts["values"], np.ones(ROWS)))
    depth = np.maximum(0.0, 1.0 - parts["signs"] * (rows @ weights))
    np.testing.assert_allclose(sums[:4], -2.0 * rows.T @ (parts["signs"] * depth), rtol=1e-12)
    np.testing.assert_allclose(sums[4:8], 2.0 * (depth > 0) @ np.square(rows), rtol=1e-12)
    np.testing.assert_allclose(sums[-6], np.sum(np.square(depth)), rtol=1e-12)
