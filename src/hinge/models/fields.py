"""Reading the fields of a description: each of its kind and in its range, and none besides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hinge.errors import ModelFileError
from hinge.models.strict_json import read_number

LARGEST_INTEGER = 2**63 - 1


class Fields:
    """The fields of one object of a description, taken out one by one.

    Parameters
    ----------
    content : object
        What the JSON has; must be an object.
    where : str
        What it is, for messages.
    """

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            message = f"{where} must be an object with named fields; got {_shown(content)}."
            raise ModelFileError(message)
        self._left = dict(content)
        self.where = where

    def has(self, name: str) -> bool:
        """Return whether a field is there and has not been taken."""
        return name in self._left

    def take(self, name: str) -> Any:
        """Return a field as it is and strike it off; it must be there."""
        if name not in self._left:
            message = f"{self.where} has no field {name!r}."
            raise ModelFileError(message)
        return self._left.pop(name)

    def fields(self, name: str) -> Fields:
        """Return a field that is an object itself."""
        return Fields(self.take(name), f"{self.where}.{name}")

    def number(self, name: str) -> float:
        """Return a float, which may be spelled nan, inf or -inf."""
        content = self.take(name)
        value = read_number(content)
        if value is None:
            raise self.wrong(name, content, "a number")
        return value

    def integer(self, name: str, least: int = 0, most: int = LARGEST_INTEGER) -> int:
        """Return a whole number in a range."""
        content = self.take(name)
        if isinstance(content, int) and not isinstance(content, bool) and least <= content <= most:
            return content
        raise self.wrong(name, content, f"a whole number from {least} to {most}")

    def integer_or_null(self, name: str, least: int = 0, most: int = LARGEST_INTEGER) -> int | None:
        """Return a whole number in a range, or None where the field is null."""
        if self.has(name) and self._left[name] is None:
            self.take(name)
            return None
        return self.integer(name, least, most)

    def flag(self, name: str) -> bool:
        """Return true or false."""
        content = self.take(name)
        if isinstance(content, bool):
            return content
        raise self.wrong(name, content, "true or false")

    def text(self, name: str, longest: int) -> str:
        """Return a string of at most this many characters."""
        content = self.take(name)
        if isinstance(content, str) and len(content) <= longest:
            return content
        raise self.wrong(name, content, f"text of at most {longest} characters")

    def choice(self, name: str, allowed: Iterable[str]) -> str:
        """Return one of some strings."""
        content = self.take(name)
        names = list(allowed)
        if isinstance(content, str) and content in names:
            return content
        raise self.wrong(name, content, f"one of {', '.join(map(repr, names))}")

    def finish(self) -> None:
        """Refuse whatever has not been taken."""
        if self._left:
            extra = ", ".join(repr(name[:50]) for name in sorted(self._left)[:5])
            message = f"{self.where} has fields that this format does not know: {extra}."
            raise ModelFileError(message)

    def wrong(self, name: str, got: Any, wanted: str) -> ModelFileError:
        """Return the error for a field that is not what it should be."""
        message = f"{self.where}.{name} must be {wanted}; got {_shown(got)}."
        return ModelFileError(message)


def _shown(content: Any) -> str:
    text = repr(content)
    return text if len(text) <= 100 else f"{text[:100]}..."
