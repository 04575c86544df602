"""Which column of a table is the label, which are features, and of what type the rows become.

A table with names has its label in the column named label, or else target, class or y (in upper or
lower case); one without such a column, or without names, in its last. ``label=`` chooses another,
``label=False`` says that there is none. The choice is always stated in the notes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.data.options import ReadOptions
from hinge.errors import DataFileError, InvalidParameterError

LABEL_NAMES = ("label", "target", "class", "y")
MOST_COLUMNS = 100_000  # beyond that the description of a table outweighs its contents
# The column in which pandas keeps the index of a frame.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Columns:
    """What is taken from a table.

    Parameters
    ----------
    names : tuple of str
        All columns, in the order of the file; numbers where the file has no names.
    has_names : bool
        Whether the names are the file's own.
    label : int or None
        The position of the label.
    features : tuple of int
        The positions of the features.
    dtype : dtype
        The type of the rows.
    notes : tuple of str
        What was decided.
    """

    names: tuple[str, ...]
    has_names: bool
    label: int | None
    features: tuple[int, ...]
    dtype: np.dtype[Any]
    notes: tuple[str, ...]

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, None where the file has no names."""
        return tuple(self.names[place] for place in self.features) if self.has_names else None

    def shown(self, place: int) -> str:
        """Return a column for a message: its name in quotes, or its number from one."""
        return repr(self.names[place]) if self.has_names else f"number {place + 1}"


def choose_columns(
    names: Sequence[str], has_names: bool, options: ReadOptions, path: str
) -> Columns:
    """Return label and features of a table; types are settled later.

    Parameters
    ----------
    names : sequence of str
        All columns.
    has_names : bool
        Whether the names are the file's own.
    options : ReadOptions
        What the caller asked for.
    path : str
        The file, for messages.
    """
    if len(names) > MOST_COLUMNS:
        reason = (
            f"the table has {len(names):,} columns and at most {MOST_COLUMNS:,} are read; store "
            "data this wide as LIBSVM text, npz or shards."
        )
        raise DataFileError(reason, path)
    if not names:
        reason = "the table has no columns."
        raise DataFileError(reason, path)
    notes: list[str] = []
    left_out = _index_columns(names, has_names, notes)
    label = _label_place(names, has_names, options, path, notes)
    features = tuple(
        place for place in range(len(names)) if place != label and place not in left_out
    )
    if not features:
        reason = (
            f"there is no column besides the label ({len(names)} in all), so there are no "
            "features; for a file without labels pass label=False."
        )
        raise DataFileError(reason, path)
    if options.n_features is not None and options.n_features != len(features):
        reason = (
            f"the file has {len(features)} feature columns and n_features={options.n_features} "
            "were asked for; columns of a table cannot be added or dropped unseen."
        )
        raise DataFileError(reason, path)
    dtype = options.value_type or np.dtype(np.float64)
    return Columns(tuple(names), has_names, label, features, dtype, tuple(notes))


def _index_columns(names: Sequence[str], has_names: bool, notes: list[str]) -> set[int]:
    """Return columns that only number the rows: what pandas and R write beside the data."""
    if not has_names:
        return set()
    found = {place for place, name in enumerate(names) if _PANDAS_INDEX.fullmatch(name)}
    if names[0] == "" and len(names) > 1:
        found.add(0)
    notes += [
        f"Column {place + 1} ({names[place]!r}) holds the row index that pandas writes and was "
        "left out."
        for place in sorted(found)
    ]
    return found


def _label_place(
    names: Sequence[str], has_names: bool, options: ReadOptions, path: str, notes: list[str]
) -> int | None:
    label = options.label
    if label is False:
        return None
    if isinstance(label, str):
        return _named(label, names, has_names, path)
    if label is not None:
        if not -len(names) <= label < len(names):
            message = (
                f"label={label} names no column of {path}, which has {len(names)}: counted from "
                f"0 they end with {len(names) - 1}, and -1 is the last."
            )
            raise InvalidParameterError(message)
        return label % len(names)
    if has_names:
        for wanted in LABEL_NAMES:
            matching = [place for place, name in enumerate(names) if name.lower() == wanted]
            if len(matching) > 1:
                shown = ", ".join(repr(names[place]) for place in matching[:5])
                reason = f"several columns could be the label ({shown}); choose one with label=."
                raise DataFileError(reason, path)
            if matching:
                place = matching[0]
                notes.append(f"The labels are column {place + 1} ({names[place]!r}).")
                return place
    place = len(names) - 1
    named = f" ({names[place]!r})" if has_names else ""
    notes.append(
        f"The labels are the last column, number {place + 1}{named}: no column is named "
        f"{', '.join(LABEL_NAMES)}. Choose another with label=."
    )
    return place


def _named(label: str, names: Sequence[str], has_names: bool, path: str) -> int:
    if not has_names:
        message = (
            f"label={label!r} names a column, but {path} has no line of names; pass the number "
            "of the column, counted from 0 (-1 is the last)."
        )
        raise InvalidParameterError(message)
    places = [place for place, name in enumerate(names) if name == label]
    if len(places) == 1:
        return places[0]
    shown = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    if places:
        reason = f"{len(places)} columns are named {label!r}; choose one by its number."
        raise DataFileError(reason, path)
    message = f"label={label!r} names no column of {path}; its columns are {shown}."
    raise InvalidParameterError(message)
