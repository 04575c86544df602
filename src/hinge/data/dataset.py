"""What a data file holds, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import scipy.sparse as sp


@dataclass(frozen=True)
class Dataset:
    """Rows, labels and what is known about them, read from a file.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The rows, float32 or float64; a memory-mapped array where the format allows it.
    y : ndarray of shape (n_samples,), list of tuples, or None
        The labels, as the file has them; a tuple per row for several labels per row; None where
        the file has none.
    feature_names : tuple of str or None, default=None
        The names of the columns where the file has names.
    query_ids : ndarray of shape (n_samples,) or None, default=None
        The group of each row (``qid``) where the file has groups.
    source : str, default=""
        The file that was read, as the caller named it.
    notes : tuple of str, default=()
        What the reader decided and the user should know, as sentences: a detected index base,
        columns left out, values converted.
    index_base : int or None, default=None
        The number of the first feature, 0 or 1, where the file numbers them, as LIBSVM text does.
    n_rows_of_file : int or None, default=None
        How many rows the file has in all, where it says so at its beginning.
    """

    X: np.ndarray[Any, Any] | sp.csr_array
    y: np.ndarray[Any, Any] | list[tuple[float, ...]] | None
    feature_names: tuple[str, ...] | None = None
    query_ids: np.ndarray[Any, Any] | None = None
    source: str = ""
    notes: tuple[str, ...] = ()
    index_base: int | None = None
    n_rows_of_file: int | None = None
