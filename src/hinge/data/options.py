"""What a caller asks of a reader, and how much memory a file may claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hinge.errors import DataFileError, InvalidParameterError
from hinge.threads import thread_count

# A file may claim this much however small it is, and beyond that so many times its own size.
SMALL_CLAIM = 64 << 20
EXPANSION = 1000

BLOCK_BYTES = 32 << 20
UNLIMITED = 1 << 62
# What a line of text may take where a file is read in blocks: a hostile one must end somewhere.
LONGEST_LINE = 128 << 20


@dataclass(frozen=True)
class ReadOptions:
    """How a data file is to be read; see :func:`hinge.data.read` for what each means.

    Parameters
    ----------
    label : str, int, False or None, default=None
        The column of the labels; False where there are none.
    n_features : int or None, default=None
        How many features there must be.
    dtype : dtype or None, default=None
        float32 or float64; None keeps what the file has.
    zero_based : bool or "auto", default="auto"
        Whether indices of LIBSVM text count from zero.
    header : bool or None, default=None
        Whether the first line of a CSV file names the columns; None looks.
    n_jobs : int or None, default=None
        How many threads may read.
    memory_limit : int or None, default=None
        How many bytes the rows may take; None bounds them by the size of the file.
    multilabel : bool, default=False
        Whether rows of LIBSVM text may have several labels, or none.
    """

    label: str | int | Literal[False] | None = None
    n_features: int | None = None
    dtype: npt.DTypeLike | None = None
    zero_based: bool | Literal["auto"] = "auto"
    header: bool | None = None
    n_jobs: int | None = None
    memory_limit: int | None = None
    multilabel: bool = False

    def __post_init__(self) -> None:
        if self.label is True or not isinstance(self.label, str | int | None):
            message = (
                "label must be the name of a column, its number counted from 0, False for a file "
                f"without labels, or None; got {self.label!r}."
            )
            raise InvalidParameterError(message)
        for name in ("n_features", "memory_limit"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not _is_positive_integer(value)):
                message = f"{name} must be an integer of at least 1, or None; got {value!r}."
                raise InvalidParameterError(message)
        if self.header is not None and not isinstance(self.header, bool):
            message = f"header must be True, False or None; got {self.header!r}."
            raise InvalidParameterError(message)
        check_zero_based(self.zero_based)
        if not isinstance(self.multilabel, bool):
            message = f"multilabel must be True or False; got {self.multilabel!r}."
            raise InvalidParameterError(message)
        thread_count(self.n_jobs)
        value_type(self.dtype)

    @property
    def value_type(self) -> np.dtype[Any] | None:
        """The type that values are asked in, or None for the file's own."""
        return value_type(self.dtype)


def value_type(dtype: npt.DTypeLike | None) -> np.dtype[Any] | None:
    """Return float32 or float64 as a NumPy type, None for None, or refuse.

    Parameters
    ----------
    dtype : dtype or None
        What the caller asked for.
    """
    if dtype is None:
        return None
    try:
        asked = np.dtype(dtype)
    except TypeError:
        asked = np.dtype(object)
    if asked not in (np.dtype(np.float32), np.dtype(np.float64)):
        message = f"dtype must be float32, float64 or None; got {dtype!r}."
        raise InvalidParameterError(message)
    return asked


def check_zero_based(zero_based: object) -> None:
    """Refuse what is no base of indices.

    Parameters
    ----------
    zero_based : object
        What the caller asked for.
    """
    if not isinstance(zero_based, bool) and zero_based != "auto":
        message = f'zero_based must be True, False or "auto"; got {zero_based!r}.'
        raise InvalidParameterError(message)


def check_claim(
    claimed: int,
    what: str,
    path: str,
    file_bytes: int,
    limit: int | None,
    *,
    is_total: bool = True,
) -> None:
    """Refuse a file that asks for more memory than its size makes plausible.

    Parameters
    ----------
    claimed : int
        How many bytes its contents would take.
    what : str
        What takes them, for the message.
    path : str
        The file.
    file_bytes : int
        Its size.
    limit : int or None
        The caller's limit; None for the default, which follows the size of the file.
    is_total : bool, default=True
        Whether that is all that they would take, and not what was counted until now.
    """
    allowed = max(SMALL_CLAIM, EXPANSION * file_bytes) if limit is None else limit
    if claimed <= allowed:
        return
    would = f"would take {claimed:,} bytes, more than the {allowed:,} that"
    remedy = f"memory_limit={claimed}"
    if not is_total:
        would, remedy = f"would take more than the {allowed:,} bytes that", "a larger memory_limit"
    reason = (
        f"{what} {would} a file of {file_bytes:,} bytes may claim; if that is right, pass "
        f"{remedy}, or read it block by block with hinge.data.iter_blocks."
    )
    raise DataFileError(reason, path)


def _is_positive_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and int(value) >= 1
