"""When to compute and store all margins again: it changes speed, never a value beyond rounding."""

from __future__ import annotations

import enum
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from hinge.errors import unknown_name
from hinge.parameters import positive

_LONGEST_REST = 7  # evaluations; each look in vain costs some percent of one


class Action(enum.StrEnum):
    """How an evaluation is done."""

    PRUNED = "pruned"  # only rows that the bound leaves open
    FULL = "full"  # all rows; their margins become the stored ones


@dataclass
class Record:
    """What has happened since all margins were stored.

    Parameters
    ----------
    n_rows : int
        Rows of the index.
    row_work : float
        Stored values of a row, on average.
    n_features : int
        Number of features.
    evaluations : int, default=0
        Pruned evaluations since.
    examined : int, default=0
        Rows examined in them, together.
    last : int, default=0
        Rows examined in the last of them.
    least : int, default=0
        The fewest rows examined in one of them.
    misses : int, default=0
        How often in a row stored margins were of no use even once.
    rests : int, default=0
        For how many evaluations to come all rows are taken without a look at the bound.
    """

    n_rows: int
    row_work: float
    n_features: int
    evaluations: int = 0
    examined: int = 0
    last: int = 0
    least: int = 0
    misses: int = 0
    rests: int = 0

    def miss_or_renew(self) -> None:
        """Count that all rows are taken; rest for a while where margins were stored in vain."""
        self.misses = self.misses + 1 if self.evaluations == 0 else 0
        self.rests = min(max(self.misses - 1, 0), _LONGEST_REST)

    def reset(self) -> None:
        """Begin anew after a full pass."""
        self.evaluations = self.examined = self.last = 0
        self.least = self.n_rows

    def add(self, examined: int) -> None:
        """Count one pruned evaluation."""
        self.evaluations += 1
        self.examined += examined
        self.last = examined
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
            What has happened since all margins were stored.
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
    """Store again after a fixed number of evaluations: equation 4.

    Parameters
    ----------
    c : float, default=10.0
        At most 1 part in c + 1 of the time goes to sorting.
    """

    name: ClassVar[str] = "period"

    def __init__(self, c: float = 10.0) -> None:
        self.c = positive(c, "c")

    def choose(self, record: Record, open_rows: int) -> Action:
        """Take all rows when the period is over, and where nothing is spared."""
        is_over = record.evaluations >= sort_period(record, self.c)
        return Action.FULL if is_over or open_rows >= record.n_rows else Action.PRUNED


class Adaptive(Period):
    """The rule of section 3: after the period, when storing again promises to pay.

    Either less than half of the rows were spared last time, or what was spared above the present
    rate exceeds the cost of a sort.

    Parameters
    ----------
    c : float, default=10.0
        As in :class:`Period`.
    """

    name: ClassVar[str] = "adaptive"

    def choose(self, record: Record, open_rows: int) -> Action:
        """Take all rows by conditions a and b of section 3, and where nothing is spared."""
        if open_rows >= record.n_rows:
            return Action.FULL
        if record.evaluations >= sort_period(record, self.c):
            excess = record.evaluations * record.last - record.examined
            sorting = record.n_rows * math.log(max(record.n_rows, 2))
            cost = record.n_rows + sorting / max(record.row_work, 1.0)
            if 2 * record.last > record.n_rows or excess > cost:
                return Action.FULL
        return Action.PRUNED


class Measured(ResortPolicy):
    """Store again when rows examined beyond the best case have cost as much as all rows.

    The constants are part of the object, so that a run gives the same bits wherever it goes on;
    :func:`hinge.bounds.measure` gives those of this machine and these data.

    Parameters
    ----------
    open_row : float, default=1.3
        Cost of examining one row of a list, relative to a row of a full pass.
    store_row : float, default=0.1
        Cost of storing a margin, per row, in the same unit.
    """

    name: ClassVar[str] = "measured"

    def __init__(self, open_row: float = 1.3, store_row: float = 0.1) -> None:
        self.open_row = positive(open_row, "open_row")
        self.store_row = positive(store_row, "store_row")

    def choose(self, record: Record, open_rows: int) -> Action:
        """Take all rows when the accumulated excess exceeds their price."""
        if self.open_row * open_rows >= record.n_rows:
            return Action.FULL
        best = min(record.least, open_rows)
        excess = self.open_row * (record.examined + open_rows - (record.evaluations + 1) * best)
        price = record.n_rows * (1.0 + self.store_row) - self.open_row * best
        return Action.FULL if excess > price else Action.PRUNED

    def __repr__(self) -> str:
        return f"Measured(open_row={self.open_row!r}, store_row={self.store_row!r})"


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
