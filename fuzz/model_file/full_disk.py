"""Save to disks that are too small by any number of pages; the old file must survive.

Usage: python -m fuzz.model_file.full_disk      (as root, or under unshare -rm)

For every size of a small tmpfs, from one that hardly holds the old file to one that holds both, a
larger model is saved over a smaller one.
"""

from __future__ import annotations

import errno
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import hinge
from hinge.models import load, save

PAGE = 4096


def main() -> int:
    """Try every size, and say what came of it."""
    X, y = np.random.default_rng(0).normal(size=(30, 4)), np.arange(30) % 2
    small, large = (hinge.LinearSVC(C=C).fit(X, y) for C in (1.0, 2.0))
    large.feature_names_in_ = np.array([f"{'name' * 3000}{k}" for k in range(4)], dtype=object)
    refused = succeeded = broken = 0
    with tempfile.TemporaryDirectory() as folder:
        mounted = Path(folder)
        for pages in range(3, 40):
            command = ["mount", "-t", "tmpfs", "-o", f"size={pages * PAGE}", "tmpfs", folder]
            if subprocess.run(command, check=False).returncode:
                print("cannot mount a tmpfs here; run as root or under unshare -rm")
                return 2
            try:
                path = mounted / "model.hinge"
                save(small, path)
                before = path.read_bytes()
                try:
                    save(large, path)
                    succeeded += 1
                    broken += load(path).C != 2.0
                except OSError as error:
                    refused += 1
                    broken += error.errno != errno.ENOSPC or error.filename != str(path.resolve())
                    broken += path.read_bytes() != before
                broken += [entry.name for entry in mounted.iterdir()] != ["model.hinge"]
            finally:
                subprocess.run(["umount", folder], check=True)
    print(f"full disk: {refused} saves refused with the old file intact, {succeeded} succeeded")
    print(f"broken promises: {broken}")
    return int(broken > 0 or not refused or not succeeded)


if __name__ == "__main__":
    sys.exit(main())
