"""The benchmark of small data: both are timed and judged by the same certificates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.promises import small


def test_both_are_timed_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "_CS", (1.0,))
    monkeypatch.setattr(small, "_REPEATS", 1)
    assert small.main(tmp_path, ["small", "--quick"], quick=True) == 0
    record = json.loads((tmp_path / "small.json").read_text())
    assert len(record) == 4
    for result in record.values():
        assert result["theirs"] > 0.0
        assert result["ours"] > 0.0
        assert 0.0 <= result["our_gap"] <= 1e-4
        assert result["their_gap"] >= 0.0
    page = (tmp_path / "small.md").read_text()
    assert page.count("| raw iris") == page.count("| scaled iris") == 2
