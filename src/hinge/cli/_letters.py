"""The command lines of LIBSVM and LIBLINEAR: options of one letter, then files.

Everything that such a command line can say is either done, harmless and passed over, or refused
with a sentence. Nothing is taken for something else: the same letters mean different things to the
two programs, so each has a table of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from hinge.cli._errors import UsageError
from hinge.cli._labels import plain


@dataclass(frozen=True)
class Letters:
    """A command line that has been taken apart.

    Parameters
    ----------
    values : dict
        What followed each letter; the last one where a letter is repeated.
    weights : dict
        Weight of each label, from ``-w1 2.5``, both as text.
    files : tuple of str
        The words after the options.
    """

    values: dict[str, str] = field(default_factory=dict)
    weights: dict[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def number(self, letter: str, default: float) -> float:
        """Return the finite number that follows a letter.

        Parameters
        ----------
        letter : str
            Without its hyphen.
        default : float
            Returned where the letter does not occur.

        Returns
        -------
        float
            The number.
        """
        return self._read(letter, default, float, "a number")

    def whole(self, letter: str, default: int) -> int:
        """Return the whole number that follows a letter.

        Parameters
        ----------
        letter : str
            Without its hyphen.
        default : int
            Returned where the letter does not occur.

        Returns
        -------
        int
            The number.
        """
        return int(self._read(letter, default, int, "a whole number"))

    def _read(self, letter: str, default: float, kind: Callable[[str], float], name: str) -> float:
        text = self.values.get(letter)
        if text is None:
            return default
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            message = f"-{letter} takes {name}; got {plain(text)!r}."
            raise UsageError(message)
        return number


def parse(words: list[str], with_value: str, alone: str = "") -> Letters:
    """Take a command line apart as LIBSVM does: options first, then files.

    Parameters
    ----------
    words : list of str
        The arguments.
    with_value : str
        The letters that a value follows.
    alone : str, default=""
        The letters that stand alone.

    Returns
    -------
    Letters
        Options and files.
    """
    values: dict[str, str] = {}
    weights: dict[str, str] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        word = rest.pop(0)
        letter, label = word[1:2], word[2:]
        takes_weight = letter == "w" and letter in with_value
        if letter in alone and not label:
            values[letter] = ""
            continue
        if letter not in with_value or not letter or bool(label) != takes_weight:
            raise _unknown(word, with_value, alone)
        if not rest:
            message = f"{plain(word)} must be followed by a value."
            raise UsageError(message)
        if takes_weight:
            weights[label] = rest.pop(0)
        else:
            values[letter] = rest.pop(0)
    return Letters(values, weights, tuple(rest))


def _unknown(word: str, with_value: str, alone: str) -> UsageError:
    letters = sorted(with_value + alone, key=lambda letter: (letter.lower(), letter))
    known = ", ".join("-wLABEL" if letter == "w" else f"-{letter}" for letter in letters)
    return UsageError(f"there is no option {plain(word)!r}; the options are {known}.")
