"""What is remembered of every tracked point: one array per fact, one slot per point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class Tracked:
    """Points by name.

    Parameters
    ----------
    n_classes : int
        How many decision values a point has.

    Attributes
    ----------
    names : ndarray of shape (n,)
        Who they are.
    scores : ndarray of shape (n, n_classes)
        Decision values where the point was last read.
    winner : ndarray of shape (n,)
        Number of its class.
    norm, travelled : ndarray of shape (n,)
        Upper bounds on its norm when it was last read, and on its distance from there now.
    version : ndarray of shape (n,)
        Number of the machine that it was last read under.
    open : ndarray of bool of shape (n,)
        Whether its label has become unknown.
    is_kept : ndarray of bool of shape (n,)
        Whether the row that it was last read from is kept.
    """

    def __init__(self, n_classes: int) -> None:
        self.names: NDArray[Any] = np.zeros(0, dtype=np.int64)
        self.scores = np.zeros((0, n_classes))
        self.winner: Numbers = np.zeros(0, dtype=np.int64)
        self.norm: Floats = np.zeros(0)
        self.travelled: Floats = np.zeros(0)
        self.version: Numbers = np.zeros(0, dtype=np.int64)
        self.open = np.zeros(0, dtype=bool)
        self.is_kept = np.zeros(0, dtype=bool)
        self._rows: Floats | None = None
        self._order: Numbers = np.zeros(0, dtype=np.int64)  # slots by name

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, n_features: int) -> Floats:
        """Return the rows as last read, one per slot; only those that are kept mean anything."""
        if self._rows is None:
            self._rows = np.zeros((len(self), n_features))
        return self._rows

    def slots(self, names: NDArray[Any]) -> Numbers:
        """Return where these points are kept; -1 for those that are not tracked."""
        if len(self) == 0 or len(names) == 0:
            return np.full(len(names), -1, dtype=np.int64)
        self._check_kind(names)
        places = np.searchsorted(self.names, names, sorter=self._order)
        slots = self._order[np.minimum(places, len(self) - 1)]
        return np.where(self.names[slots] == names, slots, -1)

    def with_new(self, names: NDArray[Any]) -> Numbers:
        """Return where these points are kept, making room for those that are new."""
        slots = self.slots(names)
        new = names[slots < 0]
        if len(new) == 0:
            return slots
        self.names = np.concatenate([self.names, new]) if len(self) else new.copy()
        self._resize(np.append(np.arange(len(self.winner)), np.full(len(new), -1)))
        return self.slots(names)

    def drop(self, names: NDArray[Any]) -> None:
        """Forget these points."""
        slots = self.slots(names)
        kept = np.ones(len(self), dtype=bool)
        kept[slots[slots >= 0]] = False
        self.names = self.names[kept]
        self._resize(np.flatnonzero(kept))

    def _resize(self, source: Numbers) -> None:
        """Take every array's entries from these slots; -1 is a new, empty one."""
        is_new = source < 0
        facts = ("scores", "winner", "norm", "travelled", "version", "open", "is_kept", "_rows")
        for name in facts:
            old = getattr(self, name)
            if old is None:
                continue
            array = np.zeros((len(source), *old.shape[1:]), dtype=old.dtype)
            array[~is_new] = old[source[~is_new]]
            setattr(self, name, array)
        self._order = np.argsort(self.names, kind="stable")

    def _check_kind(self, names: NDArray[Any]) -> None:
        """Refuse words among numbers, and bytes among text: they would not compare."""
        if names.dtype.kind != self.names.dtype.kind:
            message = (
                f"ids must be of one kind; the points tracked have ids of type {self.names.dtype}, "
                f"these are of type {names.dtype}."
            )
            raise InvalidParameterError(message)
