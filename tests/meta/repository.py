"""Where the checkout is and which files belong to it, for the tests that read sources."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def files(*suffixes: str) -> list[Path]:
    """Return the files that are or are about to be under version control.

    Parameters
    ----------
    *suffixes : str
        Endings such as ``".py"``; without any, all files.

    Returns
    -------
    list of Path
        Absolute paths, sorted; never empty.
    """
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout: which files belong to the project is not known")
    names = sorted({name for name in listing.stdout.split("\0") if name})
    paths = [ROOT / name for name in names if not suffixes or name.endswith(suffixes)]
    present = [path for path in paths if path.is_file()]
    assert present, f"no file ends with {suffixes}"
    return present
