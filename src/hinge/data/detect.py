"""Which format a file has: its ending says, its first bytes must agree.

A name without a known ending is judged by the first bytes alone, and text by its first line: with
pairs ``index:value`` it is LIBSVM, else with a delimiter CSV.
"""

from __future__ import annotations

import re

from hinge.data.compressed import COMPRESSED_ENDINGS
from hinge.data.shard_layout import MAGIC as SHARD_MAGIC
from hinge.data.source import Source, peek
from hinge.errors import DataFileError, unknown_name

LIBSVM, CSV, PARQUET, ARROW, NPZ, SHARDS = "libsvm", "csv", "parquet", "arrow", "npz", "shards"
FORMATS = (LIBSVM, CSV, PARQUET, ARROW, NPZ, SHARDS)

ENDINGS = {
    ".libsvm": LIBSVM,
    ".svm": LIBSVM,
    ".svmlight": LIBSVM,
    ".csv": CSV,
    ".tsv": CSV,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".arrows": ARROW,
    ".feather": ARROW,
    ".ipc": ARROW,
    ".npz": NPZ,
    ".hingedata": SHARDS,
}
_TEXT = (LIBSVM, CSV)
_MAGIC = {
    b"PAR1": PARQUET,
    b"ARROW1": ARROW,
    b"\xff\xff\xff\xff": ARROW,
    b"PK\x03\x04": NPZ,
    SHARD_MAGIC: SHARDS,
}
# What else people hand over, and what to do with it.
_FOREIGN = {
    b"\x89HDF\r\n\x1a\n": "an HDF5 file; save the arrays with numpy.savez",
    b"\x93NUMPY": "a single NumPy array; save rows and labels with numpy.savez(path, X=X, y=y)",
    b"FEA1": "a Feather file of version 1; write it again with version 2",
    b"PK\x05\x06": "an empty zip archive",
    b"%PDF": "a PDF document",
    b"\x80\x04": "a pickle, which could run code when loaded; save the arrays with numpy.savez",
    b"\x80\x05": "a pickle, which could run code when loaded; save the arrays with numpy.savez",
}
SPOKEN = {
    LIBSVM: "LIBSVM text",
    CSV: "CSV text",
    PARQUET: "a Parquet file",
    ARROW: "an Arrow file",
    NPZ: "an npz archive",
    SHARDS: "a shard file",
}
_PAIR = re.compile(rb"(?:^|\s)(?:qid|\d+):\S")


def detect_format(source: Source, asked: str | None = None) -> str:
    """Return the format of a file, or say what contradicts what.

    Parameters
    ----------
    source : Source
        The file.
    asked : str or None, default=None
        The format that the caller names; its ending is then not looked at.

    Returns
    -------
    str
        One of ``FORMATS``.
    """
    if asked is not None and asked not in FORMATS:
        raise unknown_name(asked, "format", FORMATS)
    found = _by_first_bytes(source)
    expected, because = asked, f"format={asked!r} was asked for"
    if asked is None:
        expected, because = _by_ending(source)
    if expected is None:
        return found if found is not None else _by_first_line(source)
    if source.compression is not None and expected not in _TEXT:
        raise _contradiction(source, because, f"{source.compression} data")
    if found is not None and found != expected:
        raise _contradiction(source, because, SPOKEN[found])
    if found is None and expected not in _TEXT:
        reason = f"{because}, but the file does not begin like {SPOKEN[expected]}."
        raise DataFileError(reason, source.path)
    return expected


def _by_ending(source: Source) -> tuple[str | None, str]:
    """Return the format that the name tells of, and the reason in words."""
    endings = source.endings
    compression = COMPRESSED_ENDINGS.get(endings[0]) if endings else None
    if compression is not None:
        shut, endings = endings[0], endings[1:]
    expected = ENDINGS.get(endings[0]) if endings else None
    because = f"its name ends with {endings[0]}" if endings else ""
    if compression is not None and source.compression != compression:
        reason = (
            f"its name ends with {shut}, but it does not begin like {compression} data; rename it."
        )
        raise DataFileError(reason, source.path)
    if expected is not None and compression is None and source.compression is not None:
        ending = {kind: end for end, kind in COMPRESSED_ENDINGS.items()}[source.compression]
        reason = (
            f"{because}, but it begins like {source.compression} data; rename it to end with "
            f"{endings[0]}{ending}."
        )
        raise DataFileError(reason, source.path)
    return expected, because


def _by_first_bytes(source: Source) -> str | None:
    for magic, what in _FOREIGN.items():
        if source.head.startswith(magic):
            reason = f"this begins like {what}."
            raise DataFileError(reason, source.path)
    for magic, found in _MAGIC.items():
        if source.head.startswith(magic):
            return found
    return None


def _by_first_line(source: Source) -> str:
    """Return the format of text whose name tells nothing."""
    head = peek(source)
    if b"\0" in head:
        reason = (
            "neither its name nor its first bytes tell of a known format; name it with format= "
            f"({', '.join(FORMATS)})."
        )
        raise DataFileError(reason, source.path)
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith(b"#")), b"")
    looks_like_table = any(mark in first for mark in (b",", b";", b"\t"))
    return CSV if looks_like_table and not _PAIR.search(first) else LIBSVM


def _contradiction(source: Source, because: str, found: str) -> DataFileError:
    reason = f"{because}, but it begins like {found}; rename it, or pass the right format=."
    return DataFileError(reason, source.path)
