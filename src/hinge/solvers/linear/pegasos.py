r"""Pegasos: stochastic subgradient descent on the hinge loss, a few rows at a time, in C++.

.. math:: \min_z f(z) = \tfrac\lambda2 \|z\|^2 + \frac1S \sum_i s_i \max(0, 1 - y_i z'\tilde x_i),
          \qquad \lambda = \frac1{C S}, \quad S = \sum_i s_i,

the problem's objective divided by C S; z has the weight of the constant feature last, if the
intercept is augmented. Step t draws k rows; A are those of margin below 1.

.. math:: z \leftarrow \left(1 - \tfrac1t\right) z + \frac1{\lambda t k} \sum_{i \in A} s_i y_i
          \tilde x_i, \qquad z \leftarrow \min\left(1, \frac1{\sqrt\lambda \|z\|}\right) z .

Given: hinge loss, an augmented or no intercept, any weights. Returns z, and the dual point whose
coefficients follow every step and every projection: z is their sum of rows at all times. Rows are
drawn in random orders of all of them: then a coefficient exceeds its bound only within a pass; it
is clipped. The gap of such a point is loose, and a run is seldom certified below a few percent.
Cost of a step: k rows, less those that :mod:`hinge.bounds` would spare;
``cpp/include/hinge/stochastic.hpp`` has the bound.

References
----------
.. [1] S. Shalev-Shwartz, Y. Singer and N. Srebro, "Pegasos: primal estimated sub-gradient solver
   for SVM", ICML 2007.
.. [2] A. Guillory and J. Bilmes, "Practical methods for exploiting bounds on change in the
   margin", Algorithm 3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.errors import InvalidParameterError
from hinge.parameters import boolean, count
from hinge.problem import Intercept, Problem
from hinge.result import Point, Progress
from hinge.solvers.protocol import Solver, State, Support

Floats = NDArray[np.float64]

_MOST_BATCH = 2**24
_MOST_STEPS = 2**62
# A call ends after whole rounds of steps that take about so many stored values, so that a run that
# goes on is judged where one that was never stopped is.
_CALL_WORK = 2_000_000
_STEP_WORK, _ROW_WORK = 2000, 8
_CENTRE_ROWS = 1024  # of them the centre is the mean; which point it is matters for speed only
_SCALE, _CENTRE_SQUARE, _SQUARE, _SQUARE_MASS, _RATE = 0, 6, 1, 7, 9  # places among the numbers
_WEIGHTS, _CENTRE = 0, 2  # rows of the vectors
_STEP = 0  # place among the counters
# Prices of a row in units of about a nanosecond: what it costs whatever its size, and per byte.
_READ = 30.0
_BYTE = 0.1
_SKIP = 10.0
_STORE = 5.0


@dataclass
class PegasosState(State):
    """A run of Pegasos between two calls.

    Parameters
    ----------
    problem : Problem
        The problem of the run; not pickled.
    known : ndarray of float32 of shape (n_samples, 2)
        Stored margins, and distances from the centre.
    coefficients : ndarray of shape (n_samples,)
        Dual coefficients over the scale.
    order : ndarray of uint32
        The rows that can be drawn.
    vectors : ndarray of shape (4, n_features + 1)
        Weights over the scale, weights that were kept, the centre, and scratch.
    random : ndarray of uint64 of shape (4,)
        State of the random generator.
    counters : ndarray of int64
        Positions and counts.
    numbers : ndarray
        Scale and sums.
    settings : dict
        Options of the solver and what follows from the problem.
    first_step : int
        The number of steps that the run begins with: 0, or more from a known point.
    work : int
        Stored values touched so far.
    """

    problem: Problem
    known: NDArray[np.float32]
    coefficients: Floats
    order: NDArray[np.uint32]
    vectors: Floats
    random: NDArray[np.uint64]
    counters: NDArray[np.int64]
    numbers: Floats
    settings: dict[str, Any]
    first_step: int = 0
    work: int = 0
    _transient: ClassVar[tuple[str, ...]] = ("problem", "_run")

    @property
    def run(self) -> core.StochasticRun:
        """The compiled run over these arrays; made anew for a state that goes on."""
        if "_run" not in self.__dict__:
            self.__dict__["_run"] = self._view()
        run: core.StochasticRun = self.__dict__["_run"]
        return run

    def _view(self) -> core.StochasticRun:
        problem, data = self.problem, self.problem.rows
        data.check_structure()
        _check_batch(self.settings["batch"])
        columns, offsets = (data.indices, data.indptr) if data.is_sparse else (None, None)
        settings = core.StochasticSettings()
        for name, value in self.settings.items():
            setattr(settings, name, value)
        weights = problem.sample_weight
        return core.StochasticRun(
            rows=core.AnyRows(data.values, columns, offsets, data.n_rows, data.n_features),
            signs=problem.signs,
            weights=np.ones(1) if weights is None else weights,
            squared_norms=data.squared_norms,
            settings=settings,
            arrays=core.StochasticArrays(
                known=self.known,
                coefficients=self.coefficients,
                order=self.order,
                vectors=self.vectors,
                random=self.random,
                counters=self.counters,
                numbers=self.numbers,
            ),
            scratch=np.zeros(2 * self.settings["batch"], dtype=np.uint32),
        )


class Pegasos(Solver):
    """Stochastic subgradient descent with steps 1/(lambda t), over a bound on margins.

    Parameters
    ----------
    batch : int, default=100
        Rows of a step, the k of the paper.
    index : bool, default=True
        Leave rows alone whose side of the margin is known from stored margins. The weights have
        the same bits without it.
    project : bool, default=True
        Project onto the ball that is known to hold the optimum after every step.
    replacement : bool, default=False
        Draw rows with replacement, as the paper does, instead of in random orders of all rows.
    """

    name: ClassVar[str] = "pegasos"

    def __init__(
        self,
        batch: int = 100,
        *,
        index: bool = True,
        project: bool = True,
        replacement: bool = False,
    ) -> None:
        self.batch = _check_batch(batch)
        self.index = boolean(index, "index")
        self.project = boolean(project, "project")
        self.replacement = boolean(replacement, "replacement")

    def supports(self, problem: Problem) -> Support:
        """Return whether the loss is the hinge and every weight is in the norm."""
        if problem.loss.dual_curvature != 0.0:
            reason = f"it is for the hinge loss, not {problem.loss!r}; use solver='gradient'."
            return Support(False, reason)
        if problem.intercept is Intercept.FREE:
            reason = (
                "its steps need a penalty on every weight, and a free intercept has none; use "
                "intercept='augmented' or 'none', or solver='dual-coordinate'."
            )
            return Support(False, reason)
        return Support(True)

    def start(self, problem: Problem, warm: Point | None = None, seed: int = 0) -> PegasosState:
        """Return the state before the first step, from known dual coefficients if given."""
        n_rows, rows = problem.n_rows, problem.rows
        known = np.zeros((n_rows, 2), dtype=np.float32)
        squares = rows.squared_norms + problem.constant_feature**2
        with np.errstate(over="ignore"):
            radii = rows.norm_bounds(squares).astype(np.float32)
        known[:, 1] = np.nextafter(radii, np.float32(np.inf))
        costs = problem.costs
        state = PegasosState(
            problem=problem,
            known=known,
            coefficients=np.zeros(n_rows),
            order=np.flatnonzero(costs > 0).astype(np.uint32),
            vectors=np.zeros((4, problem.n_features + 1)),
            random=np.array(core.seeded_words(int(seed) % 2**64), dtype=np.uint64),
            counters=np.zeros(core.stochastic_counters, dtype=np.int64),
            numbers=np.zeros(core.stochastic_numbers),
            settings=self._settings(problem),
        )
        state.numbers[[_SCALE, _RATE]] = 1.0
        if state.settings["accumulates"]:
            _set_centre(state)
        if warm is not None and warm.dual_coef is not None:
            _start_at(state, warm.dual_coef)
        return state

    def step(self, state: PegasosState, work: int) -> int:
        """Do about this much work, at least one step or a part of storing margins."""
        last = _MOST_STEPS if state.step_limit is None else state.first_step + state.step_limit
        done = state.run.advance(work, last)
        state.work += done
        return done

    def point(self, state: PegasosState) -> Point:
        """Return the current weights and the dual coefficients that they are the sum of."""
        problem = state.problem
        weights = state.numbers[_SCALE] * state.vectors[_WEIGHTS]
        alpha = state.numbers[_SCALE] * state.coefficients
        reach = problem.loss.upper_bound(problem.costs)
        return Point(
            weights[:-1].copy(),
            problem.constant_feature * float(weights[-1]),
            np.clip(alpha, 0.0, reach),
        )

    def progress(self, state: PegasosState) -> Progress:
        """Return the counts; the method knows no objective values."""
        steps = state.run.step - state.first_step
        return Progress(steps, state.work, at_rest=not math.isfinite(state.numbers[_SQUARE]))

    def _settings(self, problem: Problem) -> dict[str, Any]:
        rows = problem.rows
        weights = problem.sample_weight
        counted = np.ones(rows.n_rows, dtype=bool) if weights is None else weights > 0
        drawable = int(np.count_nonzero(counted))
        total = float(rows.n_rows) if weights is None else float(weights[counted].sum())
        stored = float(rows.n_features)
        if rows.is_sparse:
            stored = float(np.mean(np.diff(rows.indptr)[counted]))
        per_value = rows.values.itemsize + (rows.indices.itemsize if rows.is_sparse else 0)
        reading = _BYTE * per_value * stored
        return {
            "penalty": 1.0 / (problem.C * total),
            "constant": problem.constant_feature,
            "share": drawable / total,
            "largest_norm": math.hypot(problem.largest_norm, problem.constant_feature),
            "row_price": _READ + reading,
            "skip_price": _SKIP,
            "refresh_price": _STORE + reading,
            "batch": self.batch,
            "round": max(1, int(_CALL_WORK / (_STEP_WORK + self.batch * (stored + _ROW_WORK)))),
            "projects": self.project,
            "replaces": self.replacement,
            "prunes": self.index,
            # Else every step would cost as much as all features, of which it touches few.
            "accumulates": 4 * rows.n_features <= self.batch * stored,
        }


def _check_batch(batch: int) -> int:
    """Return the number of rows of a step, or refuse it."""
    if not 1 <= count(batch, "batch") <= _MOST_BATCH:
        message = f"batch must lie between 1 and {_MOST_BATCH}; got {batch!r}."
        raise InvalidParameterError(message)
    return int(batch)


def _set_centre(state: PegasosState) -> None:
    """Take the mean of some rows as the point that distances are measured from."""
    problem = state.problem
    picks = state.order[:: max(1, len(state.order) // _CENTRE_ROWS)].astype(np.int64)
    _, columns, values = problem.rows.entries(picks)
    centre = state.vectors[_CENTRE]
    centre[:-1] = np.bincount(columns, values, minlength=problem.n_features) / len(picks)
    centre[-1] = problem.constant_feature
    state.numbers[_CENTRE_SQUARE] = float(np.sum(centre * centre))


def _start_at(state: PegasosState, alpha: Floats) -> None:
    """Begin with known dual coefficients, as if after one pass over the rows."""
    problem = state.problem
    if alpha.shape != (problem.n_rows,) or not np.isfinite(alpha).all():
        return
    state.coefficients[:] = np.clip(alpha, 0.0, problem.loss.upper_bound(problem.costs))
    weights = state.vectors[_WEIGHTS]
    pulls = problem.signs * state.coefficients
    for block in problem.rows.blocks():
        weights[:-1] += block.transpose_dot(pulls[block.rows])
    weights[-1] = problem.constant_feature * float(np.sum(pulls))
    square = float(np.sum(weights * weights))
    state.numbers[[_SQUARE, _SQUARE_MASS]] = square
    state.first_step = -(-len(state.order) // state.settings["batch"])
    state.counters[_STEP] = state.first_step
