"""How fast threads read memory: a compiled sum over an array that no cache holds."""

from __future__ import annotations

import ctypes
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.micro.kernels import compile_to

_SOURCE = Path(__file__).with_name("bandwidth.cpp")
_BYTES_AHEAD = (0, 512, 1024, 2048, 4096)  # whichever this machine likes best counts
_USUAL_AHEAD = 2048


class Bandwidth:
    """Reads an array in every way that it knows, as often as it is asked to.

    Parameters
    ----------
    n_bytes : int
        Size of the array: of what is compared with it, as caches may hold a part.
    """

    def __init__(self, n_bytes: int) -> None:
        with tempfile.TemporaryDirectory(prefix="hinge-bench-") as folder:
            library = Path(folder) / "bandwidth.so"
            compile_to(library, _SOURCE, ["-march=native", "-shared", "-fPIC"])
            self._read = ctypes.CDLL(str(library)).read_all
        self._read.restype = ctypes.c_double
        self._read.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
        self._values = np.ones(max(1, n_bytes // 8))
        self.best = 0.0

    def measure(self) -> None:
        """Read everything once in each way; ``best`` is the largest rate so far, in bytes/s."""
        for ahead in _BYTES_AHEAD:
            began = time.process_time()
            self._read(self._values.ctypes.data, len(self._values), ahead)
            seconds = max(time.process_time() - began, 1e-9)  # the clock may not have moved
            self.best = max(self.best, self._values.nbytes / seconds)

    def read(self, threads: int) -> float:
        """Read everything once, shared out among threads; return the sum.

        Parameters
        ----------
        threads : int
            How many threads read a part each.
        """
        length = len(self._values) // threads
        starts = range(0, threads * length, length)

        def part(start: int) -> float:
            at = self._values.ctypes.data + start * self._values.itemsize
            return float(self._read(at, length, _USUAL_AHEAD))

        with ThreadPoolExecutor(threads) as pool:
            return sum(pool.map(part, starts))
