"""The transcripts in the documentation are what the program says, numbers aside."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from hinge.cli._run import run

PAGE = Path(__file__).parents[2] / "docs" / "user_guide" / "command_line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A time may come in other units, a digest is one of a file with times in it.
VARIES = re.compile(r"[0-9a-f]{64}|[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?(?: (?:ms|s|min)\b)?")


def _transcripts() -> list[tuple[str, str]]:
    """Return the commands of the page, in order, each with what it is said to print."""
    found = []
    for block in BLOCK.findall(PAGE.read_text()):
        for part in block.split("$ ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def _words(text: str) -> list[str]:
    return VARIES.sub("#", text).split()


def _printed(command: str) -> str:
    """Run a command, hinge's in this process, and return what it prints on both streams."""
    program, *words = shlex.split(command)
    if program != "hinge":
        subprocess.run(["bash", "-c", command], check=True)
        return ""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        run(words)
    return stream.getvalue()


def test_transcripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _printed("hinge demo digits")
    monkeypatch.chdir(tmp_path / "digits")
    transcripts = _transcripts()
    assert len(transcripts) >= 20
    for command, shown in transcripts:
        printed = _printed(command)
        message = f"{command}\nprints\n{printed}\nthe page says\n{shown}"
        assert _words(printed) == _words(shown), message
