"""What training will take, told before it begins."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from hinge.cli._console import Output
from hinge.data import Dataset
from hinge.problem import Intercept, Problem
from hinge.solvers.estimate import Estimate, estimate
from hinge.threads import thread_count

_LARGE = 20_000_000  # stored values from which a fit may be long enough for a pilot not to matter
_LONG = 10.0  # seconds from which a forecast is worth a line


@dataclass(frozen=True)
class FitEstimate:
    """What a fit of all classes is expected to take.

    Parameters
    ----------
    whole : Estimate
        Of all classes together.
    n_problems : int
        How many binary problems there are.
    """

    whole: Estimate
    n_problems: int

    def __str__(self) -> str:
        if self.n_problems == 1:
            return str(self.whole)
        return f"{str(self.whole).rstrip('.')}, for one of {self.n_problems} classes."

    @property
    def data(self) -> dict[str, Any]:
        """What ``--json`` writes."""
        return {**asdict(self.whole), "problems": self.n_problems, "text": str(self)}


def estimate_fit(parameters: dict[str, Any], data: Dataset) -> FitEstimate:
    """Return what training is expected to take.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC``.
    data : Dataset
        Rows and labels.

    Returns
    -------
    FitEstimate
        From a pilot on the class of middle size, if there are several.
    """
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
        seed=parameters["random_state"],
    )
    n_problems = 1 if len(labels) <= 2 else len(labels)
    at_once = min(thread_count(parameters["n_jobs"]), n_problems)
    turns = math.ceil(n_problems / at_once)
    whole = replace(
        one,
        seconds=turns * one.seconds,
        low=turns * one.low,
        high=turns * one.high,
        memory_bytes=at_once * one.memory_bytes,
    )
    return FitEstimate(whole, n_problems)


def tell_if_long(parameters: dict[str, Any], data: Dataset, output: Output) -> None:
    """Tell the user, on stderr, what a fit will take if that is long.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC``.
    data : Dataset
        Rows and labels.
    output : Output
        Where notes go.
    """
    X: Any = data.X
    stored = X.nnz if hasattr(X, "nnz") else X.size
    # One class alone is for the fit to refuse.
    if output.quiet or stored < _LARGE or len(np.unique(np.asarray(data.y))) < 2:
        return
    told = estimate_fit(parameters, data)
    if told.whole.seconds >= _LONG:
        output.note(str(told))
