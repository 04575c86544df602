"""How long a fit will take, judged by how fast its gap has been closing."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

_SMALLEST_TOLERANCE = 1e-15  # below it rounding decides, not the solver
_WINDOW = 64  # steps over which the rate is measured
_ENOUGH_STEPS = 3
_ENOUGH_DIGITS = 0.5  # before the gap has begun to close, its rate says nothing


@dataclass
class _Problem:
    """What is known of one class: seconds and digits of the gap after its recent steps."""

    recent: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=_WINDOW))
    taken: float | None = None

    @property
    def digits(self) -> float:
        return self.recent[-1][1] if self.recent else 0.0


class Forecast:
    """Says how much of a fit is done and how many seconds are left.

    The gap of a linear machine closes by about the same number of digits per second, so the
    recent rate is carried on until the tolerance. Classes that have not begun are taken to be
    like those that are done.

    Parameters
    ----------
    n_problems : int
        How many binary problems the fit has.
    tolerance : float
        Relative gap to reach.
    threads : int, default=1
        How many problems are solved at a time.
    """

    def __init__(self, n_problems: int, tolerance: float, threads: int = 1) -> None:
        self.tolerance = tolerance
        self._target = -math.log10(min(max(tolerance, _SMALLEST_TOLERANCE), 0.1))
        self._count = n_problems
        self._threads = max(1, min(threads, n_problems))
        self._problems: dict[int, _Problem] = {}

    def step(self, number: int, seconds: float, gap: float) -> None:
        """Take note of a step of a problem.

        Parameters
        ----------
        number : int
            Which problem.
        seconds : float
            Time since that problem began.
        gap : float
            Its relative gap, as far as is known.
        """
        digits = -math.log10(gap) if 0.0 < gap < 1.0 else 0.0
        # The one that stepped last stands last.
        problem = self._problems.pop(number, _Problem())
        self._problems[number] = problem
        problem.recent.append((seconds, min(digits, self._target)))
        problem.taken = seconds if digits >= self._target else None
        for over in list(self._problems.values())[: -self._threads]:
            over.taken = over.recent[-1][0]  # its thread has gone on to another problem

    @property
    def done(self) -> float:
        """The share of all digits that has been gained, from 0 to 1."""
        digits = sum(problem.digits for problem in self._problems.values())
        return min(1.0, digits / (self._target * self._count))

    @property
    def begun(self) -> int:
        """How many problems have begun."""
        return len(self._problems)

    def seconds_left(self) -> float | None:
        """Return the seconds that are left, or None where nothing can be said yet.

        Returns
        -------
        float or None
            Summed over classes and divided by the threads.
        """
        left = [self._left(problem) for problem in self._problems.values()]
        whole = [
            problem.recent[-1][0] + rest
            for problem, rest in zip(self._problems.values(), left, strict=True)
            if rest is not None
        ]
        if not whole or any(rest is None for rest in left):
            return None
        waiting = self._count - len(self._problems)
        total = sum(rest for rest in left if rest is not None)
        return (total + waiting * sum(whole) / len(whole)) / self._threads

    def _left(self, problem: _Problem) -> float | None:
        if problem.taken is not None:
            return 0.0
        if len(problem.recent) < _ENOUGH_STEPS or problem.digits < _ENOUGH_DIGITS:
            return None
        (first_time, first_digits), (last_time, last_digits) = problem.recent[0], problem.recent[-1]
        gained, passed = last_digits - first_digits, last_time - first_time
        if gained <= 0.0 or passed <= 0.0:
            return None
        return (self._target - last_digits) * passed / gained
