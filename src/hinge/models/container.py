"""The file itself: safetensors with one metadata key, ``hinge``, that describes everything.

::

    8 bytes     length of the header, little-endian, at most 1 MB
    header      JSON: for each tensor its dtype, shape and offsets, and the metadata
    tensors     their bytes, one after the other without gaps

The safetensors package writes it. Reading is done here and trusts nothing: lengths are compared
with the size of the file before anything is allocated, names come once, offsets leave neither
gaps nor overlaps, and the dtype and shape of every tensor are also part of the description, whose
digest covers them. The digest is SHA-256 of the canonical JSON of the description without it, and
then of the bytes of all tensors in the order of their names. It finds accidents; somebody who
means harm can compute one too, so nothing is believed because of it.
"""

from __future__ import annotations

import hashlib
import hmac
import math
import os
import stat
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as serialize

from hinge.durable import atomic_write
from hinge.errors import ModelFileError, UnsupportedError
from hinge.models.fields import LARGEST_INTEGER
from hinge.models.strict_json import canonical_json, parse_json

MOST_HEADER_BYTES = 1_000_000
METADATA_KEY = "hinge"
_LENGTH_BYTES = 8
_MOST_DIMENSIONS = 3
_DTYPES: dict[str, str] = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class TensorPlace:
    """Where a tensor lies in the file, and what it is.

    Parameters
    ----------
    dtype : str
        Its type, as safetensors names it.
    shape : tuple of int
        Its shape, every extent at least 1.
    start, stop : int
        Its bytes, counted from the end of the header.
    """

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Header:
    """What the header of a file says, checked against the size of the file and itself.

    Parameters
    ----------
    description : dict
        Content of the metadata, with its digest.
    tensors : dict of str to TensorPlace
        The tensors.
    data_start : int
        Where in the file the tensors begin.
    size : int
        Size of the file in bytes.
    """

    description: dict[str, Any]
    tensors: dict[str, TensorPlace]
    data_start: int
    size: int


def write_container(
    path: str | os.PathLike[str], description: dict[str, Any], tensors: dict[str, NDArray[Any]]
) -> str:
    """Write a description and its tensors, atomically and durably; return the digest.

    Parameters
    ----------
    path : str or path-like
        Where to.
    description : dict
        Plain content; the tensors' types and shapes and the digest are added to it.
    tensors : dict of str to ndarray
        The arrays, none of them empty.

    Returns
    -------
    str
        The digest, 64 hexadecimal digits.
    """
    stored = {
        name: np.ascontiguousarray(tensor, dtype=tensor.dtype.newbyteorder("<"))
        for name, tensor in tensors.items()
    }
    table = {name: [_NAMES[array.dtype], list(array.shape)] for name, array in stored.items()}
    described = {**description, "tensors": table}
    described["sha256"] = digest(described, stored)
    spelled = canonical_json(described)
    content = serialize(stored, metadata={METADATA_KEY: spelled})
    if int.from_bytes(content[:_LENGTH_BYTES], "little") > MOST_HEADER_BYTES:
        message = (
            f"the description of this model takes {len(spelled)} bytes; the header of a file holds "
            f"{MOST_HEADER_BYTES}. Use shorter names for classes and parameters."
        )
        raise UnsupportedError(message)
    with atomic_write(path) as file:
        file.write(content)
    return str(described["sha256"])


