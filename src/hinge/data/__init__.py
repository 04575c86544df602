"""Data files: readers, writers and the memory-mappable form that training starts from."""

from __future__ import annotations

from hinge.data.dataset import Dataset
from hinge.data.libsvm import iter_libsvm, read_libsvm, read_libsvm_dataset
from hinge.data.libsvm_write import write_libsvm
from hinge.data.read import iter_blocks, read
from hinge.data.shard_writer import write_shards
from hinge.data.shards import open_shards

__all__ = [
    "Dataset",
    "iter_blocks",
    "iter_libsvm",
    "open_shards",
    "read",
    "read_libsvm",
    "read_libsvm_dataset",
    "write_libsvm",
    "write_shards",
]


def __dir__() -> list[str]:
    return list(__all__)
