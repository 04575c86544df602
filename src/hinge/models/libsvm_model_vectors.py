"""The support vectors of a LIBSVM text model, read into the arrays that the machine keeps.

The file is gone through twice, a piece at a time. First colons and lines are counted, so that every
array is allocated once and of the right size: a coefficient takes at least two bytes and becomes
eight, a feature takes four and becomes twelve. Then the numbers are put where they belong, support
vectors in the order of the sorted labels.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from hinge.models.libsvm_model_text import MOST_FEATURES, Header
from hinge.models.text_models import LONGEST_NUMBER, decimal, refuse, shown

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_PER_VECTOR = 24  # bytes that a support vector takes without numbers, while it is read
_SPARE = 45_000_000
_PIECE = 1 << 18  # bytes that are parsed at once
_LONGEST_TOKEN = LONGEST_NUMBER + 11
_BYTES = b"0123456789+-.eE: \t\r\n"
_NEWLINE, _COLON, _SPACE = ord("\n"), ord(":"), 32
_TOKEN = re.compile(rb"[^ \t\r\n]+")
_INDEX = re.compile(rb"[0-9]{1,10}")


@dataclass
class _Place:
    """How far the second reading has come."""

    line: int = 0  # support vectors that are complete
    rank: int = 0  # tokens of the line that is being read
    last_index: int = -1  # the last feature of that line
    column: int = 0  # bytes of that line


class VectorReader:
    """The part of a file after ``SV``.

    Parameters
    ----------
    file : binary file
        The file, at the first byte of the support vectors.
    path : str
        Its name, for messages.
    header : Header
        What stands before.
    line : int
        The number of the last line read.
    """

    def __init__(self, file: BinaryIO, path: str, header: Header, line: int) -> None:
        self._file, self._path, self._header, self._first_line = file, path, header, line + 1
        self._start = file.tell()

    def read(self, order: NDArray[np.intp]) -> tuple[Floats, sp.csr_array]:
        """Return the coefficients, of shape (n_classes - 1, n_support), and the support vectors.

        Parameters
        ----------
        order : ndarray of int of shape (n_classes,)
            Positions of the classes in the file, in the order in which they are wanted.

        Returns
        -------
        coef, vectors : ndarray, csr_array
            Support vectors class by class in that order, columns as the file counts them. The
            coefficients of each are still in the columns of the file.
        """
        stored = self._count()
        self._place_of = _places(self._header.n_support, order)
        count = len(stored)
        starts = np.zeros(count + 1, dtype=np.int64)
        starts[1:][self._place_of] = stored
        del stored
        np.cumsum(starts, out=starts)
        self._starts = starts
        self._coef = np.empty((self._header.n_coefficients, count))
        self._values = np.empty(int(starts[-1]))
        self._columns = np.empty(int(starts[-1]), dtype=np.int32)
        self._file.seek(self._start)
        place = _Place()
        for piece in self._pieces():
            self._take(piece, place)
        width = int(self._columns.max(initial=0)) + 1
        shape = (count, width)
        del self._place_of
        narrow = starts.astype(np.int32) if int(starts[-1]) < 2**31 else starts
        vectors = sp.csr_array((self._values, self._columns, narrow), shape=shape)
        return self._coef, vectors

    def _count(self) -> NDArray[np.int32]:
        """Return how many features each support vector has, by counting colons."""
        header = self._header
        left = self._file.seek(0, os.SEEK_END) - self._start
        self._file.seek(self._start)
        needed = 2 * header.n_coefficients * header.n_lines  # a digit, and a space or line end
        if needed > left:
            reason = (
                f"the header asks for {header.n_lines} support vectors of {header.n_coefficients} "
                f"coefficient(s), which take at least {needed} bytes; {left} are left. The file "
                "may be cut off."
            )
            refuse(self._path, reason, self._first_line - 1)
        counts = np.zeros(header.n_lines + 1, dtype=np.int32)
        line, last = 0, b"\n"
        while piece := self._file.read(_PIECE):
            characters = np.frombuffer(piece, np.uint8)
            ends = np.flatnonzero(characters == _NEWLINE)
            colons = np.flatnonzero(characters == _COLON)
            lines = np.minimum(line + np.searchsorted(ends, colons), header.n_lines)
            np.add.at(counts, lines, 1)
            line += len(ends)
            last = piece[-1:]
            if line > header.n_lines or (line == header.n_lines and last != b"\n"):
                reason = f"more support vectors than the {header.n_lines} of the header."
                refuse(self._path, reason, self._first_line + header.n_lines)
        if last != b"\n":
            reason = "the last line does not end; the file may be cut off in a number."
            refuse(self._path, reason, self._first_line + line)
        if line < header.n_lines:
            reason = f"{line} support vectors; the header asks for {header.n_lines}."
            refuse(self._path, reason, self._first_line + line - 1)
        needed = (8 * header.n_coefficients + _PER_VECTOR) * header.n_lines + 12 * int(
            counts.sum(dtype=np.int64)
        )
        if needed > 4 * left + _SPARE:
            reason = (
                f"{header.n_lines} support vectors would take {needed} bytes, too many for the "
                f"{left} of their lines."
            )
            refuse(self._path, reason, self._first_line - 1)
        return counts[:-1]

    def _pieces(self) -> Iterator[bytes]:
        """Yield the rest of the file in pieces that end with white space."""
        rest = b""
        while piece := self._file.read(_PIECE):
            piece = rest + piece
            end = max(piece.rfind(byte) for byte in (b" ", b"\t", b"\n")) + 1
            rest = piece[end:]
            if end:
                yield piece[:end]
            # A word that is too long is complained of where it begins, as any other wrong one.
            if len(rest) > _LONGEST_TOKEN:
                yield rest[: _LONGEST_TOKEN + 1] + b" "
                return

    def _take(self, piece: bytes, place: _Place) -> None:
        """Put the numbers of a piece where they belong."""
        tokens = _Tokens(piece, place)
        numbers = self._parsed(piece, tokens, place)
        if numbers is None:
            reason, line, column = next(self._problems(piece, place))
            refuse(self._path, reason, self._first_line + line, column)
        values, indices = numbers
        is_pair, lines = tokens.is_pair, tokens.lines
        to = self._place_of[lines]
        self._coef[tokens.ranks[~is_pair], to[~is_pair]] = values[~is_pair]
        offsets = tokens.ranks[is_pair] - self._header.n_coefficients
        at = self._starts[to[is_pair]] + offsets
        self._values[at] = values[is_pair]
        self._columns[at] = indices
        if tokens.left and len(is_pair) and is_pair[-1]:
            place.last_index = int(indices[-1])
        elif tokens.n_ended:
            place.last_index = -1
        _advance(place, piece, tokens)

    def _parsed(self, piece: bytes, tokens: _Tokens, place: _Place) -> tuple[Floats, Ints] | None:
        """Return the numbers of the tokens and the indices of the pairs; None if any is wrong."""
        if piece.translate(None, _BYTES) or not self._is_regular(tokens):
            return None
        words = piece.replace(b":", b" ").split()
        try:
            numbers = np.fromiter(map(float, words), np.float64, len(words))
        except ValueError:
            return None
        # A pair is two words, a coefficient is one.
        firsts = np.arange(len(tokens.is_pair)) + np.cumsum(tokens.is_pair) - tokens.is_pair
        if len(words) != len(tokens.is_pair) + int(tokens.is_pair.sum()):
            return None
        values = numbers[firsts + tokens.is_pair]
        indices = numbers[firsts[tokens.is_pair]].astype(np.int64)
        if not np.isfinite(values).all() or max(map(len, words), default=0) > LONGEST_NUMBER:
            return None
        if not self._are_indices(indices, tokens, place):
            return None
        return values, indices

    def _is_regular(self, tokens: _Tokens) -> bool:
        """Return whether coefficients, and only they, come first, and every line has them all."""
        count = self._header.n_coefficients
        comes_first = tokens.ranks < count
        return bool(
            np.array_equal(comes_first, ~tokens.is_pair)
            and (tokens.n_colons <= 1).all()
            and (tokens.index_digits[tokens.is_pair] == tokens.index_lengths[tokens.is_pair]).all()
            and (tokens.index_lengths[tokens.is_pair] <= 10).all()
            and (tokens.index_lengths[tokens.is_pair] >= 1).all()
            and (tokens.completed >= count).all()
        )

    def _are_indices(self, indices: Ints, tokens: _Tokens, place: _Place) -> bool:
        """Return whether features are in range and in ascending order in every line."""
        lines = tokens.lines[tokens.is_pair]
        if not len(indices):
            return True
        if self._header.is_precomputed:
            offsets = tokens.ranks[tokens.is_pair]
            return bool((indices == 0).all() and (offsets == self._header.n_coefficients).all())
        before = np.concatenate(([place.last_index], indices[:-1]))
        same = np.concatenate(([lines[0] == place.line], lines[1:] == lines[:-1]))
        rising = (indices > before) | ~same
        return bool(rising.all() and int(indices.max()) < MOST_FEATURES)

    def _problems(self, piece: bytes, place: _Place) -> Iterator[tuple[str, int, int]]:
        """Yield what is wrong with a piece, in which line counted from 0, and at which column."""
        line, rank, index, column = place.line, place.rank, place.last_index, place.column
        for text in _lines_of(piece):
            for match in _TOKEN.finditer(text):
                where = line, column + match.start() + 1
                token = match.group()
                if rank < self._header.n_coefficients:
                    value = decimal(token)
                    if value is None or not math.isfinite(value):
                        wanted = self._header.n_coefficients
                        yield (
                            f"{wanted} coefficient(s) come first, finite decimal numbers; got "
                            f"{shown(token)}.",
                            *where,
                        )
                else:
                    found = self._wrong_pair(token, index, rank)
                    if found:
                        yield found, *where
                    index = int(token.partition(b":")[0])
                rank += 1
            column += len(text)
            if text.endswith(b"\n"):
                if rank < self._header.n_coefficients:
                    wanted = self._header.n_coefficients
                    reason = f"{rank} coefficient(s); every support vector has {wanted}."
                    yield reason, line, len(text.rstrip(b"\r\n")) + 1
                line, rank, index, column = line + 1, 0, -1, 0

    def _wrong_pair(self, token: bytes, last: int, rank: int) -> str | None:
        """Return what is wrong with a feature."""
        name, colon, number = token.partition(b":")
        value = decimal(number)
        if not colon or not _INDEX.fullmatch(name) or value is None or not math.isfinite(value):
            return (
                f"a feature must be index:value with a finite decimal number; got {shown(token)}."
            )
        index = int(name)
        if self._header.is_precomputed:
            if index != 0 or rank > self._header.n_coefficients:
                return f"a precomputed kernel has 0:number and nothing else; got {shown(token)}."
            return None
        if index >= MOST_FEATURES:
            return f"an index must be below {MOST_FEATURES}; got {shown(name)}."
        if index <= last:
            return f"indices must rise; {index} follows {last}."
        return None


class _Tokens:
    """Where the words of a piece are, and what they look like.

    Parameters
    ----------
    piece : bytes
        A piece that ends with white space.
    place : _Place
        Where it begins.
    """

    def __init__(self, piece: bytes, place: _Place) -> None:
        characters = np.frombuffer(piece, np.uint8)
        filled = characters > _SPACE
        edges = np.diff(filled.astype(np.int8), prepend=0)
        starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        ends = np.flatnonzero(characters == _NEWLINE)
        colons = np.concatenate(([0], np.cumsum(characters == _COLON)))
        digits = np.concatenate(([0], np.cumsum((characters >= 48) & (characters <= 57))))
        self.n_colons = colons[stops] - colons[starts]
        self.is_pair = self.n_colons > 0
        where = np.flatnonzero(characters == _COLON)
        first = np.zeros(len(starts), dtype=np.int64)
        first[self.is_pair] = where[np.searchsorted(where, starts[self.is_pair])]
        self.index_lengths = first - starts
        self.index_digits = np.where(self.is_pair, digits[first] - digits[starts], 0)
        own = np.searchsorted(ends, starts)  # lines that ended before the token
        self.lines = place.line + own
        begun = np.concatenate(([-place.rank], np.searchsorted(starts, ends)))
        self.ranks = np.arange(len(starts)) - begun[own]
        self.completed = np.diff(begun)  # tokens of each line that ends here
        self.n_ended = len(ends)
        self.left = len(starts) - int(begun[-1])  # tokens of the line that goes on
        self.rest = len(piece) - (int(ends[-1]) + 1 if len(ends) else 0)


def _advance(place: _Place, piece: bytes, tokens: _Tokens) -> None:
    """Move the place to the end of a piece."""
    place.line += tokens.n_ended
    place.rank = tokens.left
    if tokens.n_ended:
        place.column = tokens.rest
    else:
        place.column += len(piece)


def _lines_of(piece: bytes) -> list[bytes]:
    """Return the lines of a piece with their ends; the last may have none."""
    parts = piece.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + [parts[-1]]


def _places(n_support: tuple[int, ...], order: NDArray[np.intp]) -> NDArray[Any]:
    """Return where each support vector of the file goes when classes come in another order."""
    counts = np.asarray(n_support, dtype=np.int64)
    moved = np.empty(len(counts), dtype=np.int64)
    moved[order] = np.concatenate(([0], np.cumsum(counts[order])[:-1]))
    begins = np.concatenate(([0], np.cumsum(counts)[:-1]))
    total = int(counts.sum())
    places: Any = np.arange(total, dtype=np.int32 if total < 2**31 else np.int64)
    for shift, begin, count in zip(moved - begins, begins, counts, strict=True):
        places[begin : begin + count] += shift
    return np.asarray(places)
