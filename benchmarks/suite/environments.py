"""One virtual environment per peer; a peer that cannot be had is recorded with the reason."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.suite.method import Peer

_RECORD = "benchmark.json"
_REASON_LENGTH = 300


@dataclass(frozen=True)
class Environment:
    """A peer's interpreter, or why there is none.

    Parameters
    ----------
    python : str or None
        Path of the interpreter.
    versions : dict of str to str
        What is installed in it.
    reason : str
        Why there is no interpreter; empty if there is one.
    """

    python: str | None
    versions: dict[str, str]
    reason: str = ""


def folder() -> Path:
    """Return where environments are: HINGE_BENCH_ENVS, or beside the benchmarks."""
    given = os.environ.get("HINGE_BENCH_ENVS")
    return Path(given) if given else Path(__file__).parents[1] / ".envs"


def find(peer: Peer) -> Environment:
    """Return the peer's environment as ``build`` left it."""
    record = folder() / peer.name / _RECORD
    if not record.exists():
        return Environment(None, {}, "not installed; run: make bench-peers")
    return Environment(**json.loads(record.read_text()))


def build(peer: Peer) -> Environment:
    """Make the peer's environment and record it, or the reason why it could not be made."""
    home = folder() / peer.name
    python = home / "bin" / "python"
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    steps = [[sys.executable, "-m", "venv", "--clear", str(home)], [*pip, *peer.requirements]]
    if peer.bare_requirements:
        steps.append([*pip, "--no-deps", "--no-build-isolation", *peer.bare_requirements])
    environment = None
    for command in steps:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            environment = Environment(None, {}, _last_error(done.stderr))
            break
    if environment is None:
        environment = Environment(str(python), _versions(python))
    home.mkdir(parents=True, exist_ok=True)
    (home / _RECORD).write_text(json.dumps(asdict(environment), indent=2))
    return environment


def _versions(python: Path) -> dict[str, str]:
    command = [str(python), "-m", "pip", "list", "--format", "json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {entry["name"]: entry["version"] for entry in json.loads(listed)}


def _last_error(output: str) -> str:
    """Return the last line that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return (errors or lines or ["no message"])[-1][:_REASON_LENGTH]
