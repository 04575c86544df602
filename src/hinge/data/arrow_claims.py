"""How much memory the batches of an Arrow file claim, read from its metadata before decoding.

A compressed buffer says in its first eight bytes how long it becomes, and pyarrow takes that much
memory before it decompresses. The metadata are flatbuffers: a table has, at a negative offset, a
list of where its fields are. Whatever does not add up here is a ValueError, or is left to pyarrow,
which verifies the metadata before it uses them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

_FILE_START = 8  # the magic and two bytes of padding
_FILE_END = struct.Struct("<i6s")  # length of the footer, magic
_CONTINUATION = 0xFFFFFFFF
_LONGEST_METADATA = 256 << 20
_BLOCK = struct.Struct("<qi4xq")  # where a message is, length of its metadata, of its body
_BUFFER = struct.Struct("<qq")  # where a buffer is in the body, its length
_DICTIONARIES, _BATCHES = 2, 3  # fields of the footer
_KIND, _HEADER, _BODY_LENGTH = 1, 2, 3  # fields of a message
_DICTIONARY_KIND, _BATCH_KIND = 2, 3
_DATA = 1  # field of a dictionary
_BUFFERS, _COMPRESSION = 2, 3  # fields of a batch


class _Table:
    """A table of a flatbuffer."""

    def __init__(self, raw: bytes, place: int) -> None:
        self._raw = raw
        self._place = place
        self._fields = place - self._number("<i", place)

    def _number(self, form: str, place: int) -> int:
        if place < 0:
            message = "an offset of its metadata is negative"
            raise ValueError(message)
        return int(struct.unpack_from(form, self._raw, place)[0])

    def _where(self, field: int) -> int | None:
        """Return where a field is, None where it is left out."""
        entry = 4 + 2 * field
        if entry + 2 > self._number("<H", self._fields):
            return None
        offset = self._number("<H", self._fields + entry)
        return self._place + offset if offset else None

    def number(self, field: int, form: str) -> int:
        """Return a number, 0 where it is left out."""
        where = self._where(field)
        return 0 if where is None else self._number(form, where)

    def table(self, field: int) -> _Table | None:
        where = self._where(field)
        return None if where is None else _Table(self._raw, where + self._number("<I", where))

    def structures(self, field: int, form: struct.Struct) -> list[tuple[Any, ...]]:
        """Return a list of structures, empty where it is left out."""
        where = self._where(field)
        if where is None:
            return []
        start = where + self._number("<I", where)
        count = self._number("<I", start)
        if start + 4 + count * form.size > len(self._raw):
            message = "a list in its metadata is longer than they are"
            raise ValueError(message)
        return [form.unpack_from(self._raw, start + 4 + k * form.size) for k in range(count)]


def _root(raw: bytes) -> _Table:
    return _Table(raw, int(struct.unpack_from("<I", raw)[0]))


def claimed_by_batches(contents: BinaryIO, size: int, is_file: bool) -> Iterator[int]:
    """Yield how many bytes each batch takes once decompressed, with the dictionaries before it.

    Parameters
    ----------
    contents : binary file
        An Arrow file or stream; it is read only at the places of metadata.
    size : int
        How many bytes it has.
    is_file : bool
        Whether it is a file, whose footer says where the batches are, or a stream.

    Yields
    ------
    int
        The bytes of one batch.
    """
    places = _places_of_file(contents, size) if is_file else _places_of_stream(contents, size)
    dictionaries = 0
    try:
        for metadata, body in places:
            message = _root(metadata)
            claimed = _claimed(contents, message, body)
            yield dictionaries + claimed
            if message.number(_KIND, "<B") == _DICTIONARY_KIND:
                dictionaries += claimed
    except struct.error as error:
        reason = "its metadata are cut short"
        raise ValueError(reason) from error


def _places_of_file(contents: BinaryIO, size: int) -> Iterator[tuple[bytes, int]]:
    """Yield metadata and place of the body of every message that the footer names."""
    contents.seek(max(0, size - _FILE_END.size))
    length, _ = _FILE_END.unpack(contents.read(_FILE_END.size))
    if not 0 < length <= size - _FILE_START - _FILE_END.size:
        message = f"its footer claims {length} bytes"
        raise ValueError(message)
    contents.seek(size - _FILE_END.size - length)
    footer = _root(contents.read(length))
    blocks = footer.structures(_DICTIONARIES, _BLOCK) + footer.structures(_BATCHES, _BLOCK)
    for place, metadata_length, _ in blocks:
        metadata = _metadata(contents, place, size)
        if metadata is not None:
            yield metadata[0], place + metadata_length


def _places_of_stream(contents: BinaryIO, size: int) -> Iterator[tuple[bytes, int]]:
    place = 0
    while place < size:
        found = _metadata(contents, place, size)
        if found is None:
            return
        metadata, body = found
        yield metadata, body
        place = body + max(0, _root(metadata).number(_BODY_LENGTH, "<q"))


def _metadata(contents: BinaryIO, place: int, size: int) -> tuple[bytes, int] | None:
    """Return the metadata of the message at a place and where they end; None at the end."""
    if not 0 <= place < size:
        message = "a message lies outside of it"
        raise ValueError(message)
    contents.seek(place)
    raw = contents.read(8)
    length, start = int.from_bytes(raw[:4], "little"), place + 4
    if length == _CONTINUATION:
        length, start = int.from_bytes(raw[4:], "little"), place + 8
    if length == 0:
        return None
    if length > min(size, _LONGEST_METADATA):
        message = f"the metadata of a message claim {length:,} bytes"
        raise ValueError(message)
    contents.seek(start)
    return contents.read(length), start + length


def _claimed(contents: BinaryIO, message: _Table, body: int) -> int:
    """Return how many bytes the buffers of a message take once they are decompressed."""
    kind, batch = message.number(_KIND, "<B"), message.table(_HEADER)
    if kind == _DICTIONARY_KIND and batch is not None:
        batch = batch.table(_DATA)
    if kind not in (_DICTIONARY_KIND, _BATCH_KIND) or batch is None:
        return 0
    buffers = batch.structures(_BUFFERS, _BUFFER)
    if batch.table(_COMPRESSION) is None:
        return sum(max(0, length) for _, length in buffers)
    claimed = 0
    for offset, length in buffers:
        if length < 8:
            continue
        contents.seek(max(0, body + offset))
        stated = int.from_bytes(contents.read(8), "little", signed=True)
        claimed += length - 8 if stated < 0 else stated
    return claimed
