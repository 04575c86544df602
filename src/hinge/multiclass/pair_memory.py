"""What pairs of classes that are solved together may take: kernel rows first, then certificates.

Kernel rows are done with once all pairs have arrived, so that certificates have their memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from hinge.solvers.kernel.set_memory import (
    LEAST_MB,
    SLACK,
    beyond_slack,
    give_back_if_tight,
    is_tight,
)

ROWS_TOGETHER = 1 << 18  # of all pairs that are certified at once, each with its own
_SUPPORT_BYTES = 1 << 26  # of support vectors that are prepared for certificates of all pairs
_JUDGED_BYTES = 400.0  # of a row in one of its pairs, while these are certified
_PANEL_BYTES = 6.0 * 2**20  # of certificates, however few rows there are
_CLASS_ROW_BYTES = 150.0  # of a row of a class: its place, costs, and what dual programs have of it
_END_BYTES = 24.0  # of a row in one of its pairs, of where pairs have arrived


@dataclass(frozen=True)
class PairMemory:
    """The memory of pairs of classes.

    Parameters
    ----------
    cache_mb : float
        Memory for kernel rows of all pairs together.
    copy_mb : float
        What a copy of the rows takes of it.
    """

    cache_mb: float
    copy_mb: float

    @property
    def is_tight(self) -> bool:
        """Whether what certificates could be made from later has to be let go."""
        return is_tight(self.cache_mb)

    @property
    def _judging(self) -> float:
        """Bytes of certificates that grow with the rows."""
        held = max(self.cache_mb, LEAST_MB)
        return ((1.0 + SLACK) * held - self.copy_mb) * 2**20 - _PANEL_BYTES

    @property
    def most_rows(self) -> int:
        """How many rows of all pairs may be certified at once, each in all of its pairs."""
        return min(ROWS_TOGETHER, int(max(0.0, self._judging) / _JUDGED_BYTES))

    def support_bytes(self, n_rows: int) -> float:
        """Return what prepared support vectors may take beside so many rows of all pairs.

        Parameters
        ----------
        n_rows : int
            How many, each in all of its pairs.
        """
        return min(_SUPPORT_BYTES, self._judging - _JUDGED_BYTES * n_rows)

    def kernel_bytes(self, n_of_classes: int, n_rows: int) -> float:
        """Return what kernel rows may take beside so many rows.

        Parameters
        ----------
        n_of_classes : int
            How many rows the classes have.
        n_rows : int
            How many all pairs have, each with its own.
        """
        beside = _CLASS_ROW_BYTES * n_of_classes + _END_BYTES * n_rows
        left = self.cache_mb - self.copy_mb - beyond_slack(beside, self.cache_mb)
        return left * 2**20

    def keeps(self, kernel_bytes: float, n_rows: int) -> bool:
        """Return whether kernel rows may stay while so many rows of all pairs are certified.

        Parameters
        ----------
        kernel_bytes : float
            What they take at the most.
        n_rows : int
            How many, each in all of its pairs.
        """
        return kernel_bytes + _JUDGED_BYTES * n_rows <= self._judging

    def give_back(self) -> None:
        """Have the allocator give back what it keeps, where it may be more than there is."""
        give_back_if_tight(self.cache_mb)
