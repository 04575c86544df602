"""What a data set is, and how the shared files are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite.method import Floats


@dataclass(frozen=True)
class Dataset:
    """A binary data set and the values of C it is solved for.

    Parameters
    ----------
    name : str
        Name of its module.
    description : str
        What was made of the source, in a few words.
    costs : tuple of float
        Values of C.
    load : callable
        Returns float64 rows, dense or CSR, and labels -1 and +1.
    in_quick_run : bool, default=False
        Whether the short version includes it.
    """

    name: str
    description: str
    costs: tuple[float, ...]
    load: Callable[[], tuple[Any, Floats]]
    in_quick_run: bool = False


def archive(name: str) -> Any:
    """Return the archive of that name in the folder that HINGE_DATA gives."""
    folder = os.environ.get("HINGE_DATA")
    if not folder:
        message = "HINGE_DATA is not set. Set it to the folder that holds the data sets (*.npz)."
        raise FileNotFoundError(message)
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        message = f"HINGE_DATA has no {name}.npz. Set HINGE_DATA to the folder that holds it."
        raise FileNotFoundError(message)
    return np.load(path)


def training_csr(data: Any) -> sp.csr_matrix:
    """Return the sparse training rows of an archive, float64 and sorted."""
    parts = (data["X_train_data"], data["X_train_indices"], data["X_train_indptr"])
    rows = sp.csr_matrix(parts, shape=tuple(data["X_train_shape"])).astype(np.float64)
    rows.sum_duplicates()
    return rows


def signs(positive: Any) -> Floats:
    """Return +1 where true, -1 elsewhere."""
    return np.where(positive, 1.0, -1.0)
