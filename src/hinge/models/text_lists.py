"""Lists of strings in a file: in the description while they are short, else in two tensors.

A header holds at most 1 MB, and a million feature names are longer than that. The tensor
``<name>.text`` then holds all of them as UTF-8, one after the other, and ``<name>.ends`` where
each of them ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import ModelFileError

MOST_INLINE = 50_000  # characters of the JSON of a list that stays in the description
_PER_STRING = 80  # bytes that Python needs for a short string and for two references to it
_PIECE = 1 << 16
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


def take_texts(
    name: str, content: Any, tensors: Tensors, count: int, budget: int = 64_000_000
) -> list[str]:
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
    budget : int, default=64_000_000
        Bytes of memory that the strings may take.

    Returns
    -------
    list of str
        The strings.
    """
    if content == _TENSORS:
        texts = _from_tensors(name, tensors, count, budget)
    elif isinstance(content, list) and all(isinstance(text, str) for text in content):
        texts = content
    else:
        message = f"{name} must be a list of strings."
        raise ModelFileError(message)
    if len(texts) != count:
        message = f"{name} has {len(texts)} entries; the rest of the file makes it {count}."
        raise ModelFileError(message)
    return texts


def _from_tensors(name: str, tensors: Tensors, count: int, budget: int) -> list[str]:
    text, ends = tensors[f"{name}.text"], tensors[f"{name}.ends"]
    if text.dtype != np.uint8 or text.ndim != 1 or ends.dtype != np.int64 or ends.ndim != 1:
        message = f"the tensors of {name} have a dtype or shape that they never have."
        raise ModelFileError(message)
    if len(ends) != count:
        message = f"{name} has {len(ends)} entries; the rest of the file makes it {count}."
        raise ModelFileError(message)
    is_padding = text.tobytes() == b"\n" if len(text) == 1 else False
    last = 0 if is_padding and int(ends[-1]) == 0 else len(text)
    if ends[0] < 0 or np.any(ends[1:] < ends[:-1]) or int(ends[-1]) != last:
        message = f"the entries of {name} do not follow one another."
        raise ModelFileError(message)
    widest = 1 if text.max() < 128 else 4  # bytes that a character may take in memory
    if _PER_STRING * count + widest * len(text) > budget:
        message = (
            f"{name} has {count} entries in {len(text)} bytes: in memory they would be too large "
            "for the rest of the file."
        )
        raise ModelFileError(message)
    return _decoded(name, text.data, ends)


def _decoded(name: str, buffer: memoryview, ends: NDArray[np.int64]) -> list[str]:
    """Return the strings; a piece at a time, since Python's own numbers are large."""
    texts: list[str] = []
    start = 0
    try:
        for first in range(0, len(ends), _PIECE):
            for stop in ends[first : first + _PIECE].tolist():
                texts.append(str(buffer[start:stop], "utf-8", "surrogatepass"))
                start = stop
    except UnicodeDecodeError:
        message = f"an entry of {name} is not UTF-8."
        raise ModelFileError(message) from None
    return texts
