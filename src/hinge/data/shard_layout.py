"""The bytes of a shard file: a fixed prefix, arrays at aligned places, a small JSON description.

::

    0    8 bytes   magic
    8    u32       version of the format, little-endian like everything else
    12   u32       zero
    16   u64       where the description begins
    24   u64       how long it is
    32   32 bytes  SHA-256 of the description
    64             the arrays, each at the next multiple of 64, in a fixed order
    ...            the description, to the end of the file

The description comes last because a file is written in one pass, before anyone knows how many rows
there will be. It holds shapes, types and checksums but no offsets and no paths: the places of the
arrays follow from their shapes, so there is nothing to contradict them but the size of the file.
"""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import asdict, dataclass
from typing import Any

from hinge.data.labels import LONGEST_LABEL
from hinge.errors import DataFileError

MAGIC = b"\x89hinge\r\n"
VERSION = 1
ALIGNMENT = 64
LONGEST_DESCRIPTION = 1 << 20
PREFIX = struct.Struct("<8sIIQQ32s")

DENSE, CSR = "dense", "csr"
VALUES, INDICES, INDPTR = "values", "indices", "indptr"
LABELS, QUERY_IDS = "labels", "query_ids"
# The type in which each kind of label is stored; text is stored as numbers of classes.
LABEL_TYPES = {"integer": "<i8", "number": "<f8", "boolean": "|u1", "text": "<i4"}
_FLOATS, _INTEGERS = ("<f4", "<f8"), ("<i4", "<i8")
_BYTES = {"|u1": 1, "<f4": 4, "<i4": 4, "<f8": 8, "<i8": 8}
_KEYS = {"form", "n_samples", "n_features", "arrays", "label_kind", "classes", "feature_names"}
_MOST = 1 << 62


@dataclass(frozen=True)
class StoredArray:
    """An array of the file.

    Parameters
    ----------
    name : str
        What it holds.
    dtype : str
        Its type, as NumPy writes it, little-endian.
    length : int
        How many elements it has.
    sha256 : str
        The checksum of its bytes, in hexadecimal.
    """

    name: str
    dtype: str
    length: int
    sha256: str

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.length * _BYTES[self.dtype]


@dataclass(frozen=True)
class Description:
    """What a shard file holds.

    Parameters
    ----------
    form : str
        "dense" or "csr".
    n_samples, n_features : int
        The shape of the rows.
    arrays : tuple of StoredArray
        The arrays, in the order of the file.
    label_kind : str or None
        What the labels are; None where there are none.
    classes : tuple of str or None
        The labels that the numbers of text labels stand for.
    feature_names : tuple of str or None
        The names of the features.
    """

    form: str
    n_samples: int
    n_features: int
    arrays: tuple[StoredArray, ...]
    label_kind: str | None = None
    classes: tuple[str, ...] | None = None
    feature_names: tuple[str, ...] | None = None

    def offsets(self) -> tuple[dict[str, int], int]:
        """Return where each array begins, and where the description does."""
        places, position = {}, PREFIX.size
        for array in self.arrays:
            places[array.name] = position
            position = aligned(position + array.nbytes)
        return places, position


