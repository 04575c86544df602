"""A batch of queries, prepared once for whichever stages meet it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.functions import Check, Functions
from hinge.anytime.sides import Precision, Side
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


class Sides:
    """Basis points and support vectors as sides of kernel values, kept from batch to batch.

    Parameters
    ----------
    functions : Functions
        The functions.
    """

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self._kept: dict[tuple[str, bool, Precision], tuple[Rows, Side]] = {}
        self._made: dict[tuple[str, bool], tuple[Any, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {
            "functions": self.functions,
            "_kept": {},
            "_made": {},
        }  # the compiled core's views stay here

    def made(self, name: str, like: Rows, owner: Any, make: Callable[[], Any]) -> Any:
        """Return what was made for an owner and such queries, made now if it was not yet."""
        key = (name, like.is_sparse)
        kept = self._made.get(key)
        if kept is None or kept[0] is not owner:
            kept = self._made[key] = (owner, make())
        return kept[1]

    def get(self, name: str, rows: Rows, like: Rows, precision: Precision) -> Side:
        """Return rows of a name, prepared for such queries; other rows of the name replace them."""
        key = (name, like.is_sparse, precision)
        kept = self._kept.get(key)
        # The name only says where to look: bounds of other rows would be false.
        if kept is None or kept[0] is not rows:
            kept = self._kept[key] = (rows, self.functions.side(rows, like, precision))
        return kept[1]


class Queries:
    """Rows to classify.

    Parameters
    ----------
    sides : Sides
        What the queries meet.
    rows : Rows
        The queries.
    check : callable or None, default=None
        Called between pieces of work; raises to abandon it.
    """

    def __init__(self, sides: Sides, rows: Rows, check: Check | None = None) -> None:
        self.rows, self.check = rows, check
        self._sides = sides
        self._own: dict[Precision, Side] = {}

    def side(self, precision: Precision) -> Side:
        """Return the queries as points of kernel values."""
        if precision not in self._own:
            wider = self._own.get(np.float64)
            functions = self._sides.functions
            self._own[precision] = functions.side(
                self.rows, self.rows, precision, wider, is_counted=False
            )
        return self._own[precision]

    def terms(self, name: str, rows: Rows, precision: Precision) -> Side:
        """Return rows that the queries meet, prepared once for all batches."""
        return self._sides.get(name, rows, self.rows, precision)

    def made(self, name: str, owner: Any, make: Callable[[], Any]) -> Any:
        """Return what is made once for such queries, and kept from batch to batch."""
        return self._sides.made(name, self.rows, owner, make)

    def full_errors(self, ids: Ids) -> Floats:
        """Return bounds on the rounding error of the full evaluation of some queries."""
        functions = self._sides.functions
        support = self.terms("support", functions.machine.support, np.float64)
        return functions.full_errors(self.side(np.float64).part(ids), support)
