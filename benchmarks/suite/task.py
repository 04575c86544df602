"""What is to be solved: a data set, a loss, C, an intercept treatment and a precision."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Task:
    """``min 1/2 ||w||^2 (+ 1/2 b^2 if augmented) + C sum_i loss(y_i (w'x_i + b))``.

    Parameters
    ----------
    dataset : str
        Name of a module in ``benchmarks.suite.datasets``.
    C : float
        Weight of the losses.
    loss : {"hinge", "squared_hinge"}
        Loss.
    intercept : {"augmented", "free"}
        ``augmented``: weight of a feature that is constantly 1, and in the norm; ``free``: not.
    dtype : {"float64", "float32"}
        Precision of the arrays that every method is given.
    """

    dataset: str
    C: float
    loss: str = "hinge"
    intercept: str = "augmented"
    dtype: str = "float64"

    @property
    def title(self) -> str:
        """Data set, C and a free intercept, as tables show them."""
        free = ", free intercept" if self.intercept == "free" else ""
        return f"{self.dataset}, C = {self.C:g}{free}"

    @property
    def slug(self) -> str:
        """A name that is fit for a file."""
        parts = (self.dataset, f"C{self.C:g}", self.loss, self.intercept, self.dtype)
        return "-".join(parts)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)
