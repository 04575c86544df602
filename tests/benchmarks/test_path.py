"""The benchmark of paths: it measures all three methods and says what was given up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.promises import path
from benchmarks.suite import arrays
from tests.solvers.data import two_clouds


@pytest.fixture
def clouds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two values of C on a small set; returns the folder of the results."""
    X, y = two_clouds(200, 5, noise=2.0)
    arrays.write(tmp_path / "clouds", X, np.where(y == 1, 1.0, -1.0))
    monkeypatch.setattr(path, "cached_arrays", lambda *_: tmp_path / "clouds")
    monkeypatch.setattr(path, "_DATASETS", ("clouds",))
    monkeypatch.setattr(path, "_CS", np.array([0.01, 0.1]))
    monkeypatch.setattr(path, "_TRIED", {"fits": 1e9, "peer": 1e9})
    monkeypatch.setattr(path, "peer_fit", _fit_in_this_process)
    return tmp_path


def _fit_in_this_process(folder: Path, C: float, iterations: int, _limit: float) -> Any:
    path.fit_here(str(folder), C, iterations, 1e6, str(folder / "fit.npz"))
    with np.load(folder / "fit.npz") as stored:
        return float(stored["seconds"]), stored["coef"], float(stored["intercept"])


def test_a_page_with_every_value_of_C(clouds: Path) -> None:
    code = path.main(clouds, ["path"])
    page = (clouds / "path.md").read_text()
    line = next(text for text in page.splitlines() if text.startswith("| clouds |"))
    assert line.endswith("| yes |" if code == 0 else "| NO |")
    assert ">" not in line  # nothing was given up
    details = page.split("## clouds")[1]
    assert "| 0.01 |" in details
    assert "| 0.1 |" in details
    assert "not tried" not in details


def test_what_was_measured_is_not_measured_again(
    clouds: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(path, "peer_fit", cut_short)
        with pytest.raises(KeyboardInterrupt):
            path.main(clouds, ["path"])
    before = json.loads((clouds / "path.json").read_text())
    assert list(before) == ["clouds path"]
    path.main(clouds, ["path"])
    after = json.loads((clouds / "path.json").read_text())
    assert list(after) == ["clouds path", "clouds peer", "clouds fits"]
    assert after["clouds path"] == before["clouds path"]


def test_a_peer_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    X, y = two_clouds(200, 5, noise=2.0)
    arrays.write(tmp_path, X, np.where(y == 1, 1.0, -1.0))
    assert path.peer_fit(tmp_path, 1e6, 10**9, limit=0.05) is None


def test_what_is_given_up_is_marked() -> None:
    ours = path._Series([1.0], [2.0])
    fits = path._Series([3.0, 6.0], [2.0, 5.0], is_whole=False)
    peer = path._Series([19.0], [])
    line = path._summary("name", ours, peer, fits)
    assert line == ["name", "1.00", "> 9.00", "> 9.0", "19.00", "19.0", "NO"]
    assert "not tried" in path._details(ours, peer, fits)