def aligned(position: int) -> int:
    """Return the next position at which an array may begin.

    Parameters
    ----------
    position : int
        Where the one before it ends.
    """
    return -(-position // ALIGNMENT) * ALIGNMENT


def encode(description: Description) -> tuple[bytes, bytes]:
    """Return the prefix and the description as bytes.

    Parameters
    ----------
    description : Description
        What the file holds.
    """
    text = json.dumps(asdict(description), ensure_ascii=True, sort_keys=True).encode()
    digest = hashlib.sha256(text).digest()
    _, start = description.offsets()
    return PREFIX.pack(MAGIC, VERSION, 0, start, len(text), digest), text


def decode(contents: Any, size: int, path: str) -> Description:
    """Return what a file says it holds, reconciled with itself and with the file's size.

    Parameters
    ----------
    contents : buffer
        The bytes of the file.
    size : int
        How many there are.
    path : str
        The file, for messages.

    Returns
    -------
    Description
        A description of which every part agrees with every other.
    """
    if size < PREFIX.size:
        raise _unsound(path, f"it has {size} bytes, fewer than the first part of every shard file")
    magic, version, zero, start, length, digest = PREFIX.unpack(contents[: PREFIX.size])
    if magic != MAGIC or zero != 0:
        raise _unsound(path, "it does not begin as one")
    if version != VERSION:
        reason = (
            f"this is version {version} of the shard format and this hinge reads version "
            f"{VERSION}; convert the data again, or use a newer hinge."
        )
        raise DataFileError(reason, path)
    if length > LONGEST_DESCRIPTION or start + length != size:
        raise _unsound(
            path, f"it has {size:,} bytes and its description should end at {start + length:,}"
        )
    text = bytes(contents[start : start + length])
    if hashlib.sha256(text).digest() != digest:
        raise _unsound(path, "the checksum of its description does not match")
    description = _checked(_parsed(text, path), path)
    if description.offsets()[1] != start:
        raise _unsound(
            path,
            f"its arrays end at {description.offsets()[1]:,}, its description begins at {start:,}",
        )
    return description


def _parsed(text: bytes, path: str) -> dict[str, Any]:
    try:
        parsed = json.loads(
            text.decode("utf-8"), object_pairs_hook=_without_repetition, parse_constant=_refused
        )
    except (ValueError, RecursionError) as error:
        raise _unsound(path, f"its description is not JSON of the right form: {error}") from error
    if not isinstance(parsed, dict) or set(parsed) != _KEYS:
        raise _unsound(path, "its description has not the fields it should have")
    return parsed


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        message = "a field occurs twice"
        raise ValueError(message)
    return fields


def _refused(constant: str) -> None:
    message = f"{constant} is not a number"
    raise ValueError(message)


def _checked(parsed: dict[str, Any], path: str) -> Description:
    """Return the description if every field has the right type and agrees with the others."""
    form, n_samples, n_features = (parsed[key] for key in ("form", "n_samples", "n_features"))
    if form not in (DENSE, CSR) or not all(map(_is_extent, (n_samples, n_features))):
        raise _unsound(
            path, f"its rows are {form!r} of shape ({n_samples!r}, {n_features!r})"[:200]
        )
    arrays = parsed["arrays"]
    if not isinstance(arrays, list) or not all(map(_is_stored_array, arrays)):
        raise _unsound(path, "its list of arrays is malformed")
    description = Description(
        form,
        n_samples,
        n_features,
        tuple(StoredArray(**array) for array in arrays),
        parsed["label_kind"],
        _texts(parsed["classes"], "classes", path),
        _texts(parsed["feature_names"], "names of features", path),
    )
    _check_arrays(description, path)
    return description


def _check_arrays(description: Description, path: str) -> None:
    n, d = description.n_samples, description.n_features
    found = {array.name: (array.dtype, array.length) for array in description.arrays}
    label = description.label_kind
    if label is not None and (not isinstance(label, str) or label not in LABEL_TYPES):
        raise _unsound(path, f"its labels are of kind {label!r}"[:200])
    expected: list[tuple[str, tuple[str, ...], int]]
    if description.form == DENSE:
        expected = [(VALUES, _FLOATS, n * d)]
    else:
        stored = found.get(VALUES, ("", 0))[1]
        expected = [(VALUES, _FLOATS, stored), (INDICES, _INTEGERS, stored)]
        expected += [(INDPTR, _INTEGERS, n + 1)]
    if label is not None:
        expected.append((LABELS, (LABEL_TYPES[label],), n))
    if QUERY_IDS in found:
        expected.append((QUERY_IDS, ("<i8",), n))
    if [array.name for array in description.arrays] != [name for name, _, _ in expected]:
        raise _unsound(path, f"its arrays are {sorted(found)!r}"[:200])
    for name, types, length in expected:
        if found[name][0] not in types or found[name][1] != length:
            raise _unsound(path, f"its array {name!r} is {found[name]}, where {length} are needed")
    if (description.classes is not None) != (label == "text"):
        raise _unsound(path, "it has classes without text labels, or the other way round")
    names = description.feature_names
    if names is not None and len(names) != d:
        raise _unsound(path, f"it has {len(names)} names for {d} features")


def _is_extent(value: object) -> bool:
    return type(value) is int and 1 <= value <= _MOST


def _is_stored_array(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"name", "dtype", "length", "sha256"}
        and value["name"] in (VALUES, INDICES, INDPTR, LABELS, QUERY_IDS)
        and isinstance(value["dtype"], str)
        and value["dtype"] in _BYTES
        and type(value["length"]) is int
        and 0 <= value["length"] <= _MOST
        and isinstance(value["sha256"], str)
        and len(value["sha256"]) == 64
        and set(value["sha256"]) <= set("0123456789abcdef")
    )


def _texts(value: object, what: str, path: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list) or not all(map(_is_text, value)):
        raise _unsound(path, f"its {what} are not a list of texts")
    if what == "classes" and (
        len(set(value)) != len(value) or not all(0 < len(text) <= LONGEST_LABEL for text in value)
    ):
        raise _unsound(path, f"its {what} repeat, or are empty or too long")
    return tuple(value)


def _is_text(value: object) -> bool:
    # A lone surrogate is no character, and NumPy drops a NUL at the end.
    return (
        isinstance(value, str)
        and "\0" not in value
        and not any("\ud800" <= character <= "\udfff" for character in value)
    )


def _unsound(path: str, why: str) -> DataFileError:
    reason = f"this is not a sound shard file: {why}. Convert the data again."
    return DataFileError(reason, path)
