"""The benchmark of margin bounds: whole tables of a small set, and nothing measured twice."""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.bounds import (
    command,
    descent,
    gaussians,
    page,
    penalty,
    pictures,
    sampled,
    sets,
)
from benchmarks.bounds.record import Record
from tests.solvers.data import two_clouds

from hinge import Problem
from hinge.problem import C_from_lambda


def small_split() -> tuple[Any, Any, Any, Any]:
    X, labels = two_clouds(400, 5, noise=1.5)
    y = np.where(labels == 1, 1.0, -1.0)
    return X[:300], y[:300], X[300:], y[300:]


SMALL = sets.PaperSet("mnist", "two clouds", 1e-2, 1e-2, small_split)


def options(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_options(parser)
    return parser.parse_args(words)


def test_every_table_of_a_small_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sets, "SETS", (SMALL,))
    monkeypatch.setattr(command, "SETS", (SMALL,))
    monkeypatch.setattr(gaussians, "COUNT", 500)
    monkeypatch.setattr(pictures, "COUNT", 500)
    monkeypatch.setattr(sampled, "_MOST_DRAWN", 10**5)
    words = ("--quick", "--sets", "mnist", "--steps", "20", "--output", str(tmp_path))
    assert command.main(options(*words), ["bounds"], tmp_path) == 0
    tables = json.loads((tmp_path / "bounds.json").read_text())["tables"]
    assert set(tables) == set(command.TABLES)
    assert {row["eps"] for row in tables["table2"].values()} == set(descent.EPSILONS[:2])
    for row in tables["table2"].values():
        assert 0.0 < row["examined"] <= 1.0
        assert row["plain_seconds"] > 0.0
    assert {row["k"] for row in tables["table3"].values()} == set(sampled.BATCHES)
    text = (tmp_path / "bounds.md").read_text()
    for row in tables["passes"].values():
        assert row["bytes"] > 300 * 5 * 8
        assert row["memory"] > 0.0
    assert sum(row["fastest"] for row in tables["passes"].values()) >= 1
    for title in ("The pass", "Figure 3", "Table 2", "Table 3", "Rows examined"):
        assert f"## {title}" in text
    for kind in ("gaussians", "examined", "speedups"):
        assert (tmp_path / f"bounds-{kind}.png").exists()

    def refuse(*_: Any) -> Any:
        message = "measured twice"
        raise AssertionError(message)

    for module, name in ((gaussians, "figure3"), (descent, "table2"), (sampled, "table3")):
        monkeypatch.setattr(module, name, refuse)
    assert command.main(options(*words), ["bounds"], tmp_path) == 0


def test_a_run_without_bounds_that_is_timed_in_part_is_marked(tmp_path: Path) -> None:
    rows = dict(descent.table2(SMALL, (1e-3, 1e-5), every=3))
    last = rows["mnist 1e-05"]
    assert last["plain_seconds"] > rows["mnist 0.001"]["plain_seconds"]
    record = Record(tmp_path / "bounds.json", ["bounds"])
    record.keep("table2", "mnist 1e-05", last)
    page.write(record, tmp_path)
    assert "(1 in 3)" in (tmp_path / "bounds.md").read_text()


def test_stretches_take_the_steps_of_the_run_beside_them() -> None:
    X, y, _, _ = small_split()
    problem = descent.problem_of(SMALL, X, y)
    run = descent.Runner(problem, "trajectory", 0.0)
    plain = descent.Stretches(problem, 0.0, every=4)
    for _ in range(9):
        plain.advance(run)
        for _ in run.advance(20, ()):
            pass
    assert plain.turn == 9  # of which 0 to 4 and 8 were run
    assert plain.run.state.steps == run.state.steps
    np.testing.assert_allclose(plain.run.state.vector, run.state.vector, rtol=1e-6)


def test_turns_without_stored_margins_have_the_bits_of_the_run_beside_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sampled, "EVERY", 3)
    monkeypatch.setattr(sampled, "_WORK", 1)  # a call does one step
    monkeypatch.setattr(sampled.time, "process_time", itertools.count().__next__)
    X, y, _, _ = small_split()
    problem = Problem(X, y, C=C_from_lambda(1e-2, len(y)), intercept="none")
    both = sampled.SideBySide(problem, 10, seed=0)
    # Turns of ten steps, of which one in three is run; some calls store margins instead.
    times = both.advance(1005)
    assert times.steps == both.pruned.steps == 1005
    assert times.every == 3
    assert both.pruned.state.run.refreshes > 0
    assert times.plain > both.plain.seconds > both.plain.setup
    both.plain.go_to(both.pruned)
    for run in (both.plain, both.pruned):
        while run.steps < 1105:
            run.advance(1105)
    mine, its = both.plain.state, both.pruned.state
    assert mine.vectors[0].tobytes() == its.vectors[0].tobytes()
    assert mine.numbers[0] == its.numbers[0]


def test_what_another_machine_has_measured_is_measured_anew(tmp_path: Path) -> None:
    record = Record(tmp_path / "bounds.json", ["bounds"])
    record.keep("table2", "mnist 1e-05", {"seconds": 1.0})
    assert Record(tmp_path / "bounds.json", ["bounds"]).rows("table2")
    kept = json.loads((tmp_path / "bounds.json").read_text())
    (tmp_path / "bounds.json").write_text(json.dumps({**kept, "machine": "an abacus"}))
    assert not Record(tmp_path / "bounds.json", ["bounds"]).rows("table2")


def test_the_penalty_with_the_fewest_errors_is_the_largest_of_several(tmp_path: Path) -> None:
    rows = dict(penalty.held_out_errors(SMALL))
    assert [row["penalty"] for row in rows.values()] == [10.0**k for k in range(2, -11, -1)]
    assert all(0 <= row["errors"] <= row["held_out"] == 60 for row in rows.values())
    record = Record(tmp_path / "bounds.json", ["bounds"])
    for errors, key in zip((9, 3, 3, 4), list(rows)[3:], strict=False):
        record.keep("penalty", key, {**rows[key], "errors": errors})
    page.write(record, tmp_path)
    assert "here 0.01." in (tmp_path / "bounds.md").read_text()


def test_images_stand_at_every_place_of_the_frame() -> None:
    images = np.linspace(-1.0, 1.0, 2 * 256).reshape(2, 256)
    rows = sets.shifted_images(images)
    assert rows.shape == (2 * 121, 676)
    assert rows.dtype == np.float32
    squares = rows.reshape(2, 11, 11, 26, 26)
    np.testing.assert_allclose(
        squares[1, 3, 7, 3:19, 7:23].ravel(), (images[1] + 1.0) / 2.0, rtol=1e-6
    )
    assert np.count_nonzero(squares[0, 0, 0, 16:, :]) == 0


def test_an_unknown_set_is_named() -> None:
    with pytest.raises(ValueError, match="There is no set 'rcv1'; there are: covtype"):
        sets.find_set("rcv1")
