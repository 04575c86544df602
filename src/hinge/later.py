"""Names of a package that are loaded when they are first asked for, to spare its importers time."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def loaded_later(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    Parameters
    ----------
    package : str
        Its name.
    modules : mapping of str to str
        Where each name is: a module that has it, or that it is.
    """

    def load(name: str) -> Any:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        module = importlib.import_module(modules[name])
        value = module if modules[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return load
