"""A benchmark's record as JSON, and the heading that every table carries."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.suite.record import Run

OURS = "hinge dual-coordinate"


@dataclass
class Report:
    """Everything that one benchmark measured.

    Parameters
    ----------
    title, command, machine, date : str
        What stands above the tables.
    tasks : list of dict
        Each task with how closely its optimum is known.
    methods : list of dict
        Each method with its version, arithmetic and note, or the reason why it is missing.
    runs : list of Run
        Every run.
    remarks : list of str
        What a reader should know of the conditions.
    ours : str
        The method of hinge that ratios are of.
    """

    title: str
    command: str
    machine: str
    date: str
    tasks: list[dict[str, Any]] = field(default_factory=list)
    methods: list[dict[str, Any]] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    ours: str = OURS

    def of(self, task: str, method: str) -> list[Run]:
        """Return the runs of a method on a task."""
        return [run for run in self.runs if run.task == task and run.method == method]

    def updated_by(self, newer: Report) -> Report:
        """Return this record under the date and machine of a newer one, with both commands."""
        commands = [*self.command.split("; "), newer.command]
        command = "; ".join(dict.fromkeys(commands))
        return replace(self, command=command, machine=newer.machine, date=newer.date)

    def save(self, path: Path) -> None:
        """Write the record as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Report:
        """Read what ``save`` wrote."""
        fields = json.loads(path.read_text())
        return Report(**fields | {"runs": [Run(**run) for run in fields["runs"]]})


def new_report(title: str, arguments: list[str]) -> Report:
    """Return an empty report of today, on this machine."""
    shown = [word for word in arguments if not Path(word).is_absolute() and word != "--output"]
    command = shlex.join(["python", "-m", "benchmarks", *shown])
    return Report(title, command, machine_class(), datetime.date.today().isoformat())


def machine_class() -> str:
    """Return what kind of machine this is: processor, cores in use, system."""
    processor = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
        processor = names[0] if names else processor
    cores = os.cpu_count()
    return f"{processor}, {cores} cores (one used), {platform.system()} {platform.machine()}"
