"""The labels of a table: numbers as they are, text as text, nothing missing.

Labels that come as text, as in CSV, are numbers if every one of them in the file is: integers
where all are, else float64. One that is not makes all of them text. Blanks around them are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import DataFileError

if TYPE_CHECKING:
    from hinge.data.columns import Columns
    from hinge.data.tables import Place

LONGEST_LABEL = 256  # characters; NumPy gives every label the room of the longest

INTEGER, NUMBER, TEXT = "integer", "number", "text"
_WIDER = {INTEGER: 0, NUMBER: 1, TEXT: 2}


def kind_of_texts(texts: Any) -> str:
    """Return what labels written as text are: "integer", "number" or "text".

    Parameters
    ----------
    texts : pyarrow.Array
        The labels.
    """
    import pyarrow as pa  # noqa: PLC0415 - an optional package

    distinct = _trimmed(texts).unique()
    for kind, numbers in ((INTEGER, pa.int64()), (NUMBER, pa.float64())):
        try:
            distinct.cast(numbers)
        except pa.ArrowInvalid:
            continue
        return kind
    return TEXT


def _trimmed(texts: Any) -> Any:
    """Return what stands in cells of text without the blanks around it."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    return pc.utf8_trim_whitespace(texts)


def wider_kind(one: str, other: str) -> str:
    """Return the kind that holds labels of both kinds.

    Parameters
    ----------
    one, other : str
        Kinds.
    """
    return max(one, other, key=_WIDER.__getitem__)


def column_of_labels(array: Any, kind: str | None, columns: Columns, here: Place) -> NDArray[Any]:
    """Return the labels of a batch as an array, or say which is missing or unusable.

    Parameters
    ----------
    array : pyarrow.Array
        The column.
    kind : str or None
        What text is to become; None leaves text as text.
    columns : Columns
        The table's columns, of which this is the label.
    here : Place
        Where the batch is.
    """
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise _no_label(columns, here, row)
    if kinds.is_string(array.type) or kinds.is_large_string(array.type):
        if kind is not None:
            array = _trimmed(array)
        if kind in (None, TEXT):
            return _texts(array, columns, here)
        array = array.cast(pa.int64() if kind == INTEGER else pa.float64())
    if kinds.is_integer(array.type) or kinds.is_boolean(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False))
    if kinds.is_floating(array.type):
        labels = np.asarray(array.to_numpy(zero_copy_only=False))
        finite = np.isfinite(labels)
        if not finite.all():
            raise _no_label(columns, here, int(np.argmin(finite)))
        return labels
    assert columns.label is not None
    reason = (
        f"the label column {columns.shown(columns.label)} holds {array.type}; labels are numbers, "
        "truth values or text. Convert it, or choose another column with label=."
    )
    raise here.error(reason, 0, columns.label)


def _texts(array: Any, columns: Columns, here: Place) -> NDArray[Any]:
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    lengths = pc.utf8_length(array).to_numpy(zero_copy_only=False)
    if lengths.min() == 0:
        raise _no_label(columns, here, int(np.argmin(lengths)))
    if lengths.max() > LONGEST_LABEL:
        row = int(np.argmax(lengths))
        assert columns.label is not None
        reason = (
            f"the label in column {columns.shown(columns.label)} has {int(lengths[row])} "
            f"characters; the limit is {LONGEST_LABEL}. Is this the right column?"
        )
        raise here.error(reason, row, columns.label)
    coded = array.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    if any("\0" in text for text in texts):  # which NumPy drops where it ends a text
        row = next(number for number, text in enumerate(array.to_pylist()) if "\0" in text)
        assert columns.label is not None
        reason = f"the label in column {columns.shown(columns.label)} contains a NUL character."
        raise here.error(reason, row, columns.label)
    distinct = np.array(texts, dtype=np.str_)
    return np.asarray(distinct[coded.indices.to_numpy(zero_copy_only=False)])


def _no_label(columns: Columns, here: Place, row: int) -> DataFileError:
    assert columns.label is not None
    reason = (
        f"the label in column {columns.shown(columns.label)} is missing or not finite; drop the "
        "row, choose another column with label=, or pass label=False for a file without labels."
    )
    return here.error(reason, row, columns.label)
