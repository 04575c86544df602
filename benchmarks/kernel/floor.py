"""The least time that any solver needs: the kernel values of the solution, at full speed.

Whoever knows that a point is optimal has seen the kernel between its support vectors and all rows.
Each value is a product of two rows, 2 d operations at the speed of ``sgemm``, and an exponential;
both speeds are measured here, in the run whose times they stand beside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

_SECONDS = 2.0
_ROOT = Path(__file__).parents[2]
_LIBRARIES = ("OMP", "OPENBLAS", "MKL")


def measured(threads: int) -> dict[str, Any]:
    """Return operations and exponentials per second of NumPy in a process with these threads.

    Exponentials are measured on one thread, which is all that NumPy uses, and multiplied.
    """
    counts = {f"{library}_NUM_THREADS": str(threads) for library in _LIBRARIES}
    environment = os.environ | counts | {"PYTHONPATH": str(_ROOT)}
    command = [sys.executable, "-m", __name__]
    done = subprocess.run(
        command, env=environment, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    found["exponentials"] *= threads
    return found | {"threads": threads}


def floor_seconds(kernel_values: int, n_features: int, speed: dict[str, Any]) -> float:
    """Return the seconds for so many values of a Gaussian kernel between dense rows."""
    products = kernel_values * 2.0 * n_features / float(speed["operations"])
    return products + kernel_values / float(speed["exponentials"])


def _speeds() -> dict[str, float]:
    random = np.random.default_rng(0)
    left = random.normal(size=(2048, 768)).astype(np.float32)
    right = random.normal(size=(768, 4096)).astype(np.float32)
    product = np.empty((2048, 4096), dtype=np.float32)
    values = -random.exponential(size=1 << 16).astype(np.float32)
    out = np.empty_like(values)
    multiplying = _shortest(lambda: np.matmul(left, right, out=product))
    exponentiating = _shortest(lambda: np.exp(values, out=out))
    return {
        "operations": 2.0 * 2048 * 768 * 4096 / multiplying,
        "exponentials": len(values) / exponentiating,
    }


def _shortest(work: Callable[[], Any]) -> float:
    """Return the shortest time of the work, tried for a second or two."""
    shortest, began = np.inf, time.perf_counter()
    while time.perf_counter() - began < _SECONDS:
        start = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - start)
    return float(shortest)


if __name__ == "__main__":
    print(json.dumps(_speeds()))
