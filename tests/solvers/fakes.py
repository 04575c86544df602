"""Solvers that do exactly what a test tells them, to see what the driver makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hinge import Point, Problem
from hinge.result import Progress
from hinge.solvers import Solver, State, Support


class Counting(State):
    """How many steps were made, and at what cost."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.steps = 0
        self.work = 0


@dataclass
class Scripted(Solver):
    """A solver that hands out prepared points and prepared opinions.

    Parameters
    ----------
    points : callable
        Takes the number of steps and returns the point after them.
    opinion : callable
        Takes the number of steps and returns its claimed primal and dual value.
    work_per_step : int
        What a step costs.
    rests_after : int or None
        After how many steps it says that nothing moves any more.
    """

    points: Callable[[int], Point]
    opinion: Callable[[int], tuple[float, float]] = lambda _: (np.nan, np.nan)
    work_per_step: int = 1_000_000
    rests_after: int | None = None
    asked_for_points: list[int] = field(default_factory=list)
    name = "scripted"

    def supports(self, _problem: Problem) -> Support:
        return Support(True)

    def start(self, problem: Problem, _warm: Point | None = None, _seed: int = 0) -> Counting:
        return Counting(problem)

    def step(self, state: Any, _work: int) -> int:
        state.steps += 1
        state.work += self.work_per_step
        return self.work_per_step

    def point(self, state: Any) -> Point:
        self.asked_for_points.append(state.steps)
        return self.points(state.steps)

    def progress(self, state: Any) -> Progress:
        primal, dual = self.opinion(state.steps)
        rests = self.rests_after is not None and state.steps >= self.rests_after
        return Progress(state.steps, state.work, primal, dual, rests)
