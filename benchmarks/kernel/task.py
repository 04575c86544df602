"""What is to be solved: rows of a data set, C, and the width of a Gaussian kernel."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class KernelTask:
    """A machine with the kernel ``exp(-gamma ||a - b||^2)``, hinge loss and a free intercept.

    Parameters
    ----------
    dataset : str
        Name in ``benchmarks.kernel.data``.
    n_rows : int or None
        How many of the training rows; None for all of them.
    C : float
        Weight of the losses.
    gamma : float or None
        Of the kernel; None for 1 / (features x variance), the rule that is called "scale".
    """

    dataset: str
    n_rows: int | None
    C: float
    gamma: float | None

    @property
    def title(self) -> str:
        """Data set, rows, C and gamma, as tables show them."""
        rows = "" if self.n_rows is None else f" {self.n_rows}"
        gamma = "scale" if self.gamma is None else f"{self.gamma:g}"
        return f"{self.dataset}{rows}, C = {self.C:g}, gamma = {gamma}"

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain values."""
        return asdict(self)


TASKS: tuple[KernelTask, ...] = (
    KernelTask("usps", None, 10.0, None),
    KernelTask("a9a", None, 1.0, 0.005),
    KernelTask("a9a", None, 1.0, 0.05),
    KernelTask("mnist", 20_000, 10.0, 0.005),
    KernelTask("mnist", 20_000, 10.0, 0.02),
    KernelTask("covtype", 50_000, 10.0, 1.0),
    KernelTask("mnist", 60_000, 10.0, 0.005),
    KernelTask("mnist", 60_000, 10.0, 0.02),
)

# Some thousand rows of few features, and text: where fixed costs, steps on pairs of rows and
# certificates count more than kernel values.
SMALL_TASKS: tuple[KernelTask, ...] = tuple(
    KernelTask(dataset, n_rows, C, None)
    for dataset, n_rows in (
        ("adult", 8000),
        ("covtype classes", 8000),
        ("made", 8000),
        ("money-fx", 4000),
        ("poker", 5000),
    )
    for C in (1.0, 100.0)
)

QUICK_TASKS: tuple[KernelTask, ...] = (
    KernelTask("usps", 1500, 10.0, None),
    KernelTask("a9a", 2000, 1.0, 0.05),
    KernelTask("mnist", 1000, 10.0, 0.02),
    KernelTask("covtype", 2000, 10.0, 1.0),
)
