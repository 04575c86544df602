"""Passes over rows of a kernel machine: panels against the support vectors, and their sums.

A rectangle is rows against support vectors; a triangle support vectors against each other, a
symmetric matrix of which one half is computed. Panels and the order of sums depend on the data
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.block_map import map_numbers
from hinge.certificates.kernel_machine import Cut, Machine, row_factors
from hinge.certificates.kernel_margins import Scores, absolute_error, bounded_error
from hinge.certificates.kernel_operands import PANEL_ROWS, Wanted
from hinge.certificates.kernel_panels import PANEL_COLUMNS, Columns, Panel, Panels
from hinge.certificates.kernel_stacks import Stacks
from hinge.certificates.kernel_weights import PanelWeights, sum_error, sum_loss
from hinge.inequality import UNIT_ROUNDOFF, rounding_factor

Floats = NDArray[np.float64]


class Sums:
    """Sums over support vectors of either sign, of absolute values, and the norms of the rows.

    Parameters
    ----------
    n : int
        How many rows there are.
    """

    def __init__(self, n: int) -> None:
        self.sums = np.zeros((3, n))
        self.norms = np.zeros(n)

    def take(self, heights: list[Cut], stack: list[Panel], found: list[Floats]) -> None:
        """Add what was found for the rows of a stack."""
        for (first, last), panel, sums in zip(heights, stack, found, strict=True):
            self.sums[:, first:last] += sums * panel.factors
            self.norms[first:last] = panel.norms

    def finished(self, machine: Machine, wanted: Wanted, panels: Panels) -> Scores:
        """Return the scores with the factors of their rows and the bound on their errors."""
        plus, minus, magnitude = self.sums
        if machine.never_cancels:
            magnitude = plus + minus
        relative, absolute = panels.error(self.norms)
        absolute = absolute + sum_loss(panels.dtype, len(machine.ids))
        # A panel's sum, then the sums of panels one after another, or in a tree.
        n = len(machine.ids)
        summed = min(n, max(PANEL_COLUMNS, PANEL_ROWS)) + 2 * (n // PANEL_ROWS) + 8
        relative = relative + (rounding_factor(summed) + sum_error(panels.dtype))
        sums = np.stack((plus, minus, magnitude))
        core = machine.kernel.core
        absolute = absolute_error(core, (relative, absolute), magnitude, machine.total)
        return with_factors(machine, wanted, sums, (relative, absolute))


def with_factors(
    machine: Machine, wanted: Wanted, sums: Floats, errors: tuple[Floats, Floats]
) -> Scores:
    """Return scores with the factors of their rows.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    wanted : tuple of Rows and ndarray of int
        The rows: of which data, and which.
    sums : ndarray of shape (3, n)
        Sums over support vectors of positive and of negative coefficient, and without signs.
    errors : tuple of two ndarray of shape (n,)
        Bounds on errors relative to the last, and on all others.
    """
    relative, absolute = errors
    relative = relative + (machine.weight_error + 8.0 * UNIT_ROUNDOFF)
    if machine.has_factors:
        factors, inexact = row_factors(machine.kernel, *wanted)
        sums, absolute, relative = sums * factors, absolute * factors, relative + inexact
    plus, minus, magnitude = sums
    return Scores(plus, minus, magnitude, bounded_error(relative, magnitude, absolute))


@dataclass(frozen=True)
class Load:
    """Panels of support vectors that are prepared, with their coefficients.

    Parameters
    ----------
    machine : Machine
        The support vectors.
    panels : Panels
        How kernel values are computed.
    cuts : list of tuple
        Which support vectors each panel has.
    columns, weights : list
        The panels, and the coefficients.
    """

    machine: Machine
    panels: Panels
    cuts: list[Cut]
    columns: list[Columns]
    weights: list[PanelWeights]

    @property
    def begin(self) -> int:
        """The first support vector."""
        return self.cuts[0][0]

    @property
    def end(self) -> int:
        """The one after the last."""
        return self.cuts[-1][1]

    @staticmethod
    def prepared(machine: Machine, panels: Panels, cuts: list[Cut], threads: int) -> Load:
        """Prepare the support vectors of some cuts."""

        def columns(number: int) -> list[Columns]:
            return [panels.columns(machine.rows, machine.ids[slice(*cuts[number])])]

        found = map_numbers(columns, len(cuts), list.__add__, threads=threads)
        weights = [
            PanelWeights(machine.weights[slice(*cut)] * some.factors, panels.dtype)
            for cut, some in zip(cuts, found, strict=True)
        ]
        return Load(machine, panels, cuts, found, weights)

    def add(self, sums: Floats, values: NDArray[Any], side: int, weights: PanelWeights) -> None:
        """Add what a panel of values gives to the sums of its rows."""
        sums[side] += weights.sums(values)
        if not self.machine.never_cancels:
            sums[2] += weights.sums(np.abs(values, out=values))


def prepared_loads(machine: Machine, panels: Panels, threads: int) -> Iterator[Load]:
    """Prepare support vectors, as many at a time as there is room for.

    Parameters
    ----------
    machine : Machine
        The support vectors; it keeps them if there is room for all.
    panels : Panels
        How kernel values are computed.
    threads : int
        Threads that share out panels.
    """
    if panels in machine.kept:
        yield Load(machine, panels, *machine.kept[panels])
        return
    loads = machine.loads()
    for cuts in loads:
        load = Load.prepared(machine, panels, cuts, threads)
        if len(loads) == 1 and machine.asked is not None:
            # Not the load, which knows the machine: two objects that know each other, and the
            # buffers of their panels, would stay until the next garbage collection.
            machine.kept[panels] = load.cuts, load.columns, load.weights
        yield load


@dataclass(frozen=True)
class Rectangle:
    """Rows against prepared support vectors, a stack of rows at a time.

    Parameters
    ----------
    load : Load
        The support vectors.
    stacks : Stacks
        The rows.
    sums : Sums
        What to add to.
    """

    load: Load
    stacks: Stacks
    sums: Sums

    def __call__(self, number: int) -> None:
        """Add what the support vectors give to a stack of panels of rows."""
        load, panels, stack = self.load, self.load.panels, self.stacks.panels(number)
        sums = [np.zeros((3, len(panel.factors))) for panel in stack]
        for cut, columns, weights in zip(load.cuts, load.columns, load.weights, strict=True):
            side = load.machine.side(cut)
            for panel, found in zip(stack, sums, strict=True):
                load.add(found, panels.values(panel, columns), side, weights)
        self.sums.take(self.stacks.heights[number], stack, sums)


@dataclass(frozen=True)
class Triangle:
    """Support vectors against those prepared that come after them: half of a symmetric matrix.

    Parameters
    ----------
    load : Load
        Those that are prepared.
    stacks : Stacks
        All of them, as rows.
    sums : Sums
        What to add to.
    """

    load: Load
    stacks: Stacks
    sums: Sums

    def __call__(self, number: int) -> Floats:
        """Add what comes after a stack of rows to it; return what it gives to what comes after."""
        load = self.load
        heights, stack = self.stacks.heights[number], self.stacks.panels(number)
        sums = [np.zeros((3, len(panel.factors))) for panel in stack]
        mirrored = np.zeros((3, load.end - load.begin))
        for cut, columns in zip(load.cuts, load.columns, strict=True):
            for height, panel, found in zip(heights, stack, sums, strict=True):
                if height[0] < cut[1]:
                    self._meet((height, panel, found), (cut, columns), mirrored)
        self.sums.take(heights, stack, sums)
        return mirrored

    def _meet(
        self,
        rows: tuple[Cut, Panel, Floats],
        others: tuple[Cut, Columns],
        mirrored: Floats,
    ) -> None:
        """Add what a panel of rows and the support vectors from it on give to each other."""
        (first, last), panel, sums = rows
        cut, columns = others
        load, machine = self.load, self.load.machine
        low = max(cut[0], first)
        columns = columns.after(low - cut[0])
        values = load.panels.values(panel, columns)
        # The square on the diagonal holds both halves already.
        there = slice(max(low, last) - load.begin, cut[1] - load.begin)
        beyond = values[:, max(low, last) - low :]
        pulls = machine.weights[first:last] * panel.factors
        mirrored[machine.side((first, last)), there] += pulls @ beyond
        weights = PanelWeights(machine.weights[low : cut[1]] * columns.factors, values.dtype)
        load.add(sums, values, machine.side(cut), weights)
        if not machine.never_cancels:
            mirrored[2, there] += pulls @ beyond  # absolute values by now


def nothing(a: None, b: None) -> None:
    """Merge results that are none."""
