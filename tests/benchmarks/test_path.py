"""The benchmark of paths: it measures all three methods and says what was given up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.promises import path
from tests.solvers.data import two_clouds


def test_a_page_with_every_value_of_C(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(200, 5, noise=2.0)

    def small(_folder: Any) -> Any:
        return X, np.where(y == 1, 1.0, -1.0)

    monkeypatch.setattr(path, "cached_arrays", lambda *_: tmp_path)
    monkeypatch.setattr(path.arrays, "read", small)
    monkeypatch.setattr(path, "_DATASETS", ("clouds",))
    monkeypatch.setattr(path, "_CS", np.array([0.01, 0.1]))
    monkeypatch.setattr(path, "_TRIED", {"fits": 1e9, "peer": 1e9})
    code = path.main(tmp_path, ["path"])
    page = (tmp_path / "path.md").read_text()
    line = next(text for text in page.splitlines() if text.startswith("| clouds |"))
    assert line.endswith("| yes |" if code == 0 else "| NO |")
    assert ">" not in line  # nothing was given up
    details = page.split("## clouds")[1]
    assert "| 0.01 |" in details
    assert "| 0.1 |" in details
    assert "not tried" not in details


def test_what_is_given_up_is_marked() -> None:
    ours = path._Series([1.0], [2.0])
    fits = path._Series([3.0, 6.0], [2.0, 5.0], is_whole=False)
    peer = path._Series([19.0], [])
    line = path._summary("name", ours, fits, peer)
    assert line == ["name", "1.00", "> 9.00", "> 9.0", "19.00", "19.0", "NO"]
    assert "not tried" in path._details(ours, fits, peer)
