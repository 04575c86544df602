"""The benchmark of the choice: it compares with every solver and says what is broken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.promises import choice
from tests.solvers.data import two_clouds

from benchmarks import __main__ as program

WORDS = ["clouds", "hinge", "free", "1", "0.001"]


def test_a_page_with_every_combination(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = two_clouds(200, 5, noise=2.0)
    monkeypatch.setattr(choice, "_READERS", {"clouds": lambda: (X, np.where(y == 1, 1, -1))})
    monkeypatch.setattr(program, "_RESULTS", tmp_path)
    words = ["choice", "--losses", "hinge", "--costs", "0.01", "0.1", "--gaps", "0.001"]
    code = program.main(words)
    page = (tmp_path / "choice.md").read_text()
    lines = [text for text in page.splitlines() if text.startswith("| clouds | hinge |")]
    assert len(lines) == 4  # two values of C, two kinds of intercept
    assert code == int(any(line.endswith("| NO |") for line in lines))
    assert "Asked for: 1 of the 1 sets that the command knows, C = 0.01, 0.1, gaps 0.001." in page
    assert "not certified |" not in "".join(lines)


def test_what_keeps_the_promise() -> None:
    def line(auto: float, seconds: float, certified: bool = True) -> choice._Line:
        return choice._Line(WORDS, auto, "newton", certified, "newton", seconds)

    assert line(1.29, 1.0).is_kept
    assert not line(1.31, 1.0).is_kept
    assert line(0.004, 0.002).is_kept  # milliseconds
    assert not line(60.0, 59.0, certified=False).is_kept
    assert choice._Line(WORDS, 60.0, "newton", False).is_kept  # nobody certifies it
    assert line(2.0, 1.0).cells[5:] == ["2.0000", "newton", "newton", "1.0000", "2.00", "NO"]
    told = choice._summary([line(2.0, 1.0), line(1.0, 1.0), line(60.0, 9.0, certified=False)])
    assert told.startswith("Kept in 1 of 3 combinations, in 0 of them only because 3 ms do not")
    even = choice._summary([line(0.004, 0.002), line(0.003, 0.002), line(0.0021, 0.002)])
    assert "in 2 of them only because 3 ms do not count, with ratios up to 2.00; the" in even
    assert told.endswith("`auto` does not: 1.")
