"""The objective owns the measuring: what a result is worth, recomputed by hinge's certificates.

A peer returns no dual point, so its gap is taken against the best lower bound on the optimum that
any certificate has proven for the task. hinge's own gap is the one its own certificate proves,
which is never smaller.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.method import Floats
from benchmarks.suite.task import Task

REFERENCE_GAP = 1e-7


class Objective:
    """A task with its data and the best lower bound known on its optimum.

    Parameters
    ----------
    task : Task
        The task.
    seconds : float
        Time that the reference run may take where none is stored.
    """

    def __init__(self, task: Task, seconds: float) -> None:
        self.task = task
        self.arrays = cached_arrays(task.dataset, task.dtype)
        X, y = arrays.read(self.arrays)
        self.problem = hinge.Problem(X, y, loss=task.loss, C=task.C, intercept=task.intercept)
        self.optimum_at_least, self.optimum_at_most = self._reference(seconds)

    def primal(self, coef: Floats, intercept: float) -> float:
        """Return the objective of a point, recomputed from the raw data."""
        point = hinge.Point(coef, intercept)
        return hinge.certificates.gap(self.problem, point, region=False).primal

    def relative_gap(self, primal: float) -> float:
        """Return how far a primal value can be above the optimum, relative to it."""
        bound = self.optimum_at_least
        if not math.isfinite(primal):
            return math.inf
        return (primal - bound) / max(abs(primal), abs(bound))

    def learn_bounds(self, primal: float, optimum_at_least: float) -> None:
        """Take in what a certified run has proven, if it is better than what is known."""
        self.optimum_at_least = max(self.optimum_at_least, optimum_at_least)
        self.optimum_at_most = min(self.optimum_at_most, primal)

    @property
    def reference_gap(self) -> float:
        """How closely the optimum is known, relative to it."""
        return self.relative_gap(self.optimum_at_most)

    def _reference(self, seconds: float) -> tuple[float, float]:
        """Return the stored bounds on the optimum, from a long run if there are none yet."""
        stored = self._stored()
        if stored.exists():
            bounds = json.loads(stored.read_text())
            if bounds["fingerprint"] == self.problem.fingerprint():
                return bounds["optimum_at_least"], bounds["optimum_at_most"]
        stop = hinge.Stop(gap=REFERENCE_GAP, seconds=seconds)
        certificate = hinge.solve(self.problem, stop=stop).certificate
        self.optimum_at_least = certificate.primal - certificate.gap
        self.optimum_at_most = certificate.primal
        self.store()
        return self.optimum_at_least, self.optimum_at_most

    def store(self) -> None:
        """Keep the bounds for the next benchmark."""
        bounds = {
            "fingerprint": self.problem.fingerprint(),
            "optimum_at_least": self.optimum_at_least,
            "optimum_at_most": self.optimum_at_most,
        }
        path = self._stored()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(bounds))

    def _stored(self) -> Path:
        return arrays.cache_folder() / "references" / f"{self.task.slug}.json"
