"""The index of margins as a part of a solver's state.

The index holds numbers per row, all of which follow from the weights of its last sort. A state
therefore keeps only these weights and the counts of the policy: an index that is made anew from
them evaluates with the same bits as the one that was lost.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hinge.bounds import Action, Bound, Evaluation, Measured, ResortPolicy, SortedMargins
from hinge.problem import Problem

Floats = NDArray[np.float64]

# Prices that no clock has measured, so that a run has the same bits on every machine.
FROZEN = {"open_row": 1.5, "sort_row": 0.2}


class EveryRow(ResortPolicy):
    """Examine every row, always: what evaluating costs without bounds."""

    name: ClassVar[str] = "every-row"

    def choose(self, record: Any, open_rows: int) -> Action:  # noqa: ARG002
        """Return the plain pass."""
        return Action.PLAIN


class MarginIndex:
    """Evaluates the losses of a problem, and remembers what it takes to be made anew.

    Parameters
    ----------
    problem : Problem
        Rows, labels, weights and loss.
    bound : str, Bound or None
        The bound of the index; None examines every row.
    policy : ResortPolicy or None
        When to sort; None is ``Measured`` with prices that are the same everywhere.
    memory : dict
        What an earlier index has remembered; empty at the beginning. Kept up to date.
    """

    def __init__(
        self,
        problem: Problem,
        bound: str | Bound | None,
        policy: ResortPolicy | None,
        memory: dict[str, Any],
    ) -> None:
        chosen = policy or Measured(**FROZEN)
        self._index = SortedMargins(
            problem.rows,
            problem.signs,
            bound="sphere" if bound is None else bound,
            policy=EveryRow() if bound is None else chosen,
            sample_weight=problem.sample_weight,
        )
        self._loss = problem.loss
        self._memory = memory
        if memory:
            self._index.sort(memory["w"], memory["b"], self._loss)
            for name, value in memory["record"].items():
                setattr(self._index.record, name, value)

    def evaluate(self, w: Floats, b: float) -> Evaluation:
        """Return the sum of weight times loss over all rows, and its gradient."""
        found = self._index.evaluate(w, b, self._loss)
        if self._index.record.evaluations == 0:  # it was sorted just now
            self._memory.update(w=w.copy(), b=b)
        self._memory["record"] = asdict(self._index.record)
        return found
