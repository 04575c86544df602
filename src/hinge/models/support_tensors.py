"""Support vectors in a file: an array, or the three arrays of a compressed sparse matrix.

What is read must be what a fit could have left: indices in range and rising in every row, starts
that fit the number of values, all numbers finite. What computes with sparse rows does not look
where it reads, so this is looked at here, whatever the digest says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.errors import ModelFileError
from hinge.models.fields import Fields
from hinge.models.text_lists import Tensors

_NAME = "support_vectors"
_FORMS = ("dense", "sparse", "rows")  # the last one: known by the number of the row alone


def put_vectors(vectors: Any, count: int, tensors: Tensors, name: str = _NAME) -> dict[str, Any]:
    """Return what the description says of support vectors, and add their tensors.

    Parameters
    ----------
    vectors : ndarray, csr_array or None
        The support vectors, of float32 or float64; None if the kernel is precomputed.
    count : int
        How many there are.
    tensors : dict of str to ndarray
        Where tensors are added.
    name : str, default="support_vectors"
        What the tensors are called.
    """
    if vectors is None:
        return {"form": "rows", "count": count, "stored": 0}
    if not sp.issparse(vectors):
        if count:
            tensors[name] = np.ascontiguousarray(vectors)
        return {"form": "dense", "count": count, "stored": 0}
    stored = int(vectors.nnz)
    if count:
        narrow = max(stored, vectors.shape[1]) < 2**31
        index = np.int32 if narrow else np.int64
        values, columns, starts = _names(name)
        tensors[starts] = vectors.indptr.astype(index)
        if stored:
            tensors[values] = np.ascontiguousarray(vectors.data)
            tensors[columns] = vectors.indices.astype(index)
    return {"form": "sparse", "count": count, "stored": stored}


def tensors_of_vectors(content: Any, name: str = _NAME) -> set[str]:
    """Return the names of the tensors that support vectors need.

    Parameters
    ----------
    content : object
        What the description says of them.
    name : str, default="support_vectors"
        What the tensors are called.
    """
    if not isinstance(content, dict) or not content.get("count"):
        return set()
    if content.get("form") == "dense":
        return {name}
    if content.get("form") != "sparse":
        return set()
    values, columns, starts = _names(name)
    return {starts, values, columns} if content.get("stored") else {starts}


def take_vectors(
    content: Any, n_features: int, tensors: Tensors, name: str = _NAME
) -> tuple[int, Any]:
    """Return the number of support vectors and the vectors; None if only their rows are known.

    Parameters
    ----------
    content : object
        What the description says of them.
    n_features : int
        Number of features.
    tensors : dict of str to ndarray
        The tensors of the file.
    name : str, default="support_vectors"
        What the tensors are called.
    """
    what = "support" if name == _NAME else name
    fields = Fields(content, what)
    form = fields.choice("form", _FORMS)
    count, stored = fields.integer("count"), fields.integer("stored")
    fields.finish()
    if form != "sparse" and stored:
        message = f"{what}.stored must be 0 for vectors in the form {form!r}."
        raise ModelFileError(message)
    if form == "rows":
        return count, None
    if form == "dense":
        return count, _dense(tensors, (count, n_features), name)
    return count, _sparse(tensors, (count, n_features), stored, name)


def _names(name: str) -> tuple[str, str, str]:
    """Return what the arrays of a sparse matrix are called: values, columns and starts."""
    return f"{name}.values", f"{name}.columns", f"{name}.starts"


def _dense(tensors: Tensors, shape: tuple[int, int], name: str) -> Any:
    if not shape[0]:
        return np.empty(shape)
    _check(tensors, name, shape, ("float32", "float64"))
    return tensors[name]


def _sparse(tensors: Tensors, shape: tuple[int, int], stored: int, name: str) -> Any:
    if not shape[0]:
        return sp.csr_array(shape, dtype=np.float64)
    of_values, of_columns, of_starts = _names(name)
    index = "int32" if max(stored, shape[1]) < 2**31 else "int64"
    _check(tensors, of_starts, (shape[0] + 1,), (index,))
    starts = tensors[of_starts]
    values, columns = np.empty(0), np.empty(0, dtype=index)
    if stored:
        _check(tensors, of_values, (stored,), ("float32", "float64"))
        _check(tensors, of_columns, (stored,), (index,))
        values, columns = tensors[of_values], tensors[of_columns]
    falls = np.any(starts[1:] < starts[:-1])
    if falls or starts[0] != 0 or starts[-1] != stored:
        message = f"tensor {of_starts!r} does not divide {stored} values among the vectors."
        raise ModelFileError(message)
    if stored and not (columns.min() >= 0 and columns.max() < shape[1]):
        message = f"tensor {of_columns!r} names a feature beyond the {shape[1]} of the model."
        raise ModelFileError(message)
    begins = np.zeros(stored + 1, dtype=bool)
    begins[starts] = True
    if stored and not np.all((columns[1:] > columns[:-1]) | begins[1:-1]):
        message = f"tensor {of_columns!r} has features that do not rise within a support vector."
        raise ModelFileError(message)
    return sp.csr_array((values, columns, starts), shape=shape)


def _check(tensors: Tensors, name: str, shape: tuple[int, ...], kinds: tuple[str, ...]) -> None:
    tensor = tensors[name]
    if tensor.dtype.name not in kinds or tensor.shape != shape:
        message = (
            f"tensor {name!r} is {tensor.dtype} of shape {tensor.shape}; the rest of the file "
            f"makes it {' or '.join(kinds)} of shape {shape}."
        )
        raise ModelFileError(message)
    if tensor.dtype.kind == "f" and not np.isfinite(tensor).all():
        message = f"tensor {name!r} holds a number that is not finite."
        raise ModelFileError(message)
