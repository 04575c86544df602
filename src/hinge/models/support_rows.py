"""Which rows of some data the support vectors of a machine are.

A model may say so itself (``support_``), and then its support vectors are compared with those rows;
else they are looked for by their values. LIBSVM writes values with eight digits, so what is not
found exactly is looked for among rows rounded like that.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.models.kernel_machine import KernelMachine
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rounding = Callable[[Floats], Floats]

_ROWS_AT_A_TIME = 4096
_KEY_BYTES = 16


@dataclass(frozen=True)
class Found:
    """Which rows support vectors are.

    Parameters
    ----------
    rows : ndarray of int of shape (n_support,)
        Their numbers, all different.
    is_exact : bool
        Whether they have the same values; else the support vectors are rounded ones.
    """

    rows: Ints
    is_exact: bool


def find_support(machine: KernelMachine, rows: Rows, codes: NDArray[Any]) -> Found | None:
    """Return the row of every support vector, all of them different; None if one is not there.

    Parameters
    ----------
    machine : KernelMachine
        The machine.
    rows : Rows
        The data.
    codes : ndarray of int of shape (n_samples,)
        Position of every row's class; a support vector is a row of its own class.
    """
    own = np.repeat(np.arange(len(machine.classes)), machine.n_support)
    if machine.rows is not None and _are_they(machine, rows, codes, own):
        return Found(machine.rows, True)
    if machine.vectors is None:
        return None
    for rounding in (_exact, _eight_digits):
        found = _search(machine.vectors, own, rows, codes, rounding)
        if found is not None:
            return Found(found, rounding is _exact)
    return None


def _are_they(machine: KernelMachine, rows: Rows, codes: NDArray[Any], own: Ints) -> bool:
    """Return whether the support vectors are the rows that the model says."""
    ids = machine.rows
    assert ids is not None
    if not len(ids):
        return True
    if int(ids.max()) >= rows.n_rows or not np.array_equal(codes[ids], own):
        return False
    if machine.vectors is None:
        return True
    for start in range(0, len(ids), _ROWS_AT_A_TIME):
        few = slice(start, start + _ROWS_AT_A_TIME)
        there = _as_sparse(rows.take(ids[few]).matrix, _exact)
        here = _as_sparse(machine.vectors[few], _exact)
        for part in ("indptr", "indices", "data"):
            if not np.array_equal(getattr(there, part), getattr(here, part)):
                return False
    return True


def _search(
    vectors: Any, own: Ints, rows: Rows, codes: NDArray[Any], rounding: Rounding
) -> Ints | None:
    """Return the first rows with the values and the class of the support vectors."""
    wanted: dict[tuple[int, bytes], deque[int]] = defaultdict(deque)
    for number, key in enumerate(_keys(vectors, rounding)):
        wanted[int(own[number]), key].append(number)
    found = np.full(len(own), -1, dtype=np.int64)
    for block in rows.blocks():
        for number, key in enumerate(_keys(block.matrix, rounding), start=block.start):
            waiting = wanted.get((int(codes[number]), key))
            if waiting:
                found[waiting.popleft()] = number
    return None if np.any(found < 0) else found


def _keys(matrix: Any, rounding: Rounding) -> Iterator[bytes]:
    """Yield a short digest of the values of every row."""
    for start in range(0, matrix.shape[0], _ROWS_AT_A_TIME):
        few = _as_sparse(matrix[start : start + _ROWS_AT_A_TIME], rounding)
        columns, values = few.indices.astype(np.int64), few.data
        for begin, end in zip(few.indptr[:-1], few.indptr[1:], strict=True):
            digest = hashlib.blake2b(columns[begin:end].tobytes(), digest_size=_KEY_BYTES)
            digest.update(values[begin:end].tobytes())
            yield digest.digest()


def _as_sparse(matrix: Any, rounding: Rounding) -> Any:
    """Return rows as CSR in float64, without zeros."""
    found = sp.csr_array(matrix, dtype=np.float64, copy=True)
    found.eliminate_zeros()
    found.data = rounding(found.data)
    return found


def _exact(values: Floats) -> Floats:
    return values


def _eight_digits(values: Floats) -> Floats:
    return np.array([float(f"{value:.8g}") for value in values.tolist()])
