"""From the columns of Arrow to rows and labels: converted by rule, or refused with row and column.

Whatever reads a table (CSV, Parquet, Arrow IPC) yields record batches; this module makes a Dataset
of each. Numbers become float64, or float32 where every feature is stored as that or narrower;
text, times and nested values are refused, and so is every value that is missing or not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.data.columns import Columns
from hinge.data.dataset import Dataset
from hinge.data.labels import column_of_labels, label_bytes
from hinge.data.options import ReadOptions
from hinge.errors import DataFileError, MissingDependencyError

_EXACT_INTEGERS = 2**53


def import_pyarrow(what: str) -> Any:
    """Return pyarrow, or say how to get it.

    Parameters
    ----------
    what : str
        What needs it, for the message.
    """
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional package
    except ImportError as error:
        message = f"Reading {what} needs pyarrow: pip install 'hinge[io]'."
        raise MissingDependencyError(message) from error
    return pa


@dataclass(frozen=True)
class Place:
    """Where the rows of a batch are in the file.

    Parameters
    ----------
    path : str
        The file.
    first_row : int
        The number of the first row, from zero.
    line_of : callable
        Gives the line (for binary files: the row) of a row's number, from one.
    """

    path: str
    first_row: int
    line_of: Callable[[int], int]

    def error(self, reason: str, row: int, column: int) -> DataFileError:
        """Return the error for a value of the batch; row and column count from zero."""
        return DataFileError(reason, self.path, self.line_of(self.first_row + row), column + 1)


def settle_types(columns: Columns, types: list[Any], options: ReadOptions, path: str) -> Columns:
    """Return the columns with the type of the rows, or refuse a feature that is no number.

    Parameters
    ----------
    columns : Columns
        The label and the features.
    types : list of pyarrow.DataType
        The types of all columns.
    options : ReadOptions
        What the caller asked for.
    path : str
        The file.
    """
    bad = [place for place in columns.features if not is_number(types[place])]
    if bad:
        others = ""
        if len(bad) > 1:
            shown = ", ".join(columns.shown(place) for place in bad[1:4])
            others = f" (and so do {shown}{', ...' if len(bad) > 4 else ''})"
        reason = (
            f"feature column {columns.shown(bad[0])} holds {types[bad[0]]}, from its first row "
            f"on{others}; hinge learns from numbers. Encode it, for example with "
            "sklearn.preprocessing.OneHotEncoder, leave it out, or name it as the label."
        )
        raise DataFileError(reason, path, 1, bad[0] + 1)
    if options.value_type is not None:
        return columns
    narrow = all(_fits_float32(types[place]) for place in columns.features)
    return replace(columns, dtype=np.dtype(np.float32 if narrow else np.float64))


def is_number(kind: Any) -> bool:
    """Return whether values of an Arrow type are numbers (or truth values, read as 0 and 1).

    Parameters
    ----------
    kind : pyarrow.DataType
        The type.
    """
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        kinds.is_integer(kind)
        or kinds.is_floating(kind)
        or kinds.is_boolean(kind)
        or kinds.is_decimal(kind)
    )


def _fits_float32(kind: Any) -> bool:
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    if kinds.is_dictionary(kind):
        kind = kind.value_type
    return bool(kinds.is_float32(kind) or kinds.is_float16(kind))


def datasets(
    batches: Iterator[Any],
    columns: Columns,
    place: Place,
    block_bytes: int,
    label_kind: str | None = None,
) -> Iterator[Dataset]:
    """Yield a Dataset for every batch that has rows, or several.

    Parameters
    ----------
    batches : iterator of pyarrow.RecordBatch
        The features in order, then the label if there is one.
    columns : Columns
        What these are.
    place : Place
        The file.
    block_bytes : int
        About how much memory the rows and labels of each may take.
    label_kind : str or None, default=None
        What labels that were read as text are to become.

    Yields
    ------
    Dataset
        Consecutive rows of one batch.
    """
    first_row = 0
    for batch in _cut(batches, columns, block_bytes):
        here = replace(place, first_row=first_row)
        X, notes = _matrix(batch, columns, here)
        y = None
        if columns.label is not None:
            y = column_of_labels(batch.column(len(columns.features)), label_kind, columns, here)
        yield Dataset(
            X,
            y,
            feature_names=columns.feature_names,
            source=place.path,
            notes=columns.notes + notes,
        )
        first_row += batch.num_rows


def _cut(batches: Iterator[Any], columns: Columns, block_bytes: int) -> Iterator[Any]:
    """Yield the batches in slices, where their rows or long labels would take too much."""
    for batch in batches:
        row_bytes = columns.dtype.itemsize * len(columns.features)
        if columns.label is not None:
            row_bytes += label_bytes(batch.column(len(columns.features)))
        most_rows = max(1, block_bytes // row_bytes)
        for start in range(0, batch.num_rows, most_rows):
            yield batch.slice(start, most_rows)


def _matrix(batch: Any, columns: Columns, here: Place) -> tuple[NDArray[Any], tuple[str, ...]]:
    X = np.empty((batch.num_rows, len(columns.features)), dtype=columns.dtype)
    notes = []
    with np.errstate(over="ignore"):  # what overflows float32 is refused below
        for number, place in enumerate(columns.features):
            array = _plain(batch.column(number))
            if array.null_count:
                raise _missing(array, place, columns, here)
            values = _numbers(array)
            if values.dtype.kind in "iu" and _beyond_exact(values):
                notes.append(
                    f"Column {columns.shown(place)} holds integers beyond 2**53, which float64 "
                    "rounds."
                )
            X[:, number] = values
    finite = np.isfinite(X)
    if not finite.all():
        row, number = divmod(int(np.argmin(finite)), X.shape[1])
        raise _not_finite(
            _plain(batch.column(number)), row, columns.features[number], columns, here
        )
    return X, tuple(notes)


def _plain(array: Any) -> Any:
    """Return a column with the values that a dictionary stands for in their places."""
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    return array.dictionary_decode() if kinds.is_dictionary(array.type) else array


def _numbers(array: Any) -> NDArray[Any]:
    """Return a column without missing values as NumPy numbers."""
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    if kinds.is_decimal(array.type):
        # Python rounds a decimal correctly to the nearest float64; Arrow's cast does not promise.
        return np.fromiter((float(value) for value in array.to_pylist()), float, len(array))
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _beyond_exact(values: NDArray[Any]) -> bool:
    return bool(
        values.dtype.itemsize == 8
        and (values.max() > _EXACT_INTEGERS or values.min() < -_EXACT_INTEGERS)
    )


def _missing(array: Any, place: int, columns: Columns, here: Place) -> DataFileError:
    row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
    reason = (
        f"column {columns.shown(place)} has no value here; drop the row, or fill it in, for "
        "example with sklearn.impute.SimpleImputer."
    )
    return here.error(reason, row, place)


def _not_finite(array: Any, row: int, place: int, columns: Columns, here: Place) -> DataFileError:
    value = array[row].as_py()
    if np.isnan(value):
        reason = (
            f"column {columns.shown(place)} has NaN here; drop the row, or fill it in, for example "
            "with sklearn.impute.SimpleImputer."
        )
    elif np.isinf(float(value)):
        reason = f"column {columns.shown(place)} has {value} here; values must be finite."
    else:
        reason = (
            f"column {columns.shown(place)} has {value} here, too large for float32; read with "
            "dtype=float64."
        )
    return here.error(reason, row, place)
