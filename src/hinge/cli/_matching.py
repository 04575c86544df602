"""Rows and labels of a file as a model takes them: its features, its kind of labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.cli._console import Output
from hinge.cli._data import COUNTED
from hinge.cli._errors import CommandError
from hinge.cli._kernel_matrix import is_matrix_model, without_numbers
from hinge.cli._labels import plain
from hinge.cli._options import IndexBase, ReadingOptions
from hinge.data import Dataset
from hinge.errors import DataFileError

_SHOWN = 5  # names listed in a message
_KINDS = {"U": "text", "S": "text", "O": "text", "M": "dates", "m": "durations"}


def index_base(model: Any, options: ReadingOptions) -> int | None:
    """Return the index base that a model's training data had, for files that may not show it.

    Parameters
    ----------
    model : LinearSVC
        A fitted model.
    options : ReadingOptions
        What the user asked for, which goes first.

    Returns
    -------
    int or None
        0 or 1; None if the user has said it, or the model does not know.
    """
    if options.index_base is not IndexBase.AUTO:
        return None
    base: int | None = getattr(model, "index_base_", None)
    return base


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a model with names of features take rows without, which ``fitted_to`` has matched."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def fitted_to(model: Any, data: Dataset, output: Output) -> Dataset:
    """Return the data with the model's features in the model's order, or say why not.

    Columns with names are matched by name. A sparse file tells its width only by the largest index
    in it, so that features which the model never saw count as absent; a dense table of another
    width is another table. A text model of LIBSVM tells no width either: there further features
    count, as they do in LIBSVM.

    Parameters
    ----------
    model : LinearSVC
        A fitted model.
    data : Dataset
        Rows.
    output : Output
        Where notes go.

    Returns
    -------
    Dataset
        With ``n_features_in_`` columns.
    """
    if is_matrix_model(model):
        return _matrix_rows(model, without_numbers(data))
    base: int | None = getattr(model, "index_base_", None)
    here = data.index_base
    if base is not None and here is not None and base != here:
        output.warning(
            f"{plain(data.source)}: the model was trained with indices counted from "
            f"{COUNTED[base]}, and these are counted from {COUNTED[here]}; unless the files differ "
            "in that, every feature is taken for its neighbour."
        )
    names = getattr(model, "feature_names_in_", None)
    if names is not None and data.feature_names is not None:
        return _by_name([str(name) for name in names], data, output)
    if is_of_unknown_width(model) and sp.issparse(data.X):
        widen(model, int(data.X.shape[1]))
    wanted, got = int(model.n_features_in_), int(data.X.shape[1])
    if wanted == got:
        return data
    if not sp.issparse(data.X):
        reason = (
            f"the rows have {got} features, but the model was trained on {wanted}; check --label, "
            "or --unlabelled for a table without labels."
        )
        raise DataFileError(reason, data.source)
    if got > wanted:
        output.note(
            f"{plain(data.source)}: features {wanted + 1} to {got} were not in the training data "
            "and are ignored."
        )
        return replace(data, X=data.X[:, :wanted])
    X: Any = data.X
    return replace(data, X=sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], wanted)))


def _matrix_rows(model: Any, data: Dataset) -> Dataset:
    """Return rows of a kernel matrix, which has a column for every training row."""
    wanted, got = int(model.n_features_in_), int(data.X.shape[1])
    is_known = hasattr(model, "shape_fit_")
    if got == wanted:
        return data
    if got > wanted and not is_known:  # a text model of LIBSVM knows its support vectors alone
        return replace(data, X=data.X[:, :wanted])
    reason = (
        f"the rows have {got} values, but the kernel matrix that the model was trained on has "
        f"{wanted} rows; give the kernel with every one of them."
    )
    raise DataFileError(reason, data.source)


def is_of_unknown_width(model: Any) -> bool:
    """Return whether a model is a machine whose number of features nobody knows.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model; of the text models of LIBSVM only those with vectors are such.
    """
    return sp.issparse(getattr(model, "support_vectors_", None)) and not hasattr(
        model, "shape_fit_"
    )


def widen(model: Any, width: int) -> None:
    """Give support vectors further features, all of them zero.

    Parameters
    ----------
    model : SVC
        A fitted model with sparse support vectors.
    width : int
        Number of features to have at least.
    """
    vectors = model.support_vectors_
    if width > vectors.shape[1]:
        parts = (vectors.data, vectors.indices, vectors.indptr)
        model.support_vectors_ = sp.csr_array(parts, shape=(vectors.shape[0], width))
        model.n_features_in_ = width


def _by_name(wanted: list[str], data: Dataset, output: Output) -> Dataset:
    names = data.feature_names
    assert names is not None
    if list(names) == wanted:
        return data
    place = {name: number for number, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        reason = (
            f"these columns that the model was trained on are not among its features: "
            f"{_listed(missing)}; check --label, or --unlabelled for a table without labels."
        )
        raise DataFileError(reason, data.source)
    known = set(wanted)
    extra = [name for name in names if name not in known]
    if extra:
        output.note(
            f"{plain(data.source)}: these columns were not in the training data and are ignored: "
            f"{_listed(extra)}."
        )
    X = data.X[:, [place[name] for name in wanted]]
    return replace(data, X=X, feature_names=tuple(wanted))


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def labels_like(classes: np.ndarray[Any, Any], y: Any, source: str) -> np.ndarray[Any, Any]:
    """Return labels of a file as values that compare with a model's classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes of a model.
    y : ndarray of shape (n_samples,)
        Labels out of a file.
    source : str
        The file.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels; text and numbers are never taken for each other.
    """
    difference = kinds_that_differ(classes, y)
    if difference is not None:
        message = f"{plain(source)}: {difference}; name the right column with --label."
        raise CommandError(message)
    return np.asarray(y)


def kinds_that_differ(classes: np.ndarray[Any, Any], y: Any) -> str | None:
    """Return why labels of a file cannot be compared with a model's classes, if so.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes of a model.
    y : ndarray of shape (n_samples,)
        Labels out of a file.

    Returns
    -------
    str or None
        What to tell the user, without a full stop.
    """
    wanted, got = (_KINDS.get(array.dtype.kind, "numbers") for array in (classes, np.asarray(y)))
    if wanted == got:
        return None
    return f"the labels are {got}, but the classes of the model are {wanted}"
