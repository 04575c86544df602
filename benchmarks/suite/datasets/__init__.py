"""Data sets, one per file; every one is read from the folder that HINGE_DATA names."""

from __future__ import annotations

from pathlib import Path

from benchmarks.suite import arrays
from benchmarks.suite.datasets import (
    a9a,
    covtype,
    mnist,
    mnist_csr,
    reuters21578,
    reuters_moneyfx,
    usps,
)
from benchmarks.suite.datasets.base import Dataset

DATASETS: tuple[Dataset, ...] = (
    a9a.DATASET,
    mnist.DATASET,
    mnist_csr.DATASET,
    covtype.DATASET,
    reuters21578.DATASET,
    reuters_moneyfx.DATASET,
    usps.DATASET,
)


def find_dataset(name: str) -> Dataset:
    """Return the data set of that name."""
    datasets = {dataset.name: dataset for dataset in DATASETS}
    if name not in datasets:
        message = f"There is no data set {name!r}; there are: {', '.join(datasets)}."
        raise ValueError(message)
    return datasets[name]


def cached_arrays(name: str, dtype: str) -> Path:
    """Return a folder that holds the data set's arrays in that precision, written if need be."""
    folder = arrays.cache_folder() / "arrays" / f"{name}-{dtype}"
    if not arrays.is_complete(folder):
        X, y = find_dataset(name).load()
        arrays.write(folder, X.astype(dtype), y)
    return folder
