"""Stacks of panels of rows, which meet a panel of support vectors while that is in the cache.

Stacks depend on the data alone, since the order of sums does; there are enough of them for threads
to end together, and none takes long. Rows that are small are prepared once, however many parts the
support vectors come in.
"""

from __future__ import annotations

from hinge.certificates.kernel_machine import Cut, Machine
from hinge.certificates.kernel_operands import PANEL_ROWS, Wanted
from hinge.certificates.kernel_panels import Panel, Panels

_STACK_ROWS = 2048  # of a stack, at the most
_TASK_VALUES = 1 << 25  # of a stack and the support vectors it meets: some 50 ms, then check asks
_STACKS = 16  # at the least, if there are as many panels
_KEPT_BYTES = 1 << 23  # of all rows, if they are prepared once
# Products with sparse rows are made of short calls, between which threads wait for each other.
SPARSE_PANEL_ROWS = 2 * PANEL_ROWS


def panel_rows(machine: Machine) -> int:
    """Return how many rows a panel has."""
    is_sparse = machine.rows.is_sparse and not machine.is_dear
    return SPARSE_PANEL_ROWS if is_sparse else PANEL_ROWS


class Stacks:
    """Rows in stacks of panels.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    panels : Panels
        How panels are prepared.
    wanted : tuple of Rows and ndarray of int
        The rows.
    heights : list of tuple
        Where panels begin and end.

    Attributes
    ----------
    heights : list of list of tuple
        Where the panels of each stack begin and end.
    """

    def __init__(
        self, machine: Machine, panels: Panels, wanted: Wanted, heights: list[Cut]
    ) -> None:
        self._panels, self._wanted = panels, wanted
        widest = max(cuts[-1][1] - cuts[0][0] for cuts in machine.loads())
        most = min(_STACK_ROWS, _TASK_VALUES // widest) // panel_rows(machine)
        size = 1 if machine.is_dear else max(1, min(most, len(heights) // _STACKS))
        self.heights = [heights[at : at + size] for at in range(0, len(heights), size)]
        rows, ids = wanted
        prepared = panels.row_bytes(rows) * len(ids)
        self._kept: dict[int, list[Panel]] | None = {} if prepared <= _KEPT_BYTES else None

    def __len__(self) -> int:
        return len(self.heights)

    def panels(self, number: int) -> list[Panel]:
        """Return the panels of a stack."""
        if self._kept is not None and number in self._kept:
            return self._kept[number]
        rows, ids = self._wanted
        made = [self._panels.panel(rows, ids[slice(*height)]) for height in self.heights[number]]
        if self._kept is not None:
            self._kept[number] = made
        return made
