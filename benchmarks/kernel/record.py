"""The rows of a benchmark in a JSON file, written after each of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]

_MISSING: Row = {"outcome": "missing"}
# What may have had a cause that is gone: a library that was not installed, a fault that was mended.
_TRIED_AGAIN = ("missing", "failed", "not run")


class Record:
    """Rows by name. What is stored is not measured again, unless it is to be renewed.

    Parameters
    ----------
    path : Path
        The file.
    fresh : bool, default=False
        Whether to begin anew.
    renewed : callable or None, default=None
        Tells from a name whether a stored row is measured again; it stays until the new one is
        there.
    """

    def __init__(
        self, path: Path, fresh: bool = False, renewed: Callable[[str], bool] | None = None
    ) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        if path.exists() and not fresh:
            self.rows = json.loads(path.read_text())
        self._due = {name for name in self.rows if renewed is not None and renewed(name)}

    def get(self, name: str, measure: Callable[[], Row]) -> Row:
        """Return a row, measured now if it is not there, has failed, or is to be renewed."""
        if name in self._due or self.rows.get(name, _MISSING).get("outcome") in _TRIED_AGAIN:
            self.rows[name] = measure()
            self._due.discard(name)
            self._save()
        return self.rows[name]

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.rows, indent=1) + "\n")
        beside.replace(self.path)
