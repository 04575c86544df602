"""What a solver is: an explicit state, a bounded step, and a point that the data can confirm.

The driver (:mod:`hinge.solvers.driver`) owns the loop, the clock and the stopping; a solver only
does work. Whatever it says of itself is an opinion (``Progress``) until certified.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from hinge.errors import InvalidParameterError
from hinge.problem import Problem
from hinge.result import Point, Progress


@dataclass(frozen=True)
class Support:
    """Whether a solver takes a problem.

    Parameters
    ----------
    yes : bool
        Whether it does.
    reason : str
        If not: a sentence saying why, and what would.
    """

    yes: bool
    reason: str = ""

    def __bool__(self) -> bool:
        return self.yes


class State:
    """What a solver knows between steps: arrays and numbers that pickle, apart from the data.

    The problem is left out of a pickle (it holds the caller's data); a fingerprint goes in its
    place, and only the problem that it belongs to is accepted when a run goes on.
    """

    problem: Problem
    solver_name: str = ""
    seed: int = 0  # of the run that began with it
    step_limit: int | None = None  # steps that the run may do in all; a call may do many of them
    threads: int = 1  # how many a step may use; never changes a bit
    judged_work: int = 0  # the work that had been done at the last certificate on schedule
    was_refused: bool = False  # whether a certificate has refused a claim of having arrived
    stop_check: Callable[[], None] | None = None  # for long steps; raises to abandon one
    _fingerprint: str | None = None
    _transient: ClassVar[tuple[str, ...]] = ("problem",)  # made anew from the problem

    def parts(self) -> dict[str, Any]:
        """Return what makes this state, by name: everything but the problem and who runs it.

        Returns
        -------
        dict of str to object
            Arrays, numbers, words, dictionaries of such, and lists that only lose their first
            entries; not copied.
        """
        runner = ("solver_name", "seed", "step_limit", "threads", "stop_check", "_fingerprint")
        left_out = {*self._transient, *runner}
        own = {key: value for key, value in self.__dict__.items() if key not in left_out}
        return {**own, "judged_work": self.judged_work, "was_refused": self.was_refused}

    def put(self, name: str, part: Any) -> None:
        """Set one of the parts that ``parts`` returns.

        Parameters
        ----------
        name : str
            Its name.
        part : object
            What to put in its place.
        """
        setattr(self, name, part)

    @property
    def n_support(self) -> int:
        """How many rows of a kernel machine have a coefficient; 0 for other machines."""
        return 0

    @property
    def rows_seen(self) -> tuple[int, int, int]:
        """How many rows have been visited, carry a coefficient, and had half a margin at most.

        Zeros where a solver does not visit rows one by one.
        """
        return 0, 0, 0

    def release(self) -> None:
        """Let go of what only a run at work needs, such as threads; it may go on all the same."""

    def make_way(self) -> None:
        """Let go of what a certificate needs the memory of, if it can be made anew."""

    def after_certificate(self) -> None:
        """Have the memory of a certificate to itself again."""

    def __getstate__(self) -> dict[str, Any]:
        left_out = (*self._transient, "stop_check")
        kept = {key: value for key, value in self.__dict__.items() if key not in left_out}
        if "problem" in self.__dict__:
            kept["_fingerprint"] = self.problem.fingerprint()
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__dict__.update(kept)

    def resumed(self, problem: Problem) -> Self:
        """Return a copy of the state to go on from; this one stays as it is.

        Parameters
        ----------
        problem : Problem
            The problem of the run; refused if its fingerprint differs.

        Returns
        -------
        State
            The copy, with its problem.
        """
        known = self.__dict__.get("problem")
        if known is not problem:
            expected = self._fingerprint if known is None else known.fingerprint()
            if problem.fingerprint() != expected:
                message = (
                    "this state belongs to another problem (its data, labels, weights or options "
                    "differ); resume with the problem of the run, or pass the solution as warm=."
                )
                raise InvalidParameterError(message)
        twin = type(self).__new__(type(self))
        for key, value in self.__dict__.items():
            if key not in (*self._transient, "stop_check"):
                is_state = isinstance(value, State)
                twin.__dict__[key] = value.resumed(problem) if is_state else copy.copy(value)
        twin.problem = problem
        return twin


class Solver(ABC):
    """A method that improves a point step by step."""

    name: ClassVar[str]
    takes_hard_margins: ClassVar[bool] = False  # C = inf; a solver takes either these or the others
    takes_kernels: ClassVar[bool] = False  # likewise: problems with a kernel, or those without

    @abstractmethod
    def supports(self, problem: Problem) -> Support:
        """Return whether this solver takes the problem, and if not, why and what would."""

    @abstractmethod
    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> Any:
        """Return the state before the first step, from a known point if one is given."""

    @abstractmethod
    def step(self, state: Any, work: int) -> int:
        """Advance the state; touch about ``work`` stored values at most, return how many."""

    @abstractmethod
    def point(self, state: Any) -> Point:
        """Return the current point as float64 copies.

        One that reads the data for it calls ``state.stop_check`` every few milliseconds.
        """

    def unproven_point(self, state: Any) -> Point:
        """Return the current point at once, for a run that ends before anything is proven."""
        return self.point(state)

    @abstractmethod
    def progress(self, state: Any) -> Progress:
        """Return the solver's own opinion of how far it is; cheap, called after every step."""

    def stride(self, state: Any) -> int:  # noqa: ARG002
        """Return how many times the usual work a step is asked for, so that it takes 10 ms."""
        return 1

    def start_as(self, problem: Problem, values: Mapping[str, Any]) -> Any:  # noqa: ARG002
        """Return a fresh state with the parts that a stored one with these values has."""
        return self.start(problem)

    def go_on(self, state: Any, *, at_rest: bool) -> bool:  # noqa: ARG002
        """Return whether to go on although the run has stalled, with another method perhaps.

        It has come to rest, or the judge has seen no progress for long. False ends the run.
        """
        return False

    def method(self, state: Any) -> str:  # noqa: ARG002
        """Return the name of the method that is at work; a solver may be several."""
        return self.name
