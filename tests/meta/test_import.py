"""What ``import hinge`` does to the process: little is loaded, nothing is changed."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

LOADED_ON_USE = {"dask", "jinja2", "matplotlib", "onnx", "pandas", "polars", "pyarrow", "rich"}
LOADED_ON_USE |= {"typer", "hypothesis", "pytest", "clarabel"}

FLOATING_POINT_SCRIPT = """
import ctypes, ctypes.util

libm = ctypes.CDLL(ctypes.util.find_library("m"))

def control():
    # glibc's fenv_t on x86-64: the x87 words, then MXCSR in the last four of 32 bytes. The lowest
    # six bits of MXCSR record exceptions that arithmetic raised; they are not settings.
    environment = (ctypes.c_uint32 * 8)()
    assert libm.fegetenv(environment) == 0
    return environment[0] & 0xFFFF, environment[7] & ~0x3F

before = control()
import hinge
from hinge import _native
after = control()
assert before[1] & 0x8040 == 0, "denormals were flushed before hinge came"
print(before == after)
"""


def _run(script: str) -> str:
    command = [sys.executable, "-W", "error", "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def _packages_loaded_by(module: str) -> set[str]:
    script = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    return set(_run(script).split())


def test_heavy_modules_are_loaded_on_use_only() -> None:
    # scikit-learn itself loads some of these where they are installed.
    added = _packages_loaded_by("hinge") - _packages_loaded_by("sklearn.svm")
    assert "hinge" in added
    assert sorted(LOADED_ON_USE & added) == []


def test_denormals_survive() -> None:
    script = (
        "import numpy as np, hinge\n"
        "from hinge import _native\n"
        "tiny = np.full(64, 5e-324)\n"
        "print(bool((tiny * 1.0 != 0.0).all()), float('5e-324') / 1.0 != 0.0)"
    )
    assert _run(script) == "True True"


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the layout of the floating-point environment is known for x86-64 Linux only",
)
def test_floating_point_control_is_unchanged() -> None:
    assert _run(FLOATING_POINT_SCRIPT) == "True"


def test_importing_prints_and_warns_nothing() -> None:
    command = [sys.executable, "-W", "error", "-c", "import hinge"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_files_and_models_are_loaded_when_asked_for() -> None:
    script = (
        "import sys, hinge;"
        "late = lambda: {m for m in ('hinge.data', 'hinge.models') if m in sys.modules};"
        "before = late(); hinge.save, hinge.data.read;"
        "print(sorted(before), sorted(late()), set(hinge.__all__) <= set(dir(hinge)))"
    )
    assert _run(script) == "[] ['hinge.data', 'hinge.models'] True"


def test_solvers_of_kernel_machines_are_loaded_with_them() -> None:
    script = (
        "import sys, hinge;"
        "late = ('hinge.solvers.kernel', 'hinge.machines.kernel', 'hinge.certificates.kernel_');"
        "loaded = lambda: any(m.startswith(late) for m in sys.modules);"
        "before = loaded(); hinge.SVC; print(before, loaded())"
    )
    assert _run(script) == "False True"


def test_paths_are_loaded_with_what_walks_them() -> None:
    script = (
        "import sys, hinge;"
        "loaded = lambda: 'hinge.solvers.path_walk' in sys.modules;"
        "before = loaded(); hinge.LinearSVCCV, hinge.path, hinge.estimators.FoldEvent;"
        "print(before, loaded())"
    )
    assert _run(script) == "False True"


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    assert _run("import hinge; print(hasattr(hinge, 'svc'))") == "False"
