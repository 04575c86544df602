"""One method after another on one problem: the run goes on where the last method stood.

A relay is a solver whose state holds that of the method at work. It begins with the first of a
few methods and hands its point to the next one when that is forecast to end sooner, or when the
present one has come to rest or the judge finds that it has stalled. Whether and when is counted in
work alone (:mod:`hinge.solvers.auto`), never in seconds: the same inputs, seed and gap give the
same bits.

Given: a problem that at least one of the methods takes. Returns what the last of them returns;
steps and work are counted over all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.auto import (
    FIRST,
    METHODS,
    NEWTON,
    SHORT,
    Choice,
    Look,
    Watch,
    choose,
    most_steps,
)
from hinge.solvers.linear.sampled_state import SampledState
from hinge.solvers.protocol import Solver, State, Support

Makers = Mapping[str, Callable[[float | None], Solver]]

_PATIENCE = 200  # steps of a method that may pass without a narrower gap; more than any needs
_MANY = 2  # times as many steps: a limit of which some are left to others
_OF_A_SAMPLE = 0.5  # share of a step on a sample that does not count: it is cheap
_WORTH = 0.5  # relative gap of a point up to which another method does better from it
# Steps of coordinate descent, each over twice as many rows, after which it is first looked at, and
# last.
_FIRST_LOOK, _LAST_LOOK = 2, 8
_INNER = "leg_"  # what the names of the present method's own parts begin with


class RelayState(State):
    """A run of a relay between two steps.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    choice : Choice
        The methods, and what the second one is expected to cost.
    gap : float or None
        The relative gap that is asked for.
    """

    running: State
    _transient: ClassVar[tuple[str, ...]] = ("problem", "_solver", "_watch")

    def __init__(self, problem: Problem, choice: Choice, gap: float | None) -> None:
        self.problem = problem
        self.leg = 0  # which of the methods is at work
        self.gap = math.nan if gap is None else float(gap)
        self.look = 0  # step after which to look at the rows that have been visited; 0 for none
        self.short_share = math.nan  # of the rows, at the look before
        self.is_due = False  # whether that look has told to go on with the next method
        self.most_steps = math.inf  # of the method at work, if a look has called for it
        self.take(choice)
        self.past = np.full((Watch.LENGTH, 2), math.nan)  # work and gap of its last claims
        self.steps_before = 0  # by methods that are done
        self.work_before = 0
        self.forget_handed()

    def hand(self, point: Point) -> None:
        """Keep the point that a method hands over, until the next one has one of its own."""
        self.is_handed, self.has_dual = True, point.dual_coef is not None
        self.handed_coef, self.handed_intercept = point.coef, point.intercept
        self.handed_dual = np.zeros(0) if point.dual_coef is None else point.dual_coef

    def forget_handed(self) -> None:
        """Let go of a point that was handed over."""
        self.is_handed = self.has_dual = False
        self.handed_coef, self.handed_intercept, self.handed_dual = np.zeros(0), 0.0, np.zeros(0)

    @property
    def handed(self) -> Point | None:
        """The point that was handed over, before a step of the next method."""
        if not self.is_handed:
            return None
        dual = self.handed_dual.copy() if self.has_dual else None
        has_none = self.problem.intercept is Intercept.NONE  # whatever a stored state says
        return Point(self.handed_coef.copy(), 0.0 if has_none else self.handed_intercept, dual)

    def take(self, choice: Choice) -> None:
        """Go by this choice from here on; ``leg`` must be the place of the method at work in it."""
        self.names = " ".join(choice.names)
        self.rival_cost = choice.rival_cost
        self.trial_cost = choice.trial * choice.rival_cost
        self.unit_cost = choice.unit_cost
        self.__dict__.pop("_watch", None)

    @property
    def n_support(self) -> int:
        """How many rows have a coefficient, by the method at work."""
        return self.running.n_support

    def release(self) -> None:
        """Let go of what the method at work holds."""
        self.running.release()

    @property
    def name(self) -> str:
        """The method at work."""
        return self.names.split()[self.leg]

    @property
    def is_last(self) -> bool:
        """Whether there is no method after it."""
        return self.leg >= self.names.count(" ")

    @property
    def watch(self) -> Watch:
        """What is made of the claims of the method at work."""
        kept: dict[str, Any] = self.__dict__
        if "_watch" not in kept:
            costs = (self.trial_cost, self.rival_cost, self.unit_cost)
            kept["_watch"] = Watch(self.past, costs, self.gap)
        watch: Watch = kept["_watch"]
        return watch

    def parts(self) -> dict[str, Any]:
        """Return what makes this state, by name, the present method's parts included."""
        own = super().parts()
        # Only what there is: a stored state has no arrays without entries.
        is_there = {"handed_coef": self.is_handed, "handed_dual": self.has_dual}
        own = {name: part for name, part in own.items() if is_there.get(name, True)}
        running = own.pop("running").parts()
        return {**own, **{_INNER + name: part for name, part in running.items()}}

    def put(self, name: str, part: Any) -> None:
        """Set a part by its name."""
        if name.startswith(_INNER):
            self.running.put(name.removeprefix(_INNER), part)
        else:
            super().put(name, part)


