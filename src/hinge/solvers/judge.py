"""When to ask for a certificate, and the best points that certificates have confirmed.

Schedules count work, in stored values touched, never seconds: what a run returns depends on its
inputs and its seed alone. A solver's claim to have arrived is checked at once; a refused claim is
not checked again before ten times a certificate's work has been done, and neither are points in
between, each time at twice the distance. So certificates are at most a tenth of the work, apart
from the last one, which every run owes.

The certificate of a kernel machine costs as much as a good part of its training. It is made when
the solver says that it has arrived, and at the end, never on a schedule.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hinge.certificates.gap import PASSES, gap
from hinge.problem import Intercept, Problem
from hinge.result import Certificate, Point, Progress, Stop
from hinge.solvers.certificate_clock import CertificateClock

WORK_PER_CERTIFICATE = 10  # a certificate may cost this fraction of the work before it
STALL_FACTOR = 4  # a run has stalled if so many times the work
STALL_GAIN = 0.99  # has not brought the gap down to this fraction
_CALL_OVERHEAD = 100_000  # the interpreter's share of a certificate, in stored values


class Judge:
    """Certifies points on schedule and keeps the best primal and the best dual one.

    Parameters
    ----------
    problem : Problem
        The problem of the run.
    stop : Stop
        The criteria, against which claims are checked.
    check : callable
        Called between blocks of a certificate; raises to abandon it.
    threads : int
        Threads for certificates.
    """

    def __init__(
        self, problem: Problem, stop: Stop, check: Callable[[], None], threads: int
    ) -> None:
        self.problem = problem
        self.stop = stop
        self.seconds = 0.0
        self.best: tuple[Point, Certificate] | None = None
        self._check = check
        self._threads = threads
        self._primal: tuple[Point, Certificate] | None = None
        self._dual: tuple[Point, Certificate] | None = None
        self._has_kernel = problem.kernel is not None
        self._work_of_one = PASSES * problem.rows.n_stored + _CALL_OVERHEAD
        self.last_work = 0
        self.refused = False
        self._history: list[tuple[int, float]] = []  # of the method at work
        self._before = 0  # work that was done when it began
        self._clock = CertificateClock(problem, threads)

    def go_on(self, last_work: int, refused: bool) -> None:
        """Go on with the schedule of a run that has been judged before."""
        self.last_work = last_work
        self.refused = refused

    def has_to_begin(self, progress: Progress) -> bool:
        """Return whether a run that goes on says that it has arrived, and nobody refused that."""
        return progress.at_rest or (self._claims(progress) and not self.refused)

    def has_judged(self, progress: Progress) -> bool:
        """Return whether nothing has been done since the last certificate."""
        return self.best is not None and progress.work == self.last_work

    def is_due(self, progress: Progress) -> bool:
        """Return whether a certificate should be made now."""
        since = progress.work - self.last_work
        if progress.at_rest:
            return True
        patience = (1 if self._has_kernel else WORK_PER_CERTIFICATE) * self._work_of_one
        if self._claims(progress) and (not self.refused or since >= patience):
            return True
        return not self._has_kernel and since >= max(patience, self.last_work)

    def certify(self, point: Point, progress: Progress) -> Certificate:
        """Certify a point and remember it if it is the best primal, dual or pair."""
        # The region of a free intercept takes passes of its own: only the last point gets it. With
        # a kernel it takes none, and another certificate would be the dear thing.
        is_cheap = self._has_kernel or self.problem.intercept is not Intercept.FREE
        certificate = self._judge(point, region=is_cheap or self._is_last)
        self.last_work = progress.work
        if self._has_kernel:
            self._work_of_one = self.problem.rows.n_stored * _support_size(point) + _CALL_OVERHEAD
        self._history.append((progress.work, min(certificate.gap, self._smallest_gap())))
        self.refused |= self._claims(progress) and not self.stop.satisfied_by(certificate)
        self._remember(point, certificate)
        return certificate

    def owed_seconds(self, support: int) -> float:
        """Return how long the last certificate of a machine will take, as far as it is long."""
        return self._clock.forecast(support)

    def has_stalled(self) -> bool:
        """Return whether three quarters of all work so far have not improved the gap at all."""
        work, gap = self._history[-1]
        limit = self._before + (work - self._before) / STALL_FACTOR
        before = [past for done, past in self._history if done <= limit]
        return len(before) > 1 and gap > STALL_GAIN * before[-1]

    def forget_course(self) -> None:
        """Judge stalls by what follows alone: another method has begun."""
        self._history = []
        self._before = self.last_work

    def conclude(self, allow_work: bool) -> tuple[Point, Certificate] | None:
        """Return the best pair with its certificate.

        Parameters
        ----------
        allow_work : bool
            Whether there is time to certify a best primal and a best dual point of different
            origin together, and to find the region of the optimum.
        """
        if self.best is None or self._primal is None or self._dual is None:
            return None
        if not allow_work:
            return self.best
        primal, dual = self._primal[0], self._dual[0]
        # With a kernel the dual coefficients are the primal point: there are no pairs.
        if primal is not dual and not self._has_kernel and not self.best[1].is_rounding:
            pair = replace(primal, dual_coef=dual.dual_coef)
            self._remember(pair, self._judge(pair, region=True))
        point, certificate = self.best
        if certificate.region is None and math.isfinite(certificate.gap):
            self.best = (point, self._judge(point, region=True))
        return self.best

    def _smallest_gap(self) -> float:
        return self._history[-1][1] if self._history else math.inf

    def _is_last(self, certificate: Certificate) -> bool:
        """Return whether a run will end with this point: no other primal or dual one is better."""
        return (
            self.stop.satisfied_by(certificate)
            and (self._primal is None or _is_less(certificate.primal, self._primal[1].primal))
            and (self._dual is None or _is_less(-certificate.dual, -self._dual[1].dual))
        )

    def _judge(self, point: Point, region: bool | Callable[[Certificate], bool]) -> Certificate:
        began = time.perf_counter()
        try:
            found = gap(
                self.problem, point, threads=self._threads, check=self._check, region=region
            )
            self._clock.learn(_support_size(point), time.perf_counter() - began)
            return found
        finally:
            self.seconds += time.perf_counter() - began

    def _claims(self, progress: Progress) -> bool:
        """Return whether the solver says it has arrived, by every criterion that it knows of."""
        gap, kkt = self.stop.gap, self.stop.kkt
        if gap is None:
            return kkt is not None and progress.kkt <= kkt
        violates = kkt is not None and progress.kkt > kkt
        return progress.relative_gap <= gap and not violates

    def _remember(self, point: Point, certificate: Certificate) -> None:
        entry = (point, certificate)
        if self._primal is None or _is_less(certificate.primal, self._primal[1].primal):
            self._primal = entry
        if self._dual is None or _is_less(-certificate.dual, -self._dual[1].dual):
            self._dual = entry
        if self.best is None or self._rank(certificate) <= self._rank(self.best[1]):
            self.best = entry

    def _rank(self, certificate: Certificate) -> tuple[bool, float, float]:
        """Order certificates: those that meet the criteria first, then by gap, then by violation.

        A gap that is all rounding tells points apart no more; the violation still does.
        """
        gap = 0.0 if certificate.is_rounding else certificate.gap
        return not self.stop.satisfied_by(certificate), gap, certificate.kkt


def _support_size(point: Point) -> int:
    """Return how many rows have a coefficient."""
    return 0 if point.dual_coef is None else int(np.count_nonzero(point.dual_coef))


def _is_less(new: float, old: float) -> bool:
    """Return whether the new value is smaller; any number is smaller than NaN."""
    return new < old or math.isnan(old)
