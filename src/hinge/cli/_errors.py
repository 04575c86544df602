"""Exit codes, and the one sentence that stands for each exception."""

from __future__ import annotations

import enum
import os

from hinge.cli._labels import plain
from hinge.cli._words import in_options
from hinge.errors import DataFileError, HingeError, ModelFileError


class Exit(enum.IntEnum):
    """What the exit code of a command means."""

    SOLVED = 0
    """Done; what was trained or verified is certified."""
    FAILED = 1
    """Nothing came of it; a sentence on stderr says why."""
    USAGE = 2
    """The command line is wrong."""
    NOT_CERTIFIED = 3
    """Done, but the tolerance was not reached, or nothing could be proven."""
    INTERRUPTED = 130
    """Ctrl-C; a fit has saved its best model first."""
    BROKEN_PIPE = 141
    """Whoever read stdout has gone."""


class CommandError(HingeError):
    """A command cannot do what it was asked to; the message is the sentence."""


class UsageError(CommandError):
    """The command line is wrong in a way that the parser of options cannot see."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C ended a command; the message says what became of its output."""


def sentence(error: BaseException) -> str:
    """Return what to tell the user about an exception, without a traceback.

    Parameters
    ----------
    error : BaseException
        Any exception.

    Returns
    -------
    str
        One sentence, with the remedy where there is one.
    """
    if isinstance(error, DataFileError):
        return plain(_place(error) + in_options(error.reason, error.path))
    if isinstance(error, CommandError | ModelFileError):
        return plain(str(error))  # in our words already, or without a word on parameters
    if isinstance(error, HingeError):
        return plain(in_options(str(error)))
    if isinstance(error, OSError):
        return _file_sentence(error)
    if isinstance(error, KeyboardInterrupt):
        return str(error) or "stopped by Ctrl-C."
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this file; hinge convert turns it into shards, which "
            "are trained from without being loaded."
        )
    kind = type(error).__name__
    return (
        f"something went wrong inside hinge that should not ({kind}: {plain(str(error))}); "
        "please report it with the traceback that --debug shows."
    )


def _place(error: DataFileError) -> str:
    """Return where in which file an error is, as it stands before the reason."""
    return str(error).removesuffix(error.reason)


def error_data(error: BaseException, code: Exit) -> dict[str, object]:
    """Return an exception as the JSON object of a failed command.

    Parameters
    ----------
    error : BaseException
        Any exception.
    code : Exit
        The exit code.

    Returns
    -------
    dict
        ``error`` with the sentence, its kind, and the place in a file where there is one.
    """
    details: dict[str, object] = {"kind": type(error).__name__, "message": sentence(error)}
    if isinstance(error, DataFileError):
        details |= {"path": error.path, "line": error.line, "column": error.column}
    elif isinstance(error, OSError):
        details["path"] = None if error.filename is None else os.fsdecode(error.filename)
    return {"error": details, "exit_code": int(code)}


def _file_sentence(error: OSError) -> str:
    reason = error.strerror or str(error)
    if error.filename is None:
        return f"{plain(reason)}."
    path = plain(os.fsdecode(error.filename))
    remedies = {
        FileNotFoundError: "there is no such file; check the spelling and the folder.",
        PermissionError: "permission denied; check who may read and write it.",
        IsADirectoryError: "this is a folder, and a file is needed.",
        NotADirectoryError: "part of this path is a file, not a folder.",
    }
    for kind, remedy in remedies.items():
        if isinstance(error, kind):
            return f"{path}: {remedy}"
    return f"{path}: {plain(reason)}."
