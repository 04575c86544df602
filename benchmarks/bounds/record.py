"""What has been measured so far, kept as it comes: a run that is cut short loses nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.suite.report import new_report
from hinge.durable import atomic_write


class Record:
    """Rows of tables by name, written to JSON after every change; runs may share a file.

    Parameters
    ----------
    path : Path
        The file; what it holds already is kept, unless another machine has measured it.
    arguments : list of str
        The command line.
    anew : bool, default=False
        Forget what the file holds.
    """

    def __init__(self, path: Path, arguments: list[str], *, anew: bool = False) -> None:
        self.path = path
        report = new_report("Bounds on the change of margins", arguments)
        self.data: dict[str, Any] = {"tables": {}}
        self.data["machine"], self.data["date"] = report.machine, report.date
        if anew:
            path.unlink(missing_ok=True)
        self._join()
        commands = [*self.data.get("command", "").split("; "), report.command]
        self.data["command"] = "; ".join(dict.fromkeys(each for each in commands if each))

    def rows(self, table: str) -> dict[str, Any]:
        """Return the rows of a table by key."""
        found: dict[str, Any] = self.data["tables"].setdefault(table, {})
        return found

    def keep(self, table: str, key: str, row: dict[str, Any]) -> None:
        """Keep a row and write the file, with what others have put there meanwhile."""
        self.rows(table)[key] = row
        self._join()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(self.path) as file:
            file.write((json.dumps(self.data, indent=1) + "\n").encode())

    def _join(self) -> None:
        """Take over what the file has and this record has not."""
        if not self.path.exists():
            return
        kept = json.loads(self.path.read_text())
        if kept["machine"] != self.data["machine"]:
            return
        for table, rows in kept["tables"].items():
            for key, row in rows.items():
                self.rows(table).setdefault(key, row)
        commands = [kept.get("command", ""), self.data.get("command", "")]
        parts = [each for command in commands for each in command.split("; ")]
        self.data["command"] = "; ".join(dict.fromkeys(each for each in parts if each))
