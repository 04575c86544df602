"""Every public object has a whole numpydoc docstring."""

from __future__ import annotations

import inspect
from enum import EnumType

import numpydoc.validate
import pytest

import hinge

# What a docstring must have. Left out: rules of layout that ruff and the formatter settle, and
# sections that are welcome where they help (See Also, Examples, an extended summary).
REQUIRED = {
    "GL03": "no double blank lines",
    "GL06": "only known sections",
    "GL07": "sections in the standard order",
    "GL08": "there is a docstring",
    "PR01": "every parameter is described",
    "PR02": "no description of a parameter that does not exist",
    "PR03": "parameters in the order of the signature",
    "PR04": "every parameter has a type",
    "PR07": "every parameter has a description",
    "PR10": "a space before the colon of a parameter",
    "RT01": "what is returned is described",
    "RT03": "the description of what is returned is not empty",
    "SS01": "there is a summary",
    "SS03": "the summary ends with a full stop",
    "SS06": "the summary is one line",
    "YD01": "what is yielded is described",
}


def _public_objects() -> list[str]:
    """Return the dotted names of promised objects and of the public methods written here."""
    names = []
    for name in hinge.__all__:
        value = getattr(hinge, name)
        if name.startswith("_") or inspect.ismodule(value):
            continue
        names.append(f"hinge.{name}")
        if inspect.isclass(value):
            names += [f"hinge.{name}.{method}" for method in _own_methods(value)]
    return names


def _own_methods(cls: type) -> list[str]:
    """Return the public methods of a class that are defined in this package."""
    return [
        name
        for name, value in inspect.getmembers(cls, inspect.isroutine)
        if not name.startswith("_")
        and (getattr(value, "__module__", None) or "").startswith("hinge.")
    ]


@pytest.mark.parametrize("name", _public_objects())
def test_docstring_is_whole(name: str) -> None:
    errors = numpydoc.validate.validate(name)["errors"]
    required = set(REQUIRED)
    if isinstance(getattr(hinge, name.split(".")[1]), EnumType):
        # The signature that an enumeration shows is that of Enum's own functional form.
        required -= {"PR01"}
    wrong = [f"{code}: {text}" for code, text in errors if code in required]
    assert wrong == []


def test_something_is_public() -> None:
    assert len(_public_objects()) >= 5
