"""One door to every format: whole, or block by block in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from hinge.data.arrow_files import arrow_blocks
from hinge.data.csv_files import csv_blocks
from hinge.data.dataset import Dataset
from hinge.data.detect import (
    ARROW,
    CSV,
    LIBSVM,
    NPZ,
    PARQUET,
    SHARDS,
    SPOKEN,
    detect_format,
)
from hinge.data.gather import gather, within_claim
from hinge.data.libsvm import iter_libsvm, read_libsvm_dataset
from hinge.data.npz_files import npz_blocks
from hinge.data.options import BLOCK_BYTES, UNLIMITED, ReadOptions
from hinge.data.parquet_files import parquet_blocks
from hinge.data.shards import shard_blocks, shards_as_asked
from hinge.data.source import Source, open_source
from hinge.errors import DataFileError, InvalidParameterError

Blocks = Callable[[Source, ReadOptions, int], Iterator[Dataset]]

_READERS: dict[str, Blocks] = {
    CSV: csv_blocks,
    PARQUET: parquet_blocks,
    ARROW: arrow_blocks,
    NPZ: npz_blocks,
    SHARDS: shard_blocks,
}


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that users look for
    label: str | int | Literal[False] | None = None,
    n_features: int | None = None,
    dtype: npt.DTypeLike | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    header: bool | None = None,
    multilabel: bool = False,
    n_jobs: int | None = None,
    memory_limit: int | None = None,
) -> Dataset:
    r"""Read a data file of any known format.

    The ending of the name says which format it is (``.libsvm``, ``.svm``, ``.csv``, ``.tsv``,
    ``.parquet``, ``.arrow``, ``.feather``, ``.npz``, ``.hingedata``; text also compressed, with
    ``.gz``, ``.bz2``, ``.xz`` or ``.zst`` behind it) and the first bytes must agree. Without a
    known ending the first bytes decide.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : {"libsvm", "csv", "parquet", "arrow", "npz", "shards"} or None, default=None
        The format, where the name does not tell it.
    label : str, int, False or None, default=None
        The column of the labels in a table: its name, or its number counted from 0 (-1 is the
        last); the name of the array in an npz archive. False says that there are no labels. None
        takes the column named label, target, class or y, and if there is none the last one.
    n_features : int or None, default=None
        How many features there must be. Sparse rows may have fewer in the file.
    dtype : dtype or None, default=None
        float32 or float64. None keeps float32 where every feature is stored as float32, and makes
        float64 of everything else.
    zero_based : bool or "auto", default="auto"
        Whether indices of LIBSVM text count from zero; "auto" finds out and says so in the notes.
    header : bool or None, default=None
        Whether the first line of a CSV file names the columns; None looks at it.
    multilabel : bool, default=False
        Whether rows of LIBSVM text may have several labels, or none.
    n_jobs : int or None, default=None
        How many threads may read, as in scikit-learn; the result does not depend on it.
    memory_limit : int or None, default=None
        How many bytes the rows and their labels may take, and the contents of a compressed file.
        None allows 64 MB or a thousand times the size of the file, whichever is more, so that a
        small file cannot fill the memory. Shards stay in the file and are not counted.

    Returns
    -------
    Dataset
        Rows, labels, names, and notes on what was decided.

    Raises
    ------
    DataFileError
        If the file cannot be read; says where and what to do.
    MissingDependencyError
        If the format needs a package that is not installed.

    See Also
    --------
    iter_blocks : Read a file that is larger than memory.
    open_shards : Open a shard file, with its checksums compared.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import hinge.data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "fruit.csv")
    ...     size = path.write_text("weight,length,label\n120,7.5,apple\n110,18,banana\n")
    ...     data = hinge.data.read(path)
    >>> data.X
    array([[120. ,   7.5],
           [110. ,  18. ]])
    >>> data.y
    array(['apple', 'banana'], dtype='<U6')
    >>> data.feature_names
    ('weight', 'length')
    """
    options = ReadOptions(
        label, n_features, dtype, zero_based, header, n_jobs, memory_limit, multilabel
    )
    source = open_source(path)
    found = detect_format(source, format)
    try:
        if found == LIBSVM:
            return _whole_libsvm(source, options)
        if found == SHARDS:
            _check_one_label(options, found)
            return shards_as_asked(source, options)
        _check_one_label(options, found)
        # An archive has its arrays whole already; tables are put together from blocks.
        block_bytes = UNLIMITED if found == NPZ else min(BLOCK_BYTES, memory_limit or BLOCK_BYTES)
        blocks = _READERS[found](source, options, block_bytes)
        data = gather(within_claim(blocks, source, memory_limit))
        if data is None:
            raise _no_rows(source)
        return data
    except MemoryError as error:
        raise _too_large(source) from error


def iter_blocks(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word that users look for
    block_bytes: int = BLOCK_BYTES,
    label: str | int | Literal[False] | None = None,
    n_features: int | None = None,
    dtype: npt.DTypeLike | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    header: bool | None = None,
    multilabel: bool = False,
) -> Iterator[Dataset]:
    """Read a data file of any known format block by block, in bounded memory.

    The blocks put together are what :func:`read` returns.

    Parameters
    ----------
    path : str or path-like
        The file.
    format : str or None, default=None
        As for :func:`read`.
    block_bytes : int, default=32 MB
        About how many bytes the rows of a block may take; at least one row is in each. A line of
        text is read whole, up to 128 MB or this number, and so are a batch of an Arrow file and a
        page of a Parquet file.
    label : str, int, False or None, default=None
        As for :func:`read`.
    n_features : int or None, default=None
        As for :func:`read`. For LIBSVM text, None reads the file once before to find it.
    dtype : dtype or None, default=None
        As for :func:`read`.
    zero_based : bool or "auto", default="auto"
        As for :func:`read`.
    header : bool or None, default=None
        As for :func:`read`.
    multilabel : bool, default=False
        As for :func:`read`.

    Yields
    ------
    Dataset
        Consecutive rows, with what is known of the whole file.

    Raises
    ------
    DataFileError
        If the file cannot be read; blocks before the place that is wrong have been yielded.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import hinge.data
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "rows.npz")
    ...     np.savez(path, X=np.eye(5), y=np.arange(5))
    ...     for block in hinge.data.iter_blocks(path, block_bytes=80):
    ...         print(block.X.shape, block.y)
    (2, 5) [0 1]
    (2, 5) [2 3]
    (1, 5) [4]
    """
    is_integer = isinstance(block_bytes, int | np.integer) and not isinstance(block_bytes, bool)
    if not is_integer or block_bytes < 1:
        message = f"block_bytes must be an integer of at least 1; got {block_bytes!r}."
        raise InvalidParameterError(message)
    options = ReadOptions(label, n_features, dtype, zero_based, header, None, UNLIMITED, multilabel)
    source = open_source(path)
    found = detect_format(source, format)
    _check_one_label(options, found)
    return _blocks(found, source, options, int(block_bytes))


def _blocks(
    found: str, source: Source, options: ReadOptions, block_bytes: int
) -> Iterator[Dataset]:
    reader = _libsvm_blocks if found == LIBSVM else _READERS[found]
    empty = True
    try:
        for block in reader(source, options, block_bytes):
            empty = False
            yield block
    except MemoryError as error:
        reason = "a block of its rows does not fit in memory; pass a smaller block_bytes."
        raise DataFileError(reason, source.path) from error
    if empty:
        raise _no_rows(source)


def _no_rows(source: Source) -> DataFileError:
    return DataFileError("there are no rows in the file.", source.path)


def _too_large(source: Source) -> DataFileError:
    reason = (
        "the rows do not fit in memory; convert the file to shards with hinge.data.write_shards "
        "and hinge.data.iter_blocks, and train on those."
    )
    return DataFileError(reason, source.path)


def _whole_libsvm(source: Source, options: ReadOptions) -> Dataset:
    _check_libsvm_label(options)
    data = read_libsvm_dataset(
        source.path,
        options.n_features,
        zero_based=options.zero_based,
        multilabel=options.multilabel,
        dtype=options.value_type or np.dtype(np.float64),
        n_jobs=options.n_jobs,
        memory_limit=options.memory_limit,
    )
    return replace(data, y=None) if options.label is False else data


def _libsvm_blocks(source: Source, options: ReadOptions, block_bytes: int) -> Iterator[Dataset]:
    _check_libsvm_label(options)
    blocks = iter_libsvm(
        source.path,
        n_features=options.n_features,
        chunk_bytes=block_bytes,
        zero_based=options.zero_based,
        multilabel=options.multilabel,
        dtype=options.value_type or np.dtype(np.float64),
        n_jobs=options.n_jobs,
    )
    for block in blocks:
        yield replace(block, y=None) if options.label is False else block


def _check_libsvm_label(options: ReadOptions) -> None:
    if options.label is not None and options.label != 0:
        message = (
            f"label={options.label!r} cannot be chosen: LIBSVM text has its labels first on each "
            "line."
        )
        raise InvalidParameterError(message)


def _check_one_label(options: ReadOptions, found: str) -> None:
    if options.multilabel and found != LIBSVM:
        message = (
            f"multilabel=True is for LIBSVM text and this is {SPOKEN[found]}, which has one label "
            "for each row."
        )
        raise InvalidParameterError(message)
