"""Compile ``kernels.cpp`` for each CPU level and run it: nanoseconds per row kernel."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

_SOURCE = Path(__file__).with_name("kernels.cpp")
_INCLUDE = Path(__file__).parents[2] / "cpp" / "include"
# The flags of the extension module, see cpp/compile_options.cmake.
_FLAGS = ["-std=c++20", "-O3", "-ffp-contract=off", "-fopenmp-simd", f"-I{_INCLUDE}"]
_LEVELS = {"x86_64": ("x86-64-v2", "x86-64-v3"), "AMD64": ("x86-64-v2", "x86-64-v3")}


def compile_to(target: Path, source: Path, flags: list[str]) -> None:
    """Compile a file as the extension module is compiled, with these flags besides."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        message = "No C++ compiler was found. Install one, or set CXX to it."
        raise FileNotFoundError(message)
    subprocess.run([compiler, *_FLAGS, *flags, str(source), "-o", str(target)], check=True)


def measure(level: str | None) -> dict[str, dict[str, float]]:
    """Return the measurements of one CPU level by name."""
    march = [f"-march={level}"] if level else []
    with tempfile.TemporaryDirectory(prefix="hinge-bench-") as folder:
        program = Path(folder) / "kernels"
        compile_to(program, _SOURCE, march)
        output = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in output.splitlines()]
    return {line.pop("name"): line for line in lines}


def main() -> int:
    """Measure every level that this processor may have and print a table."""
    levels = _LEVELS.get(platform.machine(), (None,))
    results = {level or "native": measure(level) for level in levels}
    names = next(iter(results.values()))
    print(f"{'nanoseconds per row':34s}" + "".join(f"{level:>12s}" for level in results))
    for name in names:
        cells = "".join(f"{found[name]['nanoseconds']:12.1f}" for found in results.values())
        print(f"{name:34s}{cells}")
    return 0
