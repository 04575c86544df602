"""Training and test rows of the tasks in plain files, in either precision."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.suite import arrays
from benchmarks.suite.datasets.base import archive

TEST_ROWS_OF_COVTYPE = 20_000
DESCRIPTIONS = {
    "a9a": "CSR, as it is",
    "mnist": "dense, 8 against the rest, pixels / 255, the first rows",
    "covtype": "dense, class 2 against the rest, features to [0, 1], rows shuffled with seed 0",
    "covtype raw": "dense, class 2 against the rest, features as they are, shuffled with seed 0",
    "usps": "dense, ten classes, one against one",
    "adult": "dense, two classes, columns of mean 0 and deviation 1, the first rows",
    "covtype classes": "dense, seven classes, features to [0, 1], shuffled with seed 0",
    "made": "dense, two classes in 22 columns, by make_classification of scikit-learn",
    "money-fx": "CSR of unit rows, two classes, the first rows",
    "poker": "dense, ten classes, as it is, the first rows",
}

# Training rows, training labels, test rows, test labels; rows are float64 or float32.
Parts = tuple[Any, Any, Any, Any]


def folder(dataset: str, n_rows: int | None, dtype: str) -> Path:
    """Return a folder whose ``train`` and ``test`` hold the arrays, written if need be."""
    rows = "all" if n_rows is None else str(n_rows)
    home = arrays.cache_folder() / "kernel" / f"{dataset.replace(' ', '-')}-{rows}-{dtype}"
    if not arrays.is_complete(home / "train"):
        X, y, X_test, y_test = _LOADERS[dataset](n_rows)
        # The training rows come last: where they are, the test rows are complete.
        arrays.write(home / "test", X_test.astype(dtype), y_test.astype(np.int64))
        arrays.write(home / "train", X.astype(dtype), y.astype(np.int64))
    return home


def _csr(data: Any, part: str) -> sp.csr_matrix:
    pieces = (data[f"X_{part}_data"], data[f"X_{part}_indices"], data[f"X_{part}_indptr"])
    rows = sp.csr_matrix(pieces, shape=tuple(data[f"X_{part}_shape"])).astype(np.float64)
    rows.sum_duplicates()
    return rows


def _a9a(n_rows: int | None) -> Parts:
    data = archive("a9a")
    train, test = _csr(data, "train"), _csr(data, "test")
    width = max(train.shape[1], test.shape[1])
    for rows in (train, test):
        rows.resize(rows.shape[0], width)
    y = data["y_train"].astype(np.int64)
    return train[:n_rows], y[:n_rows], test, data["y_test"].astype(np.int64)


def _mnist(n_rows: int | None) -> Parts:
    data = archive("mnist")

    def pixels(part: str, count: int | None) -> Any:
        images = data[f"X_{part}"][:count]
        return images.reshape(len(images), -1).astype(np.float64) / 255.0

    def is_eight(part: str, count: int | None) -> Any:
        return np.where(data[f"y_{part}"][:count] == 8, 1, -1)

    return (
        pixels("train", n_rows),
        is_eight("train", n_rows),
        pixels("test", None),
        is_eight("test", None),
    )


def _covtype(n_rows: int | None, is_scaled: bool = True, is_binary: bool = True) -> Parts:
    data = archive("covtype")
    X, y = data["X"], np.where(data["y"] == 2, 1, -1) if is_binary else data["y"]
    shuffled = np.random.default_rng(0).permutation(len(y))
    count = len(y) - TEST_ROWS_OF_COVTYPE if n_rows is None else n_rows
    # The test rows are the last ones, so that they are the same for every number of rows.
    train, test = shuffled[:count], shuffled[-TEST_ROWS_OF_COVTYPE:]
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    width = np.where(high > low, high - low, 1.0)

    def rows(chosen: Any) -> Any:
        values = X[chosen].astype(np.float64)
        return (values - low) / width if is_scaled else values

    return rows(train), y[train], rows(test), y[test]


def _raw_covtype(n_rows: int | None) -> Parts:
    return _covtype(n_rows, is_scaled=False)


def _covtype_classes(n_rows: int | None) -> Parts:
    return _covtype(n_rows, is_binary=False)


def _adult(n_rows: int | None) -> Parts:
    data = archive("adult")
    X, X_test = (data[f"X_{part}"].astype(np.float64) for part in ("train", "test"))
    centre, width = X.mean(axis=0), X.std(axis=0)
    scaled = (X[:n_rows] - centre) / width
    return scaled, data["y_train"][:n_rows], (X_test - centre) / width, data["y_test"]


def _made(n_rows: int | None) -> Parts:
    from sklearn.datasets import make_classification  # noqa: PLC0415 - some peers come without it

    count = 8000 if n_rows is None else n_rows
    settings = {"n_informative": 7, "class_sep": 0.8, "flip_y": 0.05, "random_state": 0}
    X, y = make_classification(2 * count, 22, **settings)
    return X[:count], y[:count], X[count:], y[count:]


def _money(n_rows: int | None) -> Parts:
    data = archive("reuters_moneyfx")
    train, test = _csr(data, "train"), _csr(data, "test")
    return train[:n_rows], data["y_train"][:n_rows], test, data["y_test"]


def _poker(n_rows: int | None) -> Parts:
    data = archive("poker")
    X, X_test = data["X_train"].astype(np.float64), data["X_test"].astype(np.float64)
    return X[:n_rows], data["y_train"][:n_rows], X_test, data["y_test"]


def _usps(n_rows: int | None) -> Parts:
    data = archive("usps")
    X, X_test = data["X_train"].astype(np.float64), data["X_test"].astype(np.float64)
    return X[:n_rows], data["y_train"][:n_rows], X_test, data["y_test"]


_LOADERS: dict[str, Callable[[int | None], Parts]] = {
    "a9a": _a9a,
    "mnist": _mnist,
    "covtype": _covtype,
    "covtype raw": _raw_covtype,
    "covtype classes": _covtype_classes,
    "usps": _usps,
    "adult": _adult,
    "made": _made,
    "money-fx": _money,
    "poker": _poker,
}


def scale_gamma(X: Any) -> float:
    """Return 1 / (features x variance of all entries), the rule that is called "scale"."""
    if sp.issparse(X):
        count = float(X.shape[0] * X.shape[1])
        variance = float(X.multiply(X).sum() / count - (X.sum() / count) ** 2)
    else:
        variance = float(np.var(X, dtype=np.float64))
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
