"""The labels of a table: numbers as they are, text as text, nothing missing.

Labels that come as text, as in CSV, are integers if every one in the file is, else float64 if every
one is a number that float64 tells from every other; else all of them are text. Blanks around them
are dropped.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import DataFileError

if TYPE_CHECKING:
    from hinge.data.columns import Columns
    from hinge.data.tables import Place

LONGEST_LABEL = 256  # characters; NumPy gives every label the room of the longest
_CHARACTER = 4  # bytes

INTEGER, NUMBER, TEXT = "integer", "number", "text"

# Zeros in front make a code of a number, and 0x7 is how no table writes 7.
_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_NUMBER = re.compile(
    r"-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE
)


class KindOfTexts:
    """What labels written as text are, found out part by part."""

    def __init__(self) -> None:
        self._are_integers = True
        self._are_numbers = True

    @property
    def kind(self) -> str:
        """The kind that holds all labels seen so far: "integer", "number" or "text"."""
        if self._are_integers:
            return INTEGER
        return NUMBER if self._are_numbers else TEXT

    def add(self, texts: Any) -> None:
        """Take some labels into account.

        Parameters
        ----------
        texts : pyarrow.Array
            The labels.
        """
        import pyarrow as pa  # noqa: PLC0415 - an optional package
        import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

        if self.kind == TEXT:
            return
        distinct = _trimmed(texts).unique()
        if self._are_integers:
            are_plain = pc.all(pc.match_substring_regex(distinct, _INTEGER)).as_py()
            self._are_integers = bool(are_plain) and _can_become(distinct, pa.int64())
        if self._are_numbers:
            are_plain = all(map(_is_told_apart, distinct.to_pylist()))
            self._are_numbers = are_plain and _can_become(distinct, pa.float64())


def _can_become(texts: Any, numbers: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415 - an optional package

    try:
        texts.cast(numbers)
    except pa.ArrowInvalid:
        return False
    return True


def _is_told_apart(text: str) -> bool:
    """Return whether a text is the number that float64, rounded from it, is written as.

    No two different numbers of which that holds are rounded to the same.
    """
    if not _NUMBER.fullmatch(text):
        return False
    rounded = float(text)
    if not math.isfinite(rounded):
        return True  # refused later, with its place
    try:
        return Decimal(text) == Decimal(repr(rounded))
    except ArithmeticError:  # an exponent beyond all bounds
        return False


def _trimmed(texts: Any) -> Any:
    """Return what stands in cells of text without the blanks around it."""
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    return pc.utf8_trim_whitespace(texts)


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

    held = array.type
    if kinds.is_dictionary(held):
        held = held.value_type
        if not is_text(held):
            array = array.dictionary_decode()
    if array.null_count:
        row = int(np.argmax(array.is_null().to_numpy(zero_copy_only=False)))
        raise _no_label(columns, here, row)
    if is_text(held):
        if kind is not None:
            array = _trimmed(array)
        if kind in (None, TEXT):
            return _texts(array, columns, here)
        array = array.cast(pa.int64() if kind == INTEGER else pa.float64())
    # Copied, since Arrow's memory may be that of a file, which others can change.
    if kinds.is_integer(array.type) or kinds.is_boolean(array.type):
        return np.array(array.to_numpy(zero_copy_only=False))
    if kinds.is_floating(array.type):
        labels = np.array(array.to_numpy(zero_copy_only=False))
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


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is text.

    Parameters
    ----------
    kind : pyarrow.DataType
        The type.
    """
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    return bool(kinds.is_string(kind) or kinds.is_large_string(kind))


def label_bytes(array: Any) -> int:
    """Return how many bytes NumPy takes for each label of a column, as far as text goes.

    Parameters
    ----------
    array : pyarrow.Array
        The column.
    """
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package
    import pyarrow.types as kinds  # noqa: PLC0415 - an optional package

    texts = array.dictionary if kinds.is_dictionary(array.type) else array
    if not is_text(texts.type):
        return 0
    longest = pc.max(pc.utf8_length(texts)).as_py() or 1
    return _CHARACTER * min(longest, LONGEST_LABEL)  # longer ones are refused


def _texts(array: Any, columns: Columns, here: Place) -> NDArray[Any]:
    import pyarrow as pa  # noqa: PLC0415 - an optional package
    import pyarrow.compute as pc  # noqa: PLC0415 - an optional package

    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    used, codes = np.unique(coded.indices.to_numpy(zero_copy_only=False), return_inverse=True)
    texts = coded.dictionary.take(pa.array(used))
    lengths = pc.fill_null(pc.utf8_length(texts), 0).to_numpy(zero_copy_only=False)
    if lengths.min() == 0:
        raise _no_label(columns, here, int(np.argmin(lengths[codes])))
    assert columns.label is not None
    if lengths.max() > LONGEST_LABEL:
        row = int(np.argmax(lengths[codes] > LONGEST_LABEL))
        reason = (
            f"the label in column {columns.shown(columns.label)} has {int(lengths[codes[row]])} "
            f"characters; the limit is {LONGEST_LABEL}. Is this the right column?"
        )
        raise here.error(reason, row, columns.label)
    distinct = texts.to_pylist()
    with_nul = np.array(["\0" in text for text in distinct])  # dropped by NumPy at the end
    if with_nul.any():
        reason = f"the label in column {columns.shown(columns.label)} contains a NUL character."
        raise here.error(reason, int(np.argmax(with_nul[codes])), columns.label)
    return np.asarray(np.array(distinct, dtype=np.str_)[codes])


def _no_label(columns: Columns, here: Place, row: int) -> DataFileError:
    assert columns.label is not None
    reason = (
        f"the label in column {columns.shown(columns.label)} is missing or not finite; drop the "
        "row, choose another column with label=, or pass label=False for a file without labels."
    )
    return here.error(reason, row, columns.label)
