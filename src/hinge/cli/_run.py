"""One run of the program: parse, call the command, turn whatever happens into an exit code."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Any

import typer

from hinge.cli._app import app
from hinge.cli._console import Output, write_json
from hinge.cli._errors import Exit, UsageError, error_data, sentence
from hinge.cli._settings import CommandFailed
from hinge.errors import InvalidParameterError

PROGRAM = "hinge"

# typer brings its own copy of click or uses the installed one, as it pleases from one version to
# the next; the base of what its parser raises is found through a class that it always exports.
_ParserError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code; never raises, never prints a traceback.

    Parameters
    ----------
    arguments : list of str
        What follows the program's name. ``--debug`` may stand anywhere before ``--``.

    Returns
    -------
    int
        One of ``Exit``.
    """
    arguments, debug = _without_debug(arguments)
    wants_json = "--json" in arguments
    try:
        code = _call(arguments)
        sys.stdout.flush()
    except BaseException as error:  # whatever it is, the user gets a sentence
        cause = error.cause if isinstance(error, CommandFailed) else error
        code = _report(cause, wants_json, debug)
    return int(code)


def prepare_streams() -> None:
    """Make both streams take any text, also where they are closed or of a narrow encoding."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # how Python says that it was closed before the program began
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115 - until the exit
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    """Take ``--debug`` out, wherever the user put it."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    kept = [word for word in arguments[:end] if word != "--debug"]
    return kept + arguments[end:], len(kept) < end


def _call(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    code = command.main(args=arguments, prog_name=PROGRAM, standalone_mode=False)
    return Exit.SOLVED if code is None else int(code)


def _report(error: BaseException, wants_json: bool, debug: bool) -> int:
    """Tell the user what happened; return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else Exit.FAILED
    if isinstance(error, BrokenPipeError):
        _abandon_stdout()
        return Exit.BROKEN_PIPE
    if debug:
        sys.stderr.write("".join(traceback.format_exception(error)))
    code, text = _judged(error)
    if not text:  # no command was given: the help page has been shown
        return code
    if wants_json:
        data = error_data(error, code)
        data["error"]["message"] = text  # type: ignore[index]
        _write_json_if_possible(data)
    Output().error(text)
    return code


def _judged(error: BaseException) -> tuple[Exit, str]:
    """Return the exit code and the sentence of an exception."""
    if isinstance(error, KeyboardInterrupt):
        return Exit.INTERRUPTED, sentence(error)
    if isinstance(error, UsageError | InvalidParameterError):
        return Exit.USAGE, sentence(error)
    if isinstance(error, _ParserError):
        return Exit.USAGE, _parser_sentence(error)
    return Exit.FAILED, sentence(error)


def _parser_sentence(error: Any) -> str:
    message = " ".join(error.format_message().split())
    if not message:
        return ""
    command = PROGRAM if error.ctx is None else error.ctx.command_path
    if not message.endswith((".", "?")):
        message += "."
    return f"{message[:1].lower()}{message[1:]} Try '{command} --help'."


def _write_json_if_possible(data: dict[str, object]) -> None:
    try:
        write_json(data)
        sys.stdout.flush()
    except OSError:
        _abandon_stdout()  # the error may be that stdout cannot be written


def _abandon_stdout() -> None:
    """Let what is still buffered go nowhere, so that Python does not complain at its exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 - stays open until the exit
