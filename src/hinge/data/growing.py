"""An array whose final length is not known when its first values come."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingArray:
    """Values appended part by part, in one array at the end.

    Parameters
    ----------
    dtype : numpy dtype
        Type of the values.
    """

    def __init__(self, dtype: Any) -> None:
        self._array: NDArray[Any] = np.empty(0, dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def nbytes(self) -> int:
        """How many bytes the values take."""
        return self._length * self._array.itemsize

    def append(self, part: NDArray[Any], factor: float = 1.0, added: int = 0) -> None:
        """Append values, with a number added to each.

        Parameters
        ----------
        part : ndarray
            The values; they are copied.
        factor : float, default=1.0
            How many parts of this size to make room for, if this is the first one. Room that is
            not used costs no memory.
        added : int, default=0
            The number.
        """
        begin, end = self._length, self._length + len(part)
        if end > len(self._array):
            room = int(len(part) * factor) if begin == 0 else end + end // 2
            larger = np.empty(max(end, room), self._array.dtype)
            larger[:begin] = self._array[:begin]
            self._array = larger
        if added:
            np.add(part, added, out=self._array[begin:end])
        else:
            self._array[begin:end] = part
        self._length = end

    def finish(self) -> NDArray[Any]:
        """Return the array; this object must not be used afterwards."""
        array = self._array
        # No view of it exists, so that it may be shortened where it lies.
        array.resize(self._length, refcheck=False)
        return array
