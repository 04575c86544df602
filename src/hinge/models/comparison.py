"""The result of comparing two models, as data and as a table."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from hinge.multiclass import Objective
from hinge.problem import Intercept


class Closer(enum.StrEnum):
    """Which of two models is closer to the optimum; equal to its name, and shown as that."""

    A = "a"
    B = "b"
    NEITHER = "neither"

    __repr__ = str.__repr__


@dataclass(frozen=True)
class Standing:
    """How one model stands to the optimum.

    Parameters
    ----------
    name : str
        The model's class.
    objective : float
        Its objective, recomputed; with several classes the sum over their problems.
    gap, relative_gap : float
        Proven bounds on how far that is above the optimum: absolute, and relative to the lower
        bound on the optimum (to the objective where that bound is 0).
    rounding : float
        How much of ``gap`` is the rounding bound.
    labels_proven_right, labels_proven_wrong : int
        How many of its labels are proven to be those of the optimum, and proven not to be.
    """

    name: str
    objective: float
    gap: float
    relative_gap: float
    rounding: float
    labels_proven_right: int
    labels_proven_wrong: int


@dataclass(frozen=True)
class Comparison:
    """Which of two models is closer to the optimum of their common objective, and by how much.

    Parameters
    ----------
    a, b : Standing
        The two models.
    lower_bound, upper_bound : float
        The optimum lies between these.
    n_rows, n_problems : int
        How many rows the labels are of, and how many binary problems the objective sums.
    labels_that_differ : int
        On how many rows the two models differ.
    objective : Objective
        What they minimise.
    """

    a: Standing
    b: Standing
    lower_bound: float
    upper_bound: float
    n_rows: int
    n_problems: int
    labels_that_differ: int
    objective: Objective

    @property
    def closer(self) -> Closer:
        """The model with the smaller objective, "a" or "b"; "neither" if rounding may decide."""
        if abs(self.a.objective - self.b.objective) <= self.a.rounding + self.b.rounding:
            return Closer.NEITHER
        return Closer.A if self.a.objective < self.b.objective else Closer.B

    @property
    def difference(self) -> float:
        """By what share of the smaller objective the larger one is above it."""
        low, high = sorted((self.a.objective, self.b.objective))
        return (high - low) / low

    def __str__(self) -> str:
        rows = [
            ("", f"a: {self.a.name}", f"b: {self.b.name}"),
            ("objective", f"{self.a.objective:.6g}", f"{self.b.objective:.6g}"),
            ("above the optimum by", self._excess(self.a), self._excess(self.b)),
            ("relative gap, proven", f"{self.a.relative_gap:.2e}", f"{self.b.relative_gap:.2e}"),
            (
                "labels proven right",
                *(self._share(model.labels_proven_right) for model in (self.a, self.b)),
            ),
            (
                "labels proven wrong",
                *(self._share(model.labels_proven_wrong) for model in (self.a, self.b)),
            ),
        ]
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        table.insert(1, "-" * max(len(line) for line in table))
        return "\n".join([self._title(), "", *table, "", *self._verdict()])

    def _title(self) -> str:
        scale = ""
        if self.objective.intercept is Intercept.AUGMENTED:
            scale = f", scale {self.objective.intercept_scale:g}"
        problems = "" if self.n_problems == 1 else f", {self.n_problems} problems"
        return (
            f"Two models on {self.n_rows} rows{problems}: {self.objective.loss.name}, "
            f"C={self.objective.C:g}, intercept {self.objective.intercept.value}{scale}"
        )

    def _excess(self, model: Standing) -> str:
        """Return between which percentages the model's objective is above the optimum."""
        least = max(0.0, model.objective / self.upper_bound - 1.0) if self.upper_bound else 0.0
        if self.lower_bound <= 0.0:
            return f"at least {100 * least:.3g} %"
        most = model.relative_gap
        if most - least < 0.005 * least:
            return f"{100 * most:.3g} %"
        return f"at most {100 * most:.2g} %"

    def _share(self, labels: int) -> str:
        return f"{labels} of {self.n_rows}"

    def _verdict(self) -> list[str]:
        if self.a.objective == self.b.objective:
            closer = "Both have the same objective."
        elif self.closer is Closer.NEITHER:
            closer = "Neither is closer: their objectives differ by no more than rounding."
        else:
            other = Closer.B if self.closer is Closer.A else Closer.A
            closer = (
                f"{self.closer} is closer to the optimum: the objective of {other} is "
                f"{100 * self.difference:.3g} % higher."
            )
        return [
            f"The optimum lies between {self.lower_bound:.8g} and {self.upper_bound:.8g}.",
            closer,
            f"Their labels differ on {self.labels_that_differ} of {self.n_rows} rows.",
        ]
