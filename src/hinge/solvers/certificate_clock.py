"""How long the certificate of a kernel machine will take.

It costs as much as a good part of the training. A run with a limit on its time ends early enough
for the certificate that it owes, by a forecast: kernel values to compute, times the seconds of one,
which a panel tells at first and every certificate after that.
"""

from __future__ import annotations

import time

import numpy as np

from hinge.problem import Problem

_SMALL_PANEL, _LARGE_PANEL = 16, 1024  # support vectors, against twice as many rows
_DEAR = 0.02  # seconds: a small panel that takes as long tells enough
_LONG = 0.2  # seconds beyond which a panel is not computed again to make sure
# Support vectors meet each other once, and other rows in float32 first: so many of the values of a
# panel in float64, that of all rows, measured on five kernels and three sets to within a third.
_SHARE = 0.7


class CertificateClock:
    """Seconds that a certificate will take, by the number of support vectors.

    Parameters
    ----------
    problem : Problem
        The problem of the run; forecasts of linear ones are 0, since their certificates are short.
    threads : int, default=1
        Threads for certificates.
    """

    def __init__(self, problem: Problem, threads: int = 1) -> None:
        self._problem = problem
        self._threads = threads
        self._of_one: float | None = None  # seconds for one support vector

    def forecast(self, support: int) -> float:
        """Return the seconds that the certificate of so many support vectors will take.

        Parameters
        ----------
        support : int
            How many rows have a coefficient.
        """
        if self._problem.kernel is None or support == 0:
            return 0.0
        if self._of_one is None:
            seconds, values = self._timed(_SMALL_PANEL)
            if seconds < _DEAR:
                seconds, values = self._timed(_LARGE_PANEL)
            self._of_one = _SHARE * self._problem.n_rows * seconds / values
        return self._of_one * support

    def learn(self, support: int, seconds: float) -> None:
        """Note how long a certificate has taken.

        Parameters
        ----------
        support : int
            How many rows had a coefficient.
        seconds : float
            How long it took.
        """
        if self._problem.kernel is not None and support:
            self._of_one = seconds / support

    def _timed(self, support: int) -> tuple[float, int]:
        """Return the seconds that a panel of so many support vectors takes, and its values."""
        from hinge.certificates.kernel_machine import Machine  # noqa: PLC0415 - linear machines spare it
        from hinge.certificates.kernel_scores import scores_at  # noqa: PLC0415

        kernel, rows = self._problem.kernel, self._problem.rows
        assert kernel is not None
        wanted = np.linspace(0, rows.n_rows - 1, min(rows.n_rows, 2 * support)).astype(np.int64)
        ids = wanted[::2]
        machine = Machine(kernel, rows, ids, np.ones(len(ids)))

        def seconds() -> float:
            began = time.perf_counter()
            with np.errstate(over="ignore", invalid="ignore"):
                scores_at(machine, (rows, wanted), self._threads)
            return time.perf_counter() - began

        # A machine that does something else for a moment must not pass for a dear kernel: the run
        # would end at once.
        first = seconds()
        return first if first > _LONG else min(first, seconds()), len(ids) * len(wanted)
