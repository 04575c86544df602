"""Whoever judges is not whoever ran: certificates load no solver and no native code."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import hinge.certificates


def test_certificates_work_without_solvers_and_native_code() -> None:
    package = str(Path(hinge.certificates.__file__).parent.parent)
    # An empty stand-in for the package root, which would import everything.
    program = f"""
        import sys, types
        root = types.ModuleType("hinge")
        root.__path__ = [{package!r}]
        sys.modules["hinge"] = root
        import numpy as np
        from hinge.certificates import gap, kkt
        from hinge.problem import Problem
        from hinge.result import Point
        problem = Problem([[1.0], [-1.0]], [1, 0], C=1.0)
        point = Point(np.ones(1), 0.0, np.full(2, 0.5))
        assert gap(problem, point).relative_gap < 1e-12
        assert gap(problem, point).settled([[3.0]]).all()
        assert kkt(problem, point).complementarity == 0.0
        machine = Problem([[1.0], [-1.0]], [1, 0], C=1.0, kernel="rbf")
        assert gap(machine, Point(np.zeros(0), 0.0, np.zeros(2))).primal == 2.0
        loaded = sorted(name for name in sys.modules if name.startswith("hinge."))
        print(*loaded)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "hinge.certificates.gap" in loaded
    forbidden = ("_native", "_core", "solvers", "estimators", "testing", "models")
    assert [name for name in loaded if any(part in name for part in forbidden)] == []
