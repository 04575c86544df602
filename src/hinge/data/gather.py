"""Blocks of rows put together to one Dataset, within the memory that their file may claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.data.dataset import Dataset
from hinge.data.options import check_claim
from hinge.data.source import Source
from hinge.ingest import assemble


def within_claim(
    blocks: Iterable[Dataset], source: Source, memory_limit: int | None
) -> Iterator[Dataset]:
    """Pass blocks on until they take more memory together than their file may claim.

    Parameters
    ----------
    blocks : iterable of Dataset
        All dense or all sparse, with one label for each row or none.
    source : Source
        The file.
    memory_limit : int or None
        The caller's limit; None bounds the blocks by the size of the file.

    Yields
    ------
    Dataset
        The blocks.
    """
    taken = rows = widest_label = 0
    for block in blocks:
        taken += _bytes_of_rows(block.X)
        taken += 0 if block.query_ids is None else block.query_ids.nbytes
        rows += block.X.shape[0]
        if block.y is not None:  # of text, all have the room of the longest in the end
            widest_label = max(widest_label, np.asarray(block.y).itemsize)
        check_claim(
            taken + rows * widest_label,
            "Its rows and labels",
            source.path,
            source.size,
            memory_limit,
            is_total=False,
        )
        yield block


def _bytes_of_rows(X: Any) -> int:
    arrays = (X.data, X.indices, X.indptr) if sp.issparse(X) else (X,)
    return sum(array.nbytes for array in arrays)


def gather(blocks: Iterable[Dataset]) -> Dataset | None:
    """Return all rows of some blocks, in order.

    Parameters
    ----------
    blocks : iterable of Dataset
        All dense or all sparse, all with labels or all without.

    Returns
    -------
    Dataset or None
        The rows; of a single block, that block itself; of none, None.
    """
    every = list(blocks)
    if not every:
        return None
    first = every[0]
    if len(every) == 1:
        return first
    notes = tuple(dict.fromkeys(note for block in every for note in block.notes))
    labels = groups = None
    if first.y is not None:
        labels = np.concatenate([np.asarray(block.y) for block in every])
    if first.query_ids is not None:
        groups = np.concatenate([np.asarray(block.query_ids) for block in every])
    matrices = [block.X for block in every]
    every.clear()
    return replace(first, X=_rows(matrices), y=labels, query_ids=groups, notes=notes)


def _rows(matrices: list[Any]) -> Any:
    """Join matrices, letting go of dense ones as soon as they have been copied."""
    if sp.issparse(matrices[0]):
        return _sparse_rows(matrices)
    count = sum(len(matrix) for matrix in matrices)
    X = np.empty((count, matrices[0].shape[1]), dtype=matrices[0].dtype)
    start = 0
    matrices.reverse()
    while matrices:
        matrix = matrices.pop()
        X[start : start + len(matrix)] = matrix
        start += len(matrix)
    return X


def _sparse_rows(matrices: list[Any]) -> Any:
    shape = (sum(m.shape[0] for m in matrices), max(m.shape[1] for m in matrices))
    stored = sum(len(m.data) for m in matrices)
    index = np.int32 if stored < 2**31 and shape[1] <= 2**31 else np.int64
    starts = [np.zeros(1, dtype=index)]
    position = 0
    for m in matrices:
        starts.append(m.indptr[1:].astype(index) + index(position))
        position += len(m.data)
    values = np.concatenate([m.data for m in matrices])
    indices = np.concatenate([m.indices for m in matrices], dtype=index)
    return assemble((values, indices, np.concatenate(starts)), shape)
