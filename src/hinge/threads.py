"""How many threads to use, and the guard that keeps the BLAS libraries at one each.

OpenBLAS splits a product differently for every number of its own threads, which changes the last
bits. hinge therefore calls BLAS single-threaded on pieces of a fixed size and shares the pieces
out among its own threads. NumPy and SciPy each load a BLAS of their own and their thread limits
are process-wide, so the guard counts its users: the first one in sets the limits, the last one
out restores them.
"""

from __future__ import annotations

import functools
import numbers
import threading
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

from hinge.errors import InvalidParameterError

_lock = threading.Lock()
_users = 0
_limiter: Any = None
_threads_before: int | None = None


@functools.cache
def _controller() -> ThreadpoolController:
    """Return the one scan of the loaded libraries; a scan costs milliseconds."""
    return ThreadpoolController()


def _pool_threads() -> int:
    """Return the smallest limit that is set on a loaded BLAS or OpenMP library."""
    limits = [library.num_threads for library in _controller().lib_controllers]
    return min((limit for limit in limits if limit), default=1)


class single_threaded_blas:  # noqa: N801 - used like a function, and tens of times in a small fit
    """Hold every BLAS library of the process at one thread while the block runs."""

    def __enter__(self) -> None:
        global _limiter, _threads_before, _users  # noqa: PLW0603 - one count for the whole process
        with _lock:
            if _users == 0:
                _threads_before = _pool_threads()
                _limiter = _controller().limit(limits=1, user_api="blas")
                _limiter.__enter__()
            _users += 1

    def __exit__(self, *_: object) -> None:
        global _limiter, _threads_before, _users  # noqa: PLW0603 - one count for the whole process
        with _lock:
            _users -= 1
            if _users == 0:
                _limiter.__exit__(None, None, None)
                _limiter = _threads_before = None


def thread_count(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` stands for here.

    Parameters
    ----------
    n_jobs : int or None
        As in scikit-learn: None is 1 unless a joblib context says otherwise, -1 is every core.

    Returns
    -------
    int
        At least 1, at most what joblib allows here (processors of the control group, nested
        parallelism) and what threadpoolctl limits are in force.
    """
    is_integer = isinstance(n_jobs, numbers.Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_integer or n_jobs == 0):
        message = f"n_jobs must be an integer other than 0, or None; got {n_jobs!r}."
        raise InvalidParameterError(message)
    wanted = int(joblib.effective_n_jobs(n_jobs))
    if wanted == 1:
        return 1
    with _lock:
        limit = _threads_before if _threads_before is not None else _pool_threads()
    return max(1, min(wanted, limit))
