"""Promises of kernel machines: growth, memory, and gaps that are told as they are."""

from __future__ import annotations

import math

import pytest
from benchmarks.kernel import extremes, growth, memory
from benchmarks.kernel.contest import certificate_seconds, seconds


def test_the_exponent_of_what_grows_like_a_power() -> None:
    rows = [
        {
            "n_rows": n,
            "threads": 1,
            "fit_seconds": [2e-6 * n**1.7 + 0.2, 10.0],
            "fit_processor_seconds": [1e-6 * n**1.7 + 0.1, 9.0],
            "certificate_seconds": [0.2, 0.2],
        }
        for n in (100, 1000, 4000)
    ]
    assert seconds(rows[0]) == pytest.approx(1e-6 * 100**1.7)
    assert seconds(rows[0], on_wall=True) == pytest.approx(2e-6 * 100**1.7)
    assert certificate_seconds(rows[0]) == pytest.approx(0.1)
    assert growth.exponent(rows) == pytest.approx(1.7)
    assert growth.exponent(rows[:1]) is None


def test_memory_beyond_cache_and_data_breaks_the_promise() -> None:
    row = {"outcome": "finished", "cache_mb": 50, "data_bytes": 2**20}
    allowed = memory.allowed_bytes(row)
    assert allowed == pytest.approx(56 * 2**20)
    assert memory.is_kept(row | {"peak_bytes_beyond_arrays": int(allowed)})
    assert not memory.is_kept(row | {"peak_bytes_beyond_arrays": int(allowed) + 1})
    assert not memory.is_kept(row | {"outcome": "failed"})


def test_gaps_that_are_told_must_be_those_that_are_recomputed() -> None:
    assert extremes.is_same(1e-3, 1e-3 * (1.0 + 1e-12))
    assert not extremes.is_same(1e-3, 1.001e-3)
    assert extremes.is_same(math.inf, math.inf)
    assert not extremes.is_same(1e-3, math.inf)
