"""What training will take, told before it begins."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from hinge.cli._console import Output
from hinge.data import Dataset
from hinge.estimators import LinearSVC
from hinge.problem import Intercept, Problem
from hinge.solvers.estimate import Estimate, estimate
from hinge.threads import thread_count

_LARGE = 20_000_000  # stored values from which a fit may be long enough for a pilot not to matter
_LONG = 10.0  # seconds from which a forecast is worth a line
_FROM_A_NEIGHBOUR = 0.25  # of the time of a fit that the next value of C takes, at the most


@dataclass(frozen=True)
class Work:
    """How often the problems of all classes are solved.

    Parameters
    ----------
    values : int, default=1
        Values of C, each solved from its neighbour.
    folds : int, default=1
        Parts of the rows that are held out in turn; 1 for none.
    in_turn : bool, default=False
        Whether folds are fitted one after another; else threads share them out as they do classes.
    """

    values: int = 1
    folds: int = 1
    in_turn: bool = False


_ONCE = Work()


@dataclass(frozen=True)
class FitEstimate:
    """What a fit of all classes is expected to take.

    Parameters
    ----------
    whole : Estimate
        Of all classes together.
    n_problems : int
        How many binary problems there are.
    work : Work
        How often they are solved.
    """

    whole: Estimate
    n_problems: int
    work: Work

    def __str__(self) -> str:
        words = [str(self.whole).rstrip(".")]
        if self.n_problems > 1:
            words.append(f"for one of {self.n_problems} classes")
        if self.work.values > 1:
            words.append(f"at the largest of {self.work.values} values of C")
        if self.work.folds > 1:
            words.append(f"in {self.work.folds} folds")
        return f"{', '.join(words)}."

    @property
    def data(self) -> dict[str, Any]:
        """What ``--json`` writes."""
        return {**asdict(self.whole), "problems": self.n_problems, "text": str(self)}


def estimate_fit(parameters: dict[str, Any], data: Dataset, work: Work = _ONCE) -> FitEstimate:
    """Return what training is expected to take.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC``; those that are not there have its defaults.
    data : Dataset
        Rows and labels.
    work : Work, default=once
        How often; C is the largest of several values then, which takes longest.

    Returns
    -------
    FitEstimate
        From a pilot on the class of middle size, if there are several.
    """
    parameters = {**LinearSVC().get_params(), **parameters}
    y = np.asarray(data.y)
    labels, counts = np.unique(y, return_counts=True)
    weights = parameters.get("class_weight")
    kind = parameters["intercept"] or (
        Intercept.AUGMENTED if parameters["fit_intercept"] else Intercept.NONE
    )
    middle = labels[np.argsort(counts, kind="stable")[len(labels) // 2]]
    problem = Problem(
        data.X,
        y if len(labels) <= 2 else (y == middle).astype(int),
        loss=parameters["loss"],
        C=parameters["C"],
        intercept=kind,
        intercept_scale=parameters["intercept_scaling"],
        sample_weight=None if weights is None else compute_sample_weight(weights, y),
    )
    one = estimate(
        problem,
        solver=parameters["solver"],
        gap=parameters["tol"],
        seed=parameters["random_state"] or 0,
    )
    n_problems = 1 if len(labels) <= 2 else len(labels)
    shared, in_turn = (1, work.folds) if work.in_turn else (work.folds, 1)
    at_once = min(thread_count(parameters["n_jobs"]), shared * n_problems)
    turns = in_turn * math.ceil(shared * n_problems / at_once)
    rows = 1.0 if work.folds == 1 else 1.0 - 1.0 / work.folds
    # A neighbour's solution spares most of a fit, and every value but the largest takes less.
    share = 1.0 if work.values == 1 else _FROM_A_NEIGHBOUR
    whole = replace(
        one,
        seconds=turns * rows * work.values * share * one.seconds,
        low=turns * rows * share * one.low,
        high=turns * rows * work.values * one.high,
        memory_bytes=at_once * one.memory_bytes,
    )
    return FitEstimate(whole, n_problems, work)


def tell_if_long(
    parameters: dict[str, Any], data: Dataset, output: Output, work: Work = _ONCE
) -> None:
    """Tell the user, on stderr, what a fit will take if that is long.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC``.
    data : Dataset
        Rows and labels.
    output : Output
        Where notes go.
    work : Work, default=once
        How often.
    """
    X: Any = data.X
    stored = X.nnz if hasattr(X, "nnz") else X.size
    # One class alone is for the fit to refuse.
    if output.quiet or stored < _LARGE or len(np.unique(np.asarray(data.y))) < 2:
        return
    told = estimate_fit(parameters, data, work)
    if told.whole.seconds >= _LONG:
        output.note(str(told))
