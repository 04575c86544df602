"""The problems: small sets as they are, large ones as in the benchmarks of kernel machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import hinge
from benchmarks.kernel import data
from benchmarks.suite import arrays
from benchmarks.suite.datasets.base import archive


@dataclass(frozen=True)
class Task:
    """A problem with the gap that is asked for.

    Parameters
    ----------
    name : str
        What it is called.
    gap : float
        Relative gap to reach.
    C, gamma : float
        The problem's C, and gamma of the RBF kernel.
    """

    name: str
    gap: float
    C: float
    gamma: float

    def problem(self, **options: Any) -> hinge.Problem:
        """Return the problem: hinge loss and a free intercept, unless options say otherwise."""
        X, y = _rows(self.name)
        kernel = hinge.kernels.RBF(gamma=self.gamma)
        return hinge.Problem(X, y, C=self.C, kernel=kernel, **options)


TASKS = (
    Task("sonar", 1e-6, 10.0, 0.07),
    Task("haberman", 1e-6, 10.0, 0.5),
    Task("usps", 1e-6, 10.0, 0.01),
    Task("adult-5000", 1e-4, 1.0, 0.05),
    Task("a9a", 1e-3, 1.0, 0.05),
    Task("covtype-20k", 1e-3, 10.0, 1.0),
    Task("mnist-8-10k", 1e-3, 10.0, 0.02),
)
PATHS = (Task("sonar", 1e-6, 1.0, 0.07), Task("adult-2000", 1e-6, 1.0, 0.05))


def _rows(name: str) -> tuple[Any, Any]:
    """Return rows and labels."""
    if name in ("sonar", "haberman"):
        stored = archive(name)
        X = stored["X"].astype(np.float64)
        if name == "haberman":
            X = (X - X.mean(axis=0)) / X.std(axis=0)
        return X, stored["y"]
    if name == "usps":
        X, y = arrays.read(data.folder("usps", None, "float64") / "train")
        return X, np.asarray(y) == 0
    dataset, count = {
        "adult-2000": ("a9a", 2000),
        "adult-5000": ("a9a", 5000),
        "a9a": ("a9a", None),
        "covtype-20k": ("covtype", 20_000),
        "mnist-8-10k": ("mnist", 10_000),
    }[name]
    X, y = arrays.read(data.folder(dataset, count, "float64") / "train")
    return X, y
