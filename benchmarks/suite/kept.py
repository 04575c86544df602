"""Measurements that are kept as they come, so that a benchmark that is cut short goes on later."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Kept:
    """A JSON file of measurements by name.

    Parameters
    ----------
    path : Path
        The file; what it holds already is not measured again.
    fresh : bool
        Whether to begin anew.
    """

    def __init__(self, path: Path, fresh: bool) -> None:
        self._path = path
        self._found: dict[str, Any] = {}
        if path.exists() and not fresh:
            self._found = json.loads(path.read_text())

    def get(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return a measurement, made now if it was not made before."""
        if name not in self._found:
            self._found[name] = measure()
            self._path.parent.mkdir(parents=True, exist_ok=True)
            beside = self._path.with_suffix(".new")
            beside.write_text(json.dumps(self._found, indent=1) + "\n")
            beside.replace(self._path)
        return self._found[name]
