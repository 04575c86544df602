"""Run the Python tests with the compiled core under AddressSanitizer and UBSan.

The core is built as a wheel of its own under ``build/asan`` and laid before the environment's
packages by a small environment, so that the editable install there is neither used nor changed.
Leaks are not counted: the interpreter itself keeps memory until the process ends. Properties are
tried on a few examples each (the profile in tests/conftest.py): many examples run the same code
again, and under sanitizers the whole suite would take hours.

Usage: python tools/sanitized_tests.py [PYTEST_ARGUMENT ...]
   or: python tools/sanitized_tests.py --python PYTHON_ARGUMENT ...
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "asan"
SITE = WORK / "site"
SANITIZERS = "address,undefined"
RUNTIMES = ("libasan.so", "libubsan.so", "libstdc++.so")


def build_site() -> Path:
    """Build the sanitized wheel and unpack it; return the folder that holds the package."""
    wheels = WORK / "wheels"
    for folder in (wheels, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    settings = {
        "build-dir": str(WORK / "cmake"),
        "cmake.build-type": "RelWithDebInfo",
        "cmake.define.HINGE_SANITIZE": SANITIZERS,
    }
    command = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-deps", "--no-build-isolation"]
    command += ["--wheel-dir", str(wheels), str(ROOT)]
    for name, value in settings.items():
        command += ["-C", f"{name}={value}"]
    subprocess.check_call(command)
    (wheel,) = wheels.glob("hinge-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(SITE)
    return SITE


def make_environment(site: Path) -> Path:
    """Return the interpreter of an environment that sees the sanitized package first.

    Folders named in a .pth file are added as they are: the .pth files inside them, and with them
    the hook of the editable install, are not read.
    """
    folder = WORK / "venv"
    venv.create(folder, clear=True, symlinks=True)
    packages = sysconfig.get_path(
        "purelib", "venv", vars={"base": str(folder), "platbase": str(folder)}
    )
    Path(packages, "sanitized.pth").write_text(f"{site}\n{sysconfig.get_path('purelib')}\n")
    return folder / "bin" / "python"


def runtime_libraries() -> str:
    """Return what to preload: the sanitizers, and libstdc++ so that they see its exceptions."""
    compiler = os.environ.get("CXX", "c++")
    paths = []
    for library in RUNTIMES:
        command = [compiler, f"-print-file-name={library}"]
        path = subprocess.check_output(command, text=True).strip()
        if not Path(path).is_absolute():
            message = f"{compiler} does not know where {library} is; install its sanitizer runtimes"
            raise SystemExit(message)
        paths.append(path)
    return " ".join(paths)


def confirm_core(python: Path, site: Path, environment: dict[str, str]) -> None:
    """Stop unless the interpreter loads the core that was just built, sanitizers and all."""
    script = "from hinge import _native; print(_native.core.__file__)"
    command = [str(python), "-c", script]
    core = Path(subprocess.check_output(command, env=environment, text=True).strip())
    if not core.is_relative_to(site) or b"__asan_report" not in core.read_bytes():
        message = f"the tests would run with {core}, which is not the sanitized core in {site}"
        raise SystemExit(message)


def unpacked(argument: str) -> str:
    """Return a pytest argument with the package's sources exchanged for the unpacked package.

    The sources have no compiled core beside them, so their doctests could not be imported.
    """
    prefix = "src/"
    return str(SITE / argument.removeprefix(prefix)) if argument.startswith(prefix) else argument


def run_sanitized(arguments: list[str]) -> int:
    """Run Python with the sanitized core; return its status, or 1 if a sanitizer had to report.

    Parameters
    ----------
    arguments : list of str
        What the interpreter is given, for example ``["-m", "pytest"]``.
    """
    site = build_site()
    python = make_environment(site)
    reports = WORK / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    # AddressSanitizer reports to files, which also catches processes that tests start; UBSan
    # ignores log_path beside it, so pytest must leave file descriptor 2 alone (--capture=sys).
    environment = {
        **os.environ,
        "LD_PRELOAD": runtime_libraries(),
        "ASAN_OPTIONS": f"log_path={reports / 'report'}:detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        # Small Python objects come from malloc, where the sanitizer sees them.
        "PYTHONMALLOC": "malloc",
        "HYPOTHESIS_PROFILE": os.environ.get("HYPOTHESIS_PROFILE", "sanitized"),
    }
    confirm_core(python, site, environment)
    status = subprocess.call([str(python), *arguments], cwd=ROOT, env=environment)
    found = sorted(reports.iterdir())
    for report in found:
        print(report.read_text(errors="replace"), file=sys.stderr)
    print(f"AddressSanitizer reports: {len(found)}")
    return status or int(bool(found))


def main(arguments: list[str]) -> int:
    """Run pytest with these arguments, or after ``--python`` anything else."""
    if arguments[:1] == ["--python"]:
        return run_sanitized(arguments[1:])
    command = ["-m", "pytest", "-p", "no:cacheprovider", "--capture=sys", "-m", "not slow"]
    command += ["-n", os.environ.get("TEST_WORKERS", "2"), "--dist", "loadfile"]
    chosen = arguments or ["tests", "src/hinge"]
    return run_sanitized([*command, *(unpacked(argument) for argument in chosen)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
