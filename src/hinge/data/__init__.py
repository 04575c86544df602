"""Data files: readers, writers and the memory-mappable form that training starts from."""

from __future__ import annotations

from hinge.data.dataset import Dataset

__all__ = ["Dataset"]
