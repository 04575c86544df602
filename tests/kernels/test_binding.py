"""The compiled core refuses arrays that do not belong together, whoever made them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.data import two_clouds

from hinge import Problem
from hinge._native import core
from hinge.solvers import DualCoordinate

X, Y = two_clouds(10, 4)


def _parts(sparse: bool = False) -> dict[str, object]:
    """Return everything that a run is made of, fresh."""
    problem = Problem(two_clouds(10, 4, sparse=sparse)[0], Y, intercept="none")
    state = DualCoordinate().start(problem)
    rows = problem.rows
    columns, offsets = (rows.indices, rows.indptr) if sparse else (None, None)
    return {
        "values": rows.values,
        "columns": columns,
        "offsets": offsets,
        "count": 10,
        "width": 4,
        "costs": np.ones(1),
        **{name: getattr(state, name).copy() for name in _ARRAYS},
    }


_ARRAYS = ("rows", "best_margins", "order", "vectors", "random", "counters", "numbers")


def _run(parts: dict[str, object]) -> object:
    matrix = core.RowsView(*(parts[k] for k in ("values", "columns", "offsets", "count", "width")))
    program = core.DualProgram(linear=1.0, curvature=0.0, reach=1.0, constant=0.0, scale=0.0)
    arrays = core.DualArrays(**{name: parts[name] for name in _ARRAYS})
    run = core.DualCoordinateRun(matrix, parts["costs"], program, core.DualSchedule(), arrays)
    run.start(warm=False)
    return run


@pytest.mark.parametrize("sparse", [False, True])
def test_parts_that_belong_together_run(sparse: bool) -> None:
    run = _run(_parts(sparse))
    assert run.advance(100_000) > 0
    assert run.sweeps > 0


@pytest.mark.parametrize("name", _ARRAYS)
def test_arrays_of_a_wrong_length_are_refused(name: str) -> None:
    for change in (lambda a: a[:-1].copy(), lambda a: np.concatenate([a, a])):
        parts = _parts()
        parts[name] = change(parts[name])
        with pytest.raises(ValueError, match=r"entries|shape"):
            _run(parts)


@pytest.mark.parametrize("name", _ARRAYS)
def test_arrays_of_a_wrong_kind_are_refused(name: str) -> None:
    array = np.asarray(_parts()[name])
    frozen = array.copy()
    frozen.flags.writeable = False
    wrong = {
        "type": array.astype(np.float32),
        "dimensions": array[None],
        "order": np.repeat(array, 2, axis=0)[::2],
        "read-only": frozen,
        "none": None,
    }
    for array in wrong.values():
        parts = _parts()
        parts[name] = array
        with pytest.raises(TypeError):
            _run(parts)


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 11},
        {"count": -1},
        {"count": 2**62},
        {"width": 5},
        {"width": -1},
        {"costs": np.ones(3)},
        {"costs": np.ones(0)},
        {"values": X[:-1].copy()},
        {"values": X.astype(np.int64)},
        {"values": X.astype(np.float16)},
    ],
)
def test_dense_rows_that_do_not_fit_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError)):
        _run({**_parts(), **changes})


@pytest.mark.parametrize(
    "change",
    [
        lambda p: {"offsets": None},  # noqa: ARG005
        lambda p: {"offsets": p["offsets"][:-1].copy()},
        lambda p: {"offsets": p["offsets"].astype(np.int16)},
        lambda p: {"offsets": p["offsets"].astype(np.float64)},
        lambda p: {"columns": p["columns"][:-1].copy()},
        lambda p: {"columns": p["columns"].astype(np.int16)},
        lambda p: {"columns": p["columns"].astype(np.uint32)},
        lambda p: {"values": p["values"].astype(np.int32)},
    ],
)
def test_sparse_rows_that_do_not_fit_are_refused(change) -> None:
    parts = _parts(sparse=True)
    with pytest.raises((ValueError, TypeError)):
        _run({**parts, **change(parts)})


def test_seeds_make_different_generators() -> None:
    words = {tuple(core.seeded_words(seed)) for seed in (0, 1, 2, 2**63, 2**64 - 1)}
    assert len(words) == 5
    assert all(any(state) for state in words)


def test_entries_are_copied_to_where_there_is_room_for_them() -> None:
    X = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    rows = core.RowsView(X, None, None, 3, 3)
    values, columns = np.zeros(3, np.float32), np.zeros(3, np.int32)
    core.copy_entries(rows, 0, np.array([0, 1, 3, 3]), values, columns)
    assert values.tolist() == [2.0, 1.0, 3.0]
    assert columns.tolist() == [1, 0, 2]
    for wrong in ([0, 1, 2, 3], [0, 2, 3, 3], [1, 2, 4, 4], [-1, 0, 2, 2]):
        with pytest.raises(ValueError, match="as many entries as there is room for"):
            core.copy_entries(rows, 0, np.array(wrong), values, columns)
    sparse = core.RowsView(np.ones(1), np.zeros(1, np.int32), np.array([0, 1]), 1, 3)
    with pytest.raises(ValueError, match="the rows must be dense"):
        core.copy_entries(sparse, 0, np.array([0, 1]), values, columns)
