"""Every command explains itself, and what the help page promises is there."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import typer
from tests.cli.running import Shell

from hinge.cli._app import app

COMMANDS = [
    "train",
    "path",
    "predict",
    "evaluate",
    "inspect",
    "verify",
    "accelerate",
    "convert",
    "import-model",
    "export",
    "demo",
    "svm-train",
    "liblinear-train",
    "svm-predict",
]


def test_the_commands_in_order() -> None:
    assert list(typer.main.get_command(app).commands) == COMMANDS


def test_no_arguments_is_a_question(shell: Shell) -> None:
    bare, asked = shell(), shell("--help")
    assert asked.code == 0
    assert all(re.search(rf"\b{name}\b", asked.out) for name in COMMANDS)
    assert "Exit codes: 0 solved, 1 failed, 2 wrong command line, 3 finished but not" in asked.out
    assert (bare.code, bare.out.split(), bare.err) == (2, asked.out.split(), "")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(shell: Shell, name: str) -> None:
    run = shell(name, "--help")
    assert (run.code, run.err) == (0, "")
    assert run.out.lstrip().startswith(f"Usage: hinge {name}")
    command = typer.main.get_command(app).commands[name]
    assert command.help
    assert [parameter.name for parameter in command.params if not parameter.help] == []


def test_the_version(shell: Shell) -> None:
    run = shell("--version")
    assert (run.code, run.out) == (0, f"hinge {version('hinge')}\n")


def test_help_has_no_colours_where_there_is_no_terminal(shell: Shell) -> None:
    assert "\x1b" not in shell("--help").out


def test_the_page_of_the_command_line_names_every_command() -> None:
    page = Path(__file__).parents[2] / "docs" / "user_guide" / "command_line.md"
    text = page.read_text()
    assert [name for name in COMMANDS if f"`hinge {name}" not in text] == []
