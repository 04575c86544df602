"""Lists of strings in a file: in the description while they are short, else in two tensors.

A header holds at most 1 MB, and a million feature names are longer than that. The tensor
``<name>.text`` then holds all of them as UTF-8, one after the other, and ``<name>.ends`` where
each of them ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import ModelFileError
from hinge.models.budget import Budget

MOST_INLINE = 50_000  # characters of the JSON of a list that stays in the description
_PER_STRING = 80  # bytes that Python needs for a short string and for two references to it
_PER_WORD = 300  # the same, with its place in a dictionary
_PIECE = 1 << 12  # entries of a list that become Python's own numbers at a time
_TENSORS = "tensors"

Tensors = dict[str, NDArray[Any]]


def put_texts(name: str, texts: list[str], tensors: Tensors) -> Any:
    """Return what the description says of a list of strings; long lists become tensors.

    Parameters
    ----------
    name : str
        What the list is called.
    texts : list of str
        Any strings, lone surrogates included.
    tensors : dict of str to ndarray
        Where tensors are added.
    """
    if sum(6 * len(text) + 3 for text in texts) <= MOST_INLINE:
        return texts
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    joined = b"".join(encoded)
    if not joined:
        joined = b"\n"  # a tensor cannot be empty; what follows the last end is not read
    tensors[f"{name}.text"] = np.frombuffer(joined, dtype=np.uint8)
    tensors[f"{name}.ends"] = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return _TENSORS


def tensors_of_texts(name: str, content: Any) -> set[str]:
    """Return the names of the tensors that a list needs, by what the description says of it.

    Parameters
    ----------
    name : str
        What the list is called.
    content : object
        What the description says.
    """
    return {f"{name}.text", f"{name}.ends"} if content == _TENSORS else set()


def take_texts(name: str, content: Any, tensors: Tensors, count: int, budget: Budget) -> list[str]:
    """Return a list of strings of which there must be so many.

    Parameters
    ----------
    name : str
        What the list is called.
    content : object
        What the description says of it.
    tensors : dict of str to ndarray
        The tensors of the file.
    count : int
        How many strings there must be.
    budget : Budget
        Memory that the strings may take.

    Returns
    -------
    list of str
        The strings.
    """
    texts = each_text(name, content, tensors, count)
    if content == _TENSORS:
        text = tensors[f"{name}.text"]
        widest = 1 if text.max() < 128 else 4  # bytes that a character may take in memory
        size = _PER_STRING * count + widest * len(text)
        budget.spend(size, f"{name} has {count} entries in {len(text)} bytes")
    return list(texts)


def each_text(name: str, content: Any, tensors: Tensors, count: int) -> Iterator[str]:
    """Return an iterator over strings of which there must be so many; it keeps none of them.

    Parameters
    ----------
    name : str
        What the list is called.
    content : object
        What the description says of it.
    tensors : dict of str to ndarray
        The tensors of the file.
    count : int
        How many strings there must be.

    Returns
    -------
    iterator of str
        The strings, decoded one by one.
    """
    if content == _TENSORS:
        return _from_tensors(name, tensors, count)
    if not isinstance(content, list) or not all(isinstance(text, str) for text in content):
        message = f"{name} must be a list of strings."
        raise ModelFileError(message)
    _check_count(name, len(content), count)
    return iter(content)


def each_row(table: NDArray[np.float64]) -> Iterator[list[float]]:
    """Yield the rows of a table as lists, made a piece at a time.

    Parameters
    ----------
    table : ndarray of shape (n_rows, n_columns)
        The numbers.
    """
    for first in range(0, len(table), _PIECE):
        yield from table[first : first + _PIECE].tolist()


class SharedWords:
    """Texts that many entries have in common, each kept once and paid for.

    Parameters
    ----------
    budget : Budget
        Memory that they may take.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._words: dict[str, str] = {}
        self._lines: dict[str, tuple[str, ...]] = {"": ()}

    def word(self, text: str) -> str:
        """Return a text, the same object as before if it has been seen."""
        if text not in self._words:
            self._pay(text, 1)
            self._words[text] = text
        return self._words[text]

    def lines(self, text: str) -> tuple[str, ...]:
        """Return the lines of a text, none if it is empty."""
        if text not in self._lines:
            self._pay(text, text.count("\n") + 1)
            self._lines[text] = tuple(text.split("\n"))
        return self._lines[text]

    def _pay(self, text: str, count: int) -> None:
        size = _PER_WORD * count + 2 * 4 * len(text)  # of up to 4 bytes, whole and in lines
        self._budget.spend(size, "the problems have many solvers, or long notes")


def _check_count(name: str, found: int, count: int) -> None:
    if found != count:
        message = f"{name} has {found} entries; the rest of the file makes it {count}."
        raise ModelFileError(message)


def _from_tensors(name: str, tensors: Tensors, count: int) -> Iterator[str]:
    text, ends = tensors[f"{name}.text"], tensors[f"{name}.ends"]
    if text.dtype != np.uint8 or text.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
        message = f"the tensors of {name} have a dtype or shape that they never have."
        raise ModelFileError(message)
    _check_count(name, len(ends), count)
    is_padding = text.tobytes() == b"\n" if len(text) == 1 else False
    last = 0 if is_padding and int(ends[-1]) == 0 else len(text)
    if ends[0] < 0 or np.any(ends[1:] < ends[:-1]) or int(ends[-1]) != last:
        message = f"the entries of {name} do not follow one another."
        raise ModelFileError(message)
    return _decoded(name, text.data, ends)


def _decoded(name: str, buffer: memoryview, ends: NDArray[np.int64]) -> Iterator[str]:
    """Yield the strings; the ends a piece at a time, since Python's own numbers are large."""
    start = 0
    try:
        for first in range(0, len(ends), _PIECE):
            for stop in ends[first : first + _PIECE].tolist():
                yield str(buffer[start:stop], "utf-8", "surrogatepass")
                start = stop
    except UnicodeDecodeError:
        message = f"an entry of {name} is not UTF-8."
        raise ModelFileError(message) from None
