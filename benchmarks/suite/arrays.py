"""The arrays of a data set in plain files, so that every interpreter reads the same values."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite.method import Floats


def cache_folder() -> Path:
    """Return where arrays and references are kept between runs."""
    given = os.environ.get("HINGE_BENCH_CACHE")
    return Path(given) if given else Path(__file__).parents[1] / ".cache"


def write(folder: Path, X: Any, y: Floats) -> None:
    """Write rows (dense or CSR) and labels -1 and +1 into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if sp.issparse(X):
        for part in ("data", "indices", "indptr"):
            np.save(folder / f"{part}.npy", getattr(X, part))
        (folder / "shape.json").write_text(json.dumps(list(X.shape)))
    else:
        np.save(folder / "X.npy", np.ascontiguousarray(X))
    # Labels come last: where they are, the rest is complete.
    np.save(folder / "y.npy", y)


def read(folder: Path) -> tuple[Any, Floats]:
    """Return the rows and labels that ``write`` left in a folder."""
    y = np.load(folder / "y.npy")
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy"), y
    parts = tuple(np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr"))
    shape = tuple(json.loads((folder / "shape.json").read_text()))
    X = sp.csr_matrix(parts, shape=shape)
    X.has_sorted_indices = True
    return X, y


def is_complete(folder: Path) -> bool:
    """Return whether ``write`` finished here."""
    return (folder / "y.npy").exists()
