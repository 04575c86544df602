"""Certificates of several machines that hold the support vectors of all of them, once.

The region of a certificate refers to the rows of the fit. A fitted model keeps no more of these
than the support vectors: machines of many classes have most of them in common, so that a copy for
each machine would take many times the memory of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hinge.certificates import KernelRegion
from hinge.result import Solution
from hinge.rows import Rows


def without_data(solutions: Sequence[Solution]) -> list[Solution]:
    """Return solutions with certificates that hold support vectors and no other row.

    A copy of the rows can be dropped then.

    Parameters
    ----------
    solutions : sequence of Solution
        Solutions without their states.
    """
    found: dict[int, list[KernelRegion]] = {}
    for solution in solutions:
        region = solution.certificate.region
        if isinstance(region, KernelRegion):
            found.setdefault(id(region.rows), []).append(region)
    shared = {name: _Support(regions) for name, regions in found.items()}
    return [_trimmed(solution, shared) for solution in solutions]


class _Support:
    """The support vectors of some machines of the same rows.

    Parameters
    ----------
    regions : list of KernelRegion
        Their regions.
    """

    def __init__(self, regions: list[KernelRegion]) -> None:
        whole = regions[0].rows
        is_support = np.zeros(whole.n_rows, dtype=bool)
        for region in regions:
            is_support[region.support] = True
        self._place = np.cumsum(is_support) - 1
        self._rows: Rows = whole.take(np.flatnonzero(is_support))

    def region(self, region: KernelRegion) -> KernelRegion:
        """Return the region of one of them, over the support vectors of all."""
        return replace(region, rows=self._rows, support=self._place[region.support])


def _trimmed(solution: Solution, shared: dict[int, _Support]) -> Solution:
    region = solution.certificate.region
    if not isinstance(region, KernelRegion):
        return solution
    trimmed = shared[id(region.rows)].region(region)
    return replace(solution, certificate=replace(solution.certificate, region=trimmed))