class Relay(Solver):
    """The methods that a problem calls for, one after another.

    Parameters
    ----------
    gap : float or None
        The relative gap that is asked for.
    makers : mapping of str to callable
        The methods that there are: functions of that gap that return a solver.
    steps : int or None, default=None
        How many steps there will be in all, if that is known. The first method leaves the others
        as many as they may need, where there are many.
    """

    name: ClassVar[str] = "auto"

    def __init__(self, gap: float | None, makers: Makers, steps: int | None = None) -> None:
        self.gap = gap
        self.makers = makers
        self._made: dict[tuple[str, float | None], Solver] = {}
        self.first_steps = math.inf
        if steps is not None and steps >= _MANY * _PATIENCE:
            self.first_steps = steps - _PATIENCE

    def supports(self, problem: Problem) -> Support:
        """Return whether any method takes the problem; if none does, what each says."""
        reasons = []
        for name in self.makers:
            answer = self._make(name, self.gap).supports(problem)
            if answer:
                return answer
            reasons.append(f"{name}: {answer.reason}")
        return Support(False, f"no solver takes it. {' '.join(reasons)}")

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> RelayState:
        """Return the state before the first step of the first method."""
        # What is carried on from another problem tells nothing of the rows of this one.
        is_warm = warm is not None
        state = RelayState(problem, self.choice(problem, apart=is_warm), self.gap)
        state.look = 0 if is_warm or state.name != FIRST or state.is_last else _FIRST_LOOK
        if state.name == SHORT and not state.is_last:
            state.most_steps = float(math.ceil(most_steps(problem, self.gap, SHORT)))
        state.seed = seed
        state.running = self._solver(state).start(problem, warm, seed)
        return state

    def start_as(self, problem: Problem, values: Mapping[str, Any]) -> RelayState:
        """Return a fresh state at the method that a stored one was at."""
        state = RelayState(problem, self.choice(problem), self.gap)
        leg, names = values.get("leg"), str(values.get("names"))
        is_known = all(name in self.makers for name in names.split())
        if is_known and type(leg) is int and 0 <= leg < len(names.split()):
            state.leg, state.names = leg, names
        if values.get("is_handed") is True:
            dual = np.zeros(problem.n_rows) if values.get("has_dual") is True else None
            state.hand(Point(np.zeros(problem.n_features), 0.0, dual))
        state.running = self._solver(state).start(problem)
        return state

    def choice(self, problem: Problem, *, apart: bool = False, tried: str = "") -> Choice:
        """Return which methods a run on the problem is to use.

        Parameters
        ----------
        problem : Problem
            The problem.
        apart : bool, default=False
            Whether its classes are apart, or may be for all that is known.
        tried : str, default=""
            A method that has been given up: the last of the others.
        """
        known = [name for name in METHODS if name in self.makers]
        able = [name for name in known if self._make(name, self.gap).supports(problem)]
        return choose(problem, self.gap, able, apart=apart, tried=tried)

    def step(self, state: RelayState, work: int) -> int:
        """Go on with the present method, or with the next one if that is to end sooner."""
        if not state.is_last:
            self._change(state)
        running, watch = state.running, state.watch
        running.step_limit = self._step_limit(state)
        running.threads, running.stop_check = state.threads, state.stop_check
        solver = self._solver(state)
        try:
            done = solver.step(running, work)
        finally:
            running.stop_check = None  # it belongs to the run, and the state may outlive that
        progress = solver.progress(running)
        if state.is_handed and progress.steps:
            state.forget_handed()
        if done < work:
            # It returned early, having something to say. In between its two values may not be
            # of one moment, and would depend on how the driver cuts the work.
            watch.note(progress.work, progress.relative_gap)
            if state.look and progress.steps >= state.look:
                self._look(state)
        return done

    def stride(self, state: RelayState) -> int:
        """Return the present method's."""
        return self._solver(state).stride(state.running)

    def point(self, state: RelayState) -> Point:
        """Return the present method's point; that of the first one before a step of another."""
        handed = state.handed
        return self._solver(state).point(state.running) if handed is None else handed

    def unproven_point(self, state: RelayState) -> Point:
        """Return the present method's point, at once."""
        handed = state.handed
        return self._solver(state).unproven_point(state.running) if handed is None else handed

    def progress(self, state: RelayState) -> Progress:
        """Return what the present method says of itself, steps and work added up."""
        said = self._solver(state).progress(state.running)
        steps, work = state.steps_before + said.steps, state.work_before + said.work
        return Progress(steps, work, said.primal, said.dual, at_rest=said.at_rest)

    def go_on(self, state: RelayState, *, at_rest: bool) -> bool:
        """Hand over to the next method, if there is one, since the present one has stalled.

        Those that follow a central path or smooth the loss show little of what they are doing
        before the end, and notice themselves when there is nothing more to do.
        """
        said = self._solver(state).progress(state.running)
        if not at_rest and state.name != FIRST and said.steps < _PATIENCE:
            return True
        if state.is_last:
            return False
        self._hand_over(state)
        return True

    def method(self, state: RelayState) -> str:
        """Return the name of the method at work."""
        return state.name

    def _change(self, state: RelayState) -> None:
        """Begin another method if the one at work is overtaken, or takes more than expected."""
        steps = self._solver(state).progress(state.running).steps
        if state.name == FIRST and self._is_over(state, steps):
            self._hand_over(state)
        elif self._is_lost(state, steps):
            # Classes are apart after all, and coordinate descent has not had its trial.
            self._go_to(state, 0, self.choice(state.problem, apart=True, tried=state.name))

    def _is_over(self, state: RelayState, steps: int) -> bool:
        """Return whether the first method is overtaken, or has had its share of the steps."""
        has_had_them = state.steps_before + steps >= self.first_steps
        return state.is_due or has_had_them or state.watch.is_overtaken()

    @staticmethod
    def _is_lost(state: RelayState, taken: int) -> bool:
        """Return whether the method at work has taken more steps than it is expected to need."""
        running, steps = state.running, float(taken)
        if isinstance(running, SampledState):
            steps -= _OF_A_SAMPLE * running.sample_steps
        return steps >= state.most_steps

    def _step_limit(self, state: RelayState) -> int | None:
        """Return how far the present method may go before something else is due."""
        limits = [state.look] if state.look else []
        if state.step_limit is not None:
            limits.append(max(0, state.step_limit - state.steps_before))
        if math.isfinite(state.most_steps) and state.name == SHORT:
            limits.append(max(0, int(state.most_steps)))
        if math.isfinite(self.first_steps) and not state.is_last and state.name == FIRST:
            # Hundreds of its sweeps over few rows may fit into the work of one call.
            limits.append(max(0, int(self.first_steps) - state.steps_before))
        return min(limits, default=None)

    def _look(self, state: RelayState) -> None:
        """See whether the rows that have been visited tell that another method is faster.

        It begins with the next step, if there is one: the last point is one of this method then.
        """
        look = Look(state.problem, self.gap, *state.running.rows_seen)
        is_last = state.look >= _LAST_LOOK
        overlaps = look.overlaps and look.has_settled(state.short_share)
        if not is_last and (not look.is_enough or (look.overlaps and not overlaps)):
            state.look = min(state.look + look.sweeps_left, _LAST_LOOK)
            state.short_share = look.short_share if look.is_enough else math.nan
            return
        state.look = 0
        if overlaps:
            state.is_due = look.calls_for(state.rival_cost)
        elif look.is_enough:
            state.take(self.choice(state.problem, apart=True))

    def _hand_over(self, state: RelayState) -> None:
        """Begin the next method."""
        self._go_to(state, state.leg + 1)

    def _go_to(self, state: RelayState, leg: int, choice: Choice | None = None) -> None:
        """Begin a method from the present one's point, or from nothing if that is better."""
        said = self._solver(state).progress(state.running)
        is_worth_it = said.relative_gap <= _WORTH
        point = None
        if is_worth_it or state.name == FIRST:
            point = self._solver(state).point(state.running)
            state.hand(point)
        state.running.release()
        state.steps_before += said.steps
        state.work_before += said.work
        if choice is not None:
            state.take(choice)
        was_due, state.leg, state.is_due, state.look = state.is_due, leg, False, 0
        state.past[...] = math.nan
        state.__dict__.pop("_solver", None)
        state.__dict__.pop("_watch", None)
        warm = point if is_worth_it else None
        state.running = self._solver(state).start(state.problem, warm, state.seed)
        is_guess = was_due and state.name == NEWTON
        state.most_steps = most_steps(state.problem, self.gap, NEWTON) if is_guess else math.inf

    def _solver(self, state: RelayState) -> Solver:
        kept: dict[str, Any] = state.__dict__
        if "_solver" not in kept:
            gap = None if math.isnan(state.gap) else state.gap
            kept["_solver"] = self._make(state.name, gap)
        solver: Solver = kept["_solver"]
        return solver

    def _make(self, name: str, gap: float | None) -> Solver:
        """Return a method, which is made once: what there is to keep of a run is in its state."""
        if (name, gap) not in self._made:
            self._made[name, gap] = self.makers[name](gap)
        return self._made[name, gap]
