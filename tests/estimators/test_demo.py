"""The demo runs from anywhere, says what it should, and leaves its picture."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.mark.slow
@pytest.mark.parametrize("rich", ["with rich", "without rich"])
def test_demo(tmp_path: Path, rich: str) -> None:
    pytest.importorskip("matplotlib", reason="the demo draws a picture")
    without = "import sys; sys.modules['rich'] = None; " if rich == "without rich" else ""
    script = (
        f"{without}import runpy, sys; sys.path.insert(0, {str(DEMO.parent)!r}); "
        f"runpy.run_path({str(DEMO)!r}, run_name='__main__')"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=300
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("scikit-learn  ") >= 3
    assert "training accuracy" in run.stdout
    assert "98.6%" in run.stdout
    assert "is closer to the optimum" in run.stdout
    assert (tmp_path / "hinge-demo.png").read_bytes()[:4] == b"\x89PNG"
