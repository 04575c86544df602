"""The result of comparing two models, as data and as a table."""

from __future__ import annotations

import enum
import math
import textwrap
from dataclasses import dataclass

from hinge.multiclass import Objective
from hinge.problem import Intercept

_WIDTH = 80  # of lines


class Closer(enum.StrEnum):
    """Which of two models is closer to the optimum; equal to its name, and shown as that."""

    A = "a"
    B = "b"
    NEITHER = "neither"

    __repr__ = str.__repr__


_BY_VIOLATION = {
    Closer.A: "a is closer to meeting the optimality conditions.",
    Closer.B: "b is closer to meeting the optimality conditions.",
    Closer.NEITHER: "Both violate the optimality conditions as much.",
}


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
    violation : float, default=nan
        Of kernel machines, the largest violation of the optimality conditions, infinite if support
        vectors are not rows of the data; NaN of linear ones, which are judged by their weights.
    """

    name: str
    objective: float
    gap: float
    relative_gap: float
    rounding: float
    labels_proven_right: int
    labels_proven_wrong: int
    violation: float = math.nan


@dataclass(frozen=True)
class Comparison:
    """Which of two models is closer to the optimum of their common objective, and by how much.

    Parameters
    ----------
    a, b : Standing
        The two models.
    lower_bound, upper_bound : float
        The optimum lies between these; both are infinite where the kernel is not positive
        semidefinite, since nothing is proven then.
    n_rows, n_problems : int
        How many rows the labels are of, and how many binary problems the objective sums.
    labels_that_differ : int
        On how many rows the two models differ.
    objective : Objective
        What they minimise.
    notes : tuple of str, default=()
        What the bounds rest on, or why there are none.
    """

    a: Standing
    b: Standing
    lower_bound: float
    upper_bound: float
    n_rows: int
    n_problems: int
    labels_that_differ: int
    objective: Objective
    notes: tuple[str, ...] = ()

    @property
    def closer(self) -> Closer:
        """The model with the smaller objective, "a" or "b"; "neither" if rounding may decide.

        Where nothing bounds the optimum it is the one that violates the optimality conditions less.
        """
        if not self._has_optimum:
            if self.a.violation == self.b.violation:
                return Closer.NEITHER
            return Closer.A if self.a.violation < self.b.violation else Closer.B
        if abs(self.a.objective - self.b.objective) <= self.a.rounding + self.b.rounding:
            return Closer.NEITHER
        return Closer.A if self.a.objective < self.b.objective else Closer.B

    @property
    def difference(self) -> float:
        """By what share of the smaller objective the larger one is above it.

        NaN where nothing bounds the optimum.
        """
        if not self._has_optimum:
            return math.nan
        low, high = sorted((self.a.objective, self.b.objective))
        return (high - low) / low

    @property
    def _has_optimum(self) -> bool:
        """Whether the objective is convex, so that there is an optimum to be close to."""
        return self.lower_bound > -math.inf

    def __str__(self) -> str:
        rows = [
            ("", f"a: {self.a.name}", f"b: {self.b.name}"),
            ("objective", f"{self.a.objective:.6g}", f"{self.b.objective:.6g}"),
            *(self._distances() if self._has_optimum else ()),
        ]
        if not math.isnan(self.a.violation):
            violations = (f"{model.violation:.2e}" for model in (self.a, self.b))
            rows.append(("violation of conditions", *violations))
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        table.insert(1, "-" * max(len(line) for line in table))
        return "\n".join([*self._title(), "", *table, "", *self._verdict()])

    def _distances(self) -> list[tuple[str, str, str]]:
        """Return the lines that say how far from the optimum both are."""
        return [
            ("above the optimum by", self._excess(self.a), self._excess(self.b)),
            ("relative gap, proven", f"{self.a.relative_gap:.2e}", f"{self.b.relative_gap:.2e}"),
            (
                "labels proven right",
                self._share(self.a.labels_proven_right),
                self._share(self.b.labels_proven_right),
            ),
            (
                "labels proven wrong",
                self._share(self.a.labels_proven_wrong),
                self._share(self.b.labels_proven_wrong),
            ),
        ]

    def _title(self) -> list[str]:
        scale = ""
        if self.objective.intercept is Intercept.AUGMENTED:
            scale = f", scale {self.objective.intercept_scale:g}"
        problems = "" if self.n_problems == 1 else f", {self.n_problems} problems"
        title = (
            f"Two models on {self.n_rows} rows{problems}: {self.objective.loss.name}, "
            f"C={self.objective.C:g}, intercept {self.objective.intercept.value}{scale}"
        )
        kernel = self.objective.kernel
        if kernel is None:
            return [title]
        named = ((name, getattr(kernel, name, None)) for name in ("degree", "gamma", "coef0"))
        numbers = "".join(f", {name}={value:g}" for name, value in named if value is not None)
        return [title, f"Kernel: {kernel.name}{numbers}"]

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
        if not self._has_optimum:
            closer = _BY_VIOLATION[self.closer]
        elif self.a.objective == self.b.objective:
            closer = "Both have the same objective."
        elif self.closer is Closer.NEITHER:
            closer = "Neither is closer: their objectives differ by no more than rounding."
        else:
            other = Closer.B if self.closer is Closer.A else Closer.A
            closer = (
                f"{self.closer} is closer to the optimum: the objective of {other} is "
                f"{100 * self.difference:.3g} % higher."
            )
        optimum = f"The optimum lies between {self.lower_bound:.8g} and {self.upper_bound:.8g}."
        return [
            *((optimum,) if self._has_optimum else ()),
            *(line for note in self.notes for line in textwrap.wrap(note, _WIDTH)),
            closer,
            f"Their labels differ on {self.labels_that_differ} of {self.n_rows} rows.",
        ]
