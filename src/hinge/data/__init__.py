"""Data files: readers, writers and the memory-mappable form that training starts from."""

from __future__ import annotations

from hinge.data.dataset import Dataset
from hinge.data.libsvm import iter_libsvm, read_libsvm, read_libsvm_dataset
from hinge.data.libsvm_write import write_libsvm

__all__ = ["Dataset", "iter_libsvm", "read_libsvm", "read_libsvm_dataset", "write_libsvm"]
