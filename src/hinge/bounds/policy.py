"""When to sort the margins again. A policy changes speed, never a value beyond rounding."""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hinge.errors import unknown_name
from hinge.parameters import positive


class Action(enum.StrEnum):
    """How an evaluation is done."""

    PRUNED = "pruned"  # only rows that the bound leaves open
    SORT = "sort"  # all rows; their margins become the stored ones
    PLAIN = "plain"  # all rows, and nothing is stored


@dataclass
class Record:
    """What has happened since the last sort.

    Parameters
    ----------
    n_rows : int
        Rows of the index.
    row_work : float
        Stored values of a row, on average.
    n_features : int
        Number of features.
    evaluations : int, default=0
        Evaluations since the last sort.
    pruned : int, default=0
        Rows spared in these evaluations, together.
    last_pruned : int, default=0
        Rows spared in the last of them.
    least : int, default=0
        The fewest rows examined in one of them.
    examined : int, default=0
        Rows examined in these evaluations, together.
    """

    n_rows: int
    row_work: float
    n_features: int
    evaluations: int = 0
    pruned: int = 0
    last_pruned: int = 0
    least: int = 0
    examined: int = 0

    def reset(self) -> None:
        """Begin anew after a sort."""
        self.evaluations = self.pruned = self.examined = 0
        self.last_pruned = self.least = self.n_rows

    def add(self, examined: int) -> None:
        """Count one evaluation."""
        self.evaluations += 1
        self.last_pruned = self.n_rows - examined
        self.pruned += self.last_pruned
        self.examined += examined
        self.least = min(self.least, examined)


class ResortPolicy(ABC):
    """Decides, before each evaluation, how it is done."""

    name: ClassVar[str]

    @abstractmethod
    def choose(self, record: Record, open_rows: int) -> Action:
        """Return how to evaluate.

        Parameters
        ----------
        record : Record
            What has happened since the last sort.
        open_rows : int
            Rows that the bound leaves open at the weights to evaluate.

        Returns
        -------
        Action
            What to do.
        """


def sort_period(record: Record, c: float) -> float:
    """Return the period of equation 4: c times sorting over evaluating, constants left out."""
    touched = record.row_work * record.n_rows + record.n_features
    sorting = record.n_rows * math.log(max(record.n_rows, 2))
    return c * (touched + sorting) / max(touched, 1.0)


class Period(ResortPolicy):
    """Sort again after a fixed number of evaluations: equation 4.

    Parameters
    ----------
    c : float, default=10.0
        At most 1 part in c + 1 of the time goes to sorting.
    """

    name: ClassVar[str] = "period"

    def __init__(self, c: float = 10.0) -> None:
        self.c = positive(c, "c")

    def choose(self, record: Record, open_rows: int) -> Action:
        """Sort when the period is over; a plain pass where nothing is spared."""
        if record.evaluations >= sort_period(record, self.c):
            return Action.SORT
        return Action.PLAIN if open_rows >= record.n_rows else Action.PRUNED


class Adaptive(Period):
    """The rule of section 3: after the period, when sorting again promises to pay.

    Either less than half of the rows were spared last time, or what the last sort has spared above
    the present rate exceeds the cost of a sort.
    """

    name: ClassVar[str] = "adaptive"

    def choose(self, record: Record, open_rows: int) -> Action:
        """Sort by conditions a and b of section 3."""
        if record.evaluations >= sort_period(record, self.c):
            excess = record.pruned - record.evaluations * record.last_pruned
            sorting = record.n_rows * math.log(max(record.n_rows, 2))
            cost = record.n_rows + sorting / max(record.row_work, 1.0)
            if 2 * record.last_pruned < record.n_rows or excess > cost:
                return Action.SORT
        return Action.PLAIN if open_rows >= record.n_rows else Action.PRUNED


class Measured(ResortPolicy):
    """Sort again when the rows examined beyond the best case have cost as much as a sort.

    Parameters
    ----------
    open_row : float, default=1.5
        Cost of a row that is examined alone, relative to a row of a plain pass.
    sort_row : float, default=0.2
        Cost of sorting, per row, in the same unit.
    """

    name: ClassVar[str] = "measured"

    def __init__(self, open_row: float = 1.5, sort_row: float = 0.2) -> None:
        self.open_row = positive(open_row, "open_row")
        self.sort_row = positive(sort_row, "sort_row")

    def choose(self, record: Record, open_rows: int) -> Action:
        """Sort when the accumulated excess exceeds the price of a sort."""
        best = min(record.least, open_rows)
        excess = self.open_row * (record.examined + open_rows - (record.evaluations + 1) * best)
        price = record.n_rows * (1.0 + self.sort_row) - self.open_row * best
        if excess > price:
            return Action.SORT
        is_dear = self.open_row * open_rows >= record.n_rows
        return Action.PLAIN if is_dear else Action.PRUNED


_POLICIES: dict[str, type[ResortPolicy]] = {
    "period": Period,
    "adaptive": Adaptive,
    "measured": Measured,
}


def get_policy(policy: str | ResortPolicy | None) -> ResortPolicy:
    """Return the policy of that name, the policy itself, or the default.

    Parameters
    ----------
    policy : str, ResortPolicy or None
        ``"period"``, ``"adaptive"``, ``"measured"``, an object, or None for ``"measured"``.

    Returns
    -------
    ResortPolicy
        The policy.
    """
    if policy is None:
        return Measured()
    if isinstance(policy, ResortPolicy):
        return policy
    if not isinstance(policy, str) or policy not in _POLICIES:
        raise unknown_name(policy, "policy", _POLICIES)
    return _POLICIES[policy]()
