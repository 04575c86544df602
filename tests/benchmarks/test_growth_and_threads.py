"""Benchmarks of growth and threads: what they say of the numbers that they measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.promises import growth, threads
from benchmarks.promises.growth import Fit

from hinge.data import open_shards


def test_the_exponent_of_what_grows_like_a_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def power(fit: Fit) -> dict[str, Any]:
        exponent = 1.2 if fit.source == "shards" else 0.9
        seconds = 1e-6 * fit.n_rows**exponent
        return {"seconds": seconds, "bytes": 80 * fit.n_rows, "gap": 1e-5, "passes": 30.0}

    monkeypatch.setattr(growth, "_in_own_process", power)
    assert growth.main(tmp_path, ["growth"], quick=True) == 1
    page = (tmp_path / "growth.md").read_text()
    assert "| covtype | auto | 0.900 | yes |" in page
    assert "| shards | interior-point | 1.200 | NO |" in page
    assert "| covtype | auto | 20000 | " in page
    assert " | 80 | 1.0e-05 |" in page


def test_a_fit_is_measured_from_a_mapped_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(growth, "cache_folder", lambda: tmp_path)
    found = growth.measured(Fit("shards", 4000, "auto"))
    assert found["gap"] <= 1e-4
    assert found["seconds"] > 0.0
    shards = open_shards(tmp_path / "shards" / "4000x50.hingedata")
    assert shards.X.shape == (4000, 50)
    assert shards.X.dtype == np.float32


def test_one_thread_against_two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(np.cumsum([0.0, 3.2, 0.0, 2.0] * 3))  # begin, end, begin, end
    monkeypatch.setattr(threads.time, "perf_counter", lambda: next(clock))

    def cases(_quick: bool) -> dict[str, Any]:
        return {"sums": lambda: lambda count: [1.0, float(count > 5)]}

    monkeypatch.setattr(threads, "_cases", cases)
    assert threads.main(tmp_path, ["threads"]) == 0
    assert "| sums | 3.2 | 2 | 1.60 | yes | yes |" in (tmp_path / "threads.md").read_text()
    stored = json.loads((tmp_path / "threads.json").read_text())
    assert stored["sums"] == pytest.approx({"one": 3.2, "two": 2.0, "same_bits": True})


def test_other_bits_break_the_promise() -> None:
    assert threads._is_kept({"one": 2.0, "two": 1.0, "same_bits": True})
    assert not threads._is_kept({"one": 2.0, "two": 1.0, "same_bits": False})
    assert not threads._is_kept({"one": 1.5, "two": 1.0, "same_bits": True})


def test_every_case_returns_what_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0, 1.0, -1.0)
    monkeypatch.setattr(threads, "_data", lambda _: (X, y))
    monkeypatch.setattr(threads, "archive", lambda _: {"X_train": X, "y_train": np.arange(200) % 3})
    for prepare in threads._cases(quick=True).values():
        work = prepare()
        assert np.array_equal(work(1), work(2))
