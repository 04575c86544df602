"""The compiled core is chosen by CPU, or by the environment variable, or refused in words."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

from hinge import _native
from hinge.kernels import RBF
from hinge.machines.decision import decision_values
from hinge.rows import Rows


def _import_with(level: str | None) -> subprocess.CompletedProcess[str]:
    """Import the core in a fresh process, with HINGE_CPU_LEVEL set as given."""
    environment = {name: value for name, value in os.environ.items() if name != "HINGE_CPU_LEVEL"}
    if level is not None:
        environment["HINGE_CPU_LEVEL"] = level
    script = "from hinge import _native; print(_native.cpu_level, _native.core.cpu_level)"
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("level", _native.cpu_levels)
def test_the_variable_chooses(level: str) -> None:
    run = _import_with(level)
    assert run.stdout.split() == [level, level], run.stderr


@pytest.mark.parametrize("level", [None, ""])
def test_the_highest_level_is_the_default(level: str | None) -> None:
    run = _import_with(level)
    assert run.stdout.split() == [_native.cpu_levels[-1]] * 2, run.stderr


@pytest.mark.parametrize("level", ["v9", "V2", "avx2"])
def test_a_wrong_level_is_refused_with_what_is_possible(level: str) -> None:
    run = _import_with(level)
    assert run.returncode == 1
    last_line = run.stderr.splitlines()[-1]
    assert last_line.startswith(f"ImportError: HINGE_CPU_LEVEL={level!r} asks for a build")
    assert f"Possible here: {', '.join(_native.cpu_levels)}." in last_line


def test_a_level_this_cpu_lacks_is_refused() -> None:
    with pytest.raises(ImportError, match=r"'v3'.*cannot run\. Possible here: v2\."):
        _native._choose("v3", ("v2",))


def test_a_missing_core_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "_LOWEST_LEVELS", ("absent",))
    with pytest.raises(ImportError, match="without its compiled core"):
        _native._import_lowest()


@pytest.mark.skipif(sys.platform != "linux", reason="how names are exported is the linker's matter")
def test_no_name_of_ours_is_exported() -> None:
    """Levels lie in one process, where the loader merges constants that are exported twice."""
    library = ctypes.CDLL(_native.core.__file__)
    library[f"PyInit__core_{_native.cpu_level}"]
    with pytest.raises(AttributeError):
        library["_ZTIN5hinge5OrderE"]  # typeinfo for hinge::Order


def test_a_panel_has_the_size_of_its_own_level() -> None:
    """The lowest level, loaded first, has panels half as long."""
    rng = np.random.default_rng(0)
    support, coef, points = rng.normal(size=(100, 3)), rng.normal(size=100), rng.normal(size=(7, 3))
    found = decision_values(RBF(gamma=0.5), Rows(support), coef, Rows(points))
    squares = ((points[:, None, :] - support[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(found, np.exp(-0.5 * squares) @ coef, rtol=1e-10)
