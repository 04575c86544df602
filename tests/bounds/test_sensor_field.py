"""The example with a field of sensors runs, saves its picture, and no label is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_example(tmp_path: Path) -> None:
    picture = tmp_path / "field.png"
    words = [sys.executable, ROOT / "examples" / "sensor_field.py", "--ticks", "12"]
    done = subprocess.run(
        [*words, "--picture", picture], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "reads everything: 0." in done.stdout
    assert picture.stat().st_size > 10_000