def digest(description: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> str:
    """Return SHA-256 over the description without its digest and over all tensors by name.

    Parameters
    ----------
    description : dict
        Plain content.
    tensors : dict of str to ndarray
        C-contiguous little-endian arrays.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    bare = {name: value for name, value in description.items() if name != "sha256"}
    found = hashlib.sha256(canonical_json(bare).encode("ascii"))
    for name in sorted(tensors):
        found.update(tensors[name].data.cast("B"))
    return found.hexdigest()


def open_container(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file for reading; anything but a regular one is refused.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    # Without the flag, opening a pipe that nobody writes to would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _O_BINARY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        message = "not a regular file, so it cannot be a hinge file."
        raise ModelFileError(message)
    return os.fdopen(descriptor, "rb")


def read_header(file: BinaryIO) -> Header:
    """Return the header of an open file after checking all of it.

    Parameters
    ----------
    file : binary file
        The file, from its beginning.

    Returns
    -------
    Header
        Description and tensors; nothing of their bytes has been read.
    """
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(_read(file, _LENGTH_BYTES), "little")
    if length > MOST_HEADER_BYTES or length > size - _LENGTH_BYTES:
        message = (
            f"not a hinge file, or a damaged one: it gives its header {length} bytes; the file "
            f"has {size} and a header at most {MOST_HEADER_BYTES}."
        )
        raise ModelFileError(message)
    try:
        text = _read(file, length).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the header is not UTF-8 at byte {_LENGTH_BYTES + error.start}."
        raise ModelFileError(message) from None
    content = parse_json(text, "the header")
    if not isinstance(content, dict):
        message = "the header is not a JSON object."
        raise ModelFileError(message)
    description = _description(content.pop("__metadata__", None))
    places = {name: _place(name, entry) for name, entry in content.items()}
    start = _LENGTH_BYTES + length
    _check_contiguous(places, size - start)
    _check_table(description.get("tensors"), places)
    return Header(description, places, start, size)


def read_tensors(file: BinaryIO, header: Header) -> dict[str, NDArray[Any]]:
    """Return all tensors of a file whose header was just read; the digest must be right.

    Parameters
    ----------
    file : binary file
        The file.
    header : Header
        Its header.

    Returns
    -------
    dict of str to ndarray
        Writable arrays, one for each tensor.
    """
    tensors = {name: read_tensor(file, header, name) for name in header.tensors}
    found = digest(header.description, tensors)
    stated = header.description.get("sha256")
    if not isinstance(stated, str) or not hmac.compare_digest(stated.encode(), found.encode()):
        message = (
            "the content does not match its SHA-256 digest: the file was damaged or changed after "
            "it was written. Get it again from where it came."
        )
        raise ModelFileError(message)
    return tensors


def read_tensor(file: BinaryIO, header: Header, name: str) -> NDArray[Any]:
    """Return one tensor, without the digest being checked.

    Parameters
    ----------
    file : binary file
        The file.
    header : Header
        Its header.
    name : str
        Which tensor.
    """
    place = header.tensors[name]
    tensor = np.empty(place.shape, dtype=_DTYPES[place.dtype])
    file.seek(header.data_start + place.start)
    buffer = tensor.data.cast("B")
    if file.readinto(buffer) != len(buffer):  # type: ignore[attr-defined]
        raise _ends_early()
    if place.dtype == "BOOL" and tensor.view(np.uint8).max() > 1:
        message = f"tensor {name!r} holds bytes that are neither true nor false."
        raise ModelFileError(message)
    return tensor


_O_BINARY: int = getattr(os, "O_BINARY", 0)


def _read(file: BinaryIO, length: int) -> bytes:
    content = file.read(length)
    if len(content) != length:
        raise _ends_early()
    return content


def _ends_early() -> ModelFileError:
    message = "the file ends before what its header promises: it was cut off."
    return ModelFileError(message)


def _description(metadata: Any) -> dict[str, Any]:
    """Return what the one metadata key holds, in its one spelling."""
    if not isinstance(metadata, dict) or list(metadata) != [METADATA_KEY]:
        message = (
            f"not a hinge file: the metadata of its header must have the one key {METADATA_KEY!r}."
        )
        raise ModelFileError(message)
    text = metadata[METADATA_KEY]
    if not isinstance(text, str):
        message = f"the metadata key {METADATA_KEY!r} must hold text."
        raise ModelFileError(message)
    description = parse_json(text, "the description")
    if not isinstance(description, dict):
        message = "the description is not a JSON object."
        raise ModelFileError(message)
    try:
        is_canonical = canonical_json(description) == text
    except (ValueError, RecursionError):
        is_canonical = False
    if not is_canonical:
        message = "the description is not spelled the way hinge spells it, so hinge did not."
        raise ModelFileError(message)
    return description


def _place(name: str, entry: Any) -> TensorPlace:
    """Return the place of a tensor after checking that its numbers belong together."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        message = f"tensor {name[:100]!r} must have a dtype, a shape and data_offsets."
        raise ModelFileError(message)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        message = f"tensor {name[:100]!r} has a dtype that this format does not know."
        raise ModelFileError(message)
    is_shape = _are_counts(shape, 1) and 1 <= len(shape) <= _MOST_DIMENSIONS
    if not is_shape or not _are_counts(offsets, 0) or len(offsets) != 2:
        message = f"tensor {name[:100]!r} has a shape or offsets that cannot be."
        raise ModelFileError(message)
    needed = math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize
    if offsets[1] - offsets[0] != needed:
        message = (
            f"tensor {name[:100]!r} of shape {tuple(shape)} and dtype {dtype} takes {needed} "
            f"bytes; its offsets give it {offsets[1] - offsets[0]}."
        )
        raise ModelFileError(message)
    return TensorPlace(dtype, tuple(shape), offsets[0], offsets[1])


def _are_counts(values: Any, least: int) -> bool:
    """Return whether this is a list of whole numbers from ``least`` on that fit in 64 bits."""
    return isinstance(values, list) and all(
        type(value) is int and least <= value <= LARGEST_INTEGER for value in values
    )


def _check_contiguous(places: dict[str, TensorPlace], size: int) -> None:
    """Refuse tensors that leave gaps, overlap, or do not fill the file exactly."""
    reached = 0
    for name, place in sorted(places.items(), key=lambda item: item[1].start):
        if place.start != reached:
            message = f"tensor {name[:100]!r} begins at byte {place.start}, not at {reached}."
            raise ModelFileError(message)
        reached = place.stop
    if reached != size:
        message = (
            f"the tensors take {reached} bytes; the file has {size} for them: it was cut off, or "
            "something was added to it."
        )
        raise ModelFileError(message)


def _check_table(table: Any, places: dict[str, TensorPlace]) -> None:
    """Refuse a file whose description names other tensors than its header."""
    expected = {name: [place.dtype, list(place.shape)] for name, place in places.items()}
    if table != expected:
        message = "the description and the header name different tensors."
        raise ModelFileError(message)
