"""Files that several tests write."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

ROWS, FEATURES = 60, 4


def example(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of ordinary and extreme finite values, and labels of text."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, FEATURES)) * 10.0 ** rng.integers(-30, 30, (ROWS, FEATURES))
    X[0, :3] = [5e-324, -0.0, np.finfo(float).max]
    return X, rng.choice(["cat", "dog", "horse"], ROWS)


def table(X: np.ndarray, y: np.ndarray, label: str = "label") -> pa.Table:
    columns = {f"f{number}": X[:, number] for number in range(X.shape[1])}
    return pa.table({**columns, label: y})


def write_csv(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"f{number}" for number in range(X.shape[1])), "label"])
        writer.writerows(
            [*map(repr, map(float, row)), label] for row, label in zip(X, y, strict=True)
        )


def write_parquet(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    pq.write_table(table(X, y), path, row_group_size=17)


def write_arrow_file(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    rows = table(X, y)
    with pa.ipc.new_file(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=17)


def write_arrow_stream(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    rows = table(X, y)
    with pa.ipc.new_stream(path, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=17)


def write_npz(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    np.savez(path, X=X, y=y)


def write_packed_npz(path: Path, X: np.ndarray, y: np.ndarray) -> None:
    np.savez_compressed(path, X=X, y=y)


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def dense(X: np.ndarray | sp.csr_array) -> np.ndarray:
    return X.toarray() if sp.issparse(X) else np.asarray(X)


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two arrays have type, shape and every bit in common."""
    return (
        one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    )


TABLE_WRITERS = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".arrow": write_arrow_file,
    ".arrows": write_arrow_stream,
}
WRITERS = {**TABLE_WRITERS, ".npz": write_npz, ".packed.npz": write_packed_npz}
