"""Run a command once for each CPU level of the compiled core but the one that is the default.

The default level is what the command meets without this tool; on a machine that runs only one
level there is nothing left to do, which is said.

Usage: python tools/at_lower_cpu_levels.py COMMAND [ARGUMENT ...]
"""

from __future__ import annotations

import os
import subprocess
import sys

from hinge import _native


def main(command: list[str]) -> int:
    """Run the command per level; return the first exit status that is not zero, else zero."""
    if not command:
        print(__doc__, file=sys.stderr)
        return 2
    lower_levels = [level for level in _native.cpu_levels if level != _native.cpu_level]
    if not lower_levels:
        print(f"this machine runs the level {_native.cpu_level} only: nothing to repeat")
    for level in lower_levels:
        print(f"HINGE_CPU_LEVEL={level} {' '.join(command)}", flush=True)
        status = subprocess.call(command, env={**os.environ, "HINGE_CPU_LEVEL": level})
        if status != 0:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
