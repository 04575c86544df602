"""What came of checking a model's certificates against data: as data, and as sentences."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass
from typing import Any

from hinge.result import Certificate


class Optimality(enum.StrEnum):
    """What the data say of how close to the optimum a model is."""

    PROVEN = "proven"
    """Dual coefficients prove a relative gap below 1, recomputed from the data."""
    UNPROVEN = "unproven"
    """The objective is known; the optimum might be anything down to zero."""


@dataclass(frozen=True)
class ProblemVerification:
    """One binary problem of a model: what was stated and what was recomputed.

    Parameters
    ----------
    label : object
        The positive class, or the pair of classes.
    stated, recomputed : Certificate
        The model's certificate, and the one that the data give its point.
    differences : tuple of str
        A sentence for every stated number that the data do not confirm.
    """

    label: Any
    stated: Certificate
    recomputed: Certificate
    differences: tuple[str, ...]

    @property
    def truthful(self) -> bool:
        """Whether the data confirm everything that was stated."""
        return not self.differences

    @property
    def optimality(self) -> Optimality:
        """Whether the recomputed numbers prove a gap that says anything.

        Coefficients of zero are dual ones of every problem, with a dual value of zero: that no
        objective is negative is known without them.
        """
        is_proven = self.recomputed.relative_gap < 1.0
        return Optimality.PROVEN if is_proven else Optimality.UNPROVEN


@dataclass(frozen=True)
class Verification:
    """Whether a model's certificates are true of some data.

    Parameters
    ----------
    problems : tuple of ProblemVerification
        One for each binary problem.
    same_data : bool or None
        Whether the data have the fingerprint of the training data; None if the model has none.
    n_rows : int
        Rows of the data.
    reason : str or None, default=None
        Why nothing bounds the optimum from below, as a sentence, where it is not for want of dual
        coefficients.
    assumed : str or None, default=None
        What the proof takes the model's word for, as a sentence.
    """

    problems: tuple[ProblemVerification, ...]
    same_data: bool | None
    n_rows: int
    reason: str | None = None
    assumed: str | None = None

    @property
    def truthful(self) -> bool:
        """Whether the data confirm every stated number of every problem."""
        return all(problem.truthful for problem in self.problems)

    @property
    def optimality(self) -> Optimality:
        """Proven if every problem's gap is."""
        proven = all(problem.optimality is Optimality.PROVEN for problem in self.problems)
        return Optimality.PROVEN if proven else Optimality.UNPROVEN

    @property
    def relative_gap(self) -> float:
        """The largest relative gap of the problems, recomputed; infinite without dual points."""
        return max(problem.recomputed.relative_gap for problem in self.problems)

    @property
    def violation(self) -> float:
        """The largest violation of the optimality conditions, recomputed."""
        found = [problem.recomputed.kkt for problem in self.problems]
        return math.nan if any(map(math.isnan, found)) else max(found)

    @property
    def primal(self) -> float:
        """The objective, recomputed; with several classes the sum over their problems."""
        return sum(problem.recomputed.primal for problem in self.problems)

    def sentences(self) -> list[str]:
        """Return the result in words.

        Returns
        -------
        list of str
            The verdict first, then what it rests on, then every difference.
        """
        lines = [self._verdict(), self._objective(), self._data()]
        for problem in self.problems:
            where = f"{_named(problem.label)}: " if len(self.problems) > 1 else ""
            lines += [f"{where}{difference}" for difference in problem.differences]
        return [line for line in lines if line]

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def _verdict(self) -> str:
        if not self.truthful:
            wrong = sum(not problem.truthful for problem in self.problems)
            return (
                f"NOT confirmed: the certificates of {wrong} of {len(self.problems)} problems do "
                "not agree with these data."
            )
        if self.optimality is Optimality.PROVEN:
            return (
                "Confirmed: the recomputed numbers agree with the stated ones, and the model is "
                f"proven to be within a relative gap of {self.relative_gap:.3g} of the optimum."
            )
        return "Confirmed as far as it goes: no stated number is wrong, but optimality is unproven."

    def _objective(self) -> str:
        value = f"The objective on these {self.n_rows} rows is {self.primal:.10g}."
        if self.optimality is Optimality.PROVEN:
            is_shown = self.assumed is not None and self.truthful
            return f"{value} {self.assumed}" if is_shown else value
        if math.isfinite(self.relative_gap):
            return (
                f"{value} The dual coefficients leave a relative gap of {self.relative_gap:.3g}; "
                "from 1 on it says nothing of the optimum. Train the model further."
            )
        if self.reason is not None:
            return f"{value} {self.reason}"
        return (
            f"{value} Without dual coefficients that fit the data nothing bounds the optimum from "
            "below; save the model with proof=True to have them in the file."
        )

    def _data(self) -> str:
        if self.same_data is None:
            return "The model has no fingerprint of its training data to compare these with."
        if self.same_data:
            return "The data have the fingerprint of the training data."
        return "These are not the training data: their fingerprint differs."


def _named(label: Any) -> str:
    if isinstance(label, tuple):
        return f"Classes {label[0]!r} and {label[1]!r}"
    return f"Class {label!r}"
