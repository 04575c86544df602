"""Run the tests that depend on scikit-learn with each of its versions that hinge promises.

Every version gets an environment of its own, with the wheel of hinge that is given and whatever
NumPy and SciPy pip chooses beside it; environments that are there already are used again. Warnings
are errors, as everywhere. A table of what came of it ends the output.

Usage: python tools/sklearn_versions.py WHEEL FOLDER [VERSION ...]
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("1.6.*", "1.7.*", "1.8.*", "newest")
ESTIMATORS = "tests/estimators"
_PACKAGES = ("scikit-learn", "numpy", "scipy")


def tests_of_sklearn() -> list[str]:
    """Return the folder of estimators, and every other test file that names scikit-learn."""
    named = [
        path.relative_to(ROOT).as_posix()
        for path in sorted((ROOT / "tests").glob("*/test_*.py"))
        if "sklearn" in path.read_text(encoding="utf-8")
    ]
    return [ESTIMATORS, *(path for path in named if not path.startswith(ESTIMATORS))]


def environment(folder: Path, version: str, wheel: Path) -> Path:
    """Return the interpreter of an environment with that scikit-learn, made if it is not there."""
    place = folder / version.replace(".*", "")
    python = place / "bin" / "python"
    if not python.exists():
        venv.create(place, with_pip=True)
        _pip(python, "--upgrade", "pip>=25.1")
    wanted = "scikit-learn" if version == "newest" else f"scikit-learn=={version}"
    _pip(python, "--group", f"{ROOT / 'pyproject.toml'}:test", wanted, f"{wheel}[cli,io,onnx]")
    # The wheel of the same version may hold other files than the one that was installed before.
    _pip(python, "--force-reinstall", "--no-deps", str(wheel))
    return python


def _pip(python: Path, *arguments: str) -> None:
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    subprocess.run([*pip, *arguments], check=True)


def _versions(python: Path) -> str:
    """Return the versions of what matters in an environment, in words."""
    code = "import sys, importlib.metadata as m; print(*(m.version(n) for n in sys.argv[1:]))"
    told = subprocess.run(
        [str(python), "-c", code, *_PACKAGES], check=True, capture_output=True, text=True
    )
    pairs = zip(_PACKAGES, told.stdout.split(), strict=True)
    return ", ".join(f"{name} {version}" for name, version in pairs)


def _tested(python: Path) -> tuple[int, str]:
    """Run the tests in an environment; return their exit status and pytest's last line."""
    command = [str(python), "-W", "error", "-m", "pytest", "-q", *tests_of_sklearn()]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        last = ""
        for line in running.stdout:
            print(line, end="", flush=True)
            last = line.strip(" =\n") or last
    return running.returncode, last


def main(arguments: list[str]) -> int:
    """Try every version; return how many of them failed."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    wheel, folder = Path(arguments[0]).resolve(), Path(arguments[1]).resolve()
    outcomes, failed = [], 0
    for version in arguments[2:] or VERSIONS:
        print(f"scikit-learn {version}", flush=True)
        python = environment(folder, version, wheel)
        status, last = _tested(python)
        failed += status != 0
        outcomes.append(f"{_versions(python)}: {last}")
    print("\n".join(["", *outcomes]))
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
