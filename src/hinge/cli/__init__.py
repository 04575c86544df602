"""The command line: ``hinge train data.svm``, one command per file.

typer and rich come with the extra ``cli``; without them every program here says so in one
sentence. Importing :mod:`hinge` loads neither.
"""

from __future__ import annotations

import sys

__all__ = ["main", "main_liblinear_train", "main_svm_predict", "main_svm_train"]

_MISSING = (
    "hinge: error: the command line needs the packages typer and rich, which are not installed; "
    "install them with: pip install 'hinge[cli]'\n"
)
_STOPPED = "hinge: error: stopped by Ctrl-C.\n"


def main() -> None:
    """Run ``hinge`` with the arguments of the process, and exit."""
    _exit_with(sys.argv[1:])


def main_svm_train() -> None:
    """Run ``hinge svm-train``, under a name of its own for scripts that want one word."""
    _exit_with(["svm-train", *sys.argv[1:]])


def main_liblinear_train() -> None:
    """Run ``hinge liblinear-train``, under a name of its own for scripts that want one word."""
    _exit_with(["liblinear-train", *sys.argv[1:]])


def main_svm_predict() -> None:
    """Run ``hinge svm-predict``, under a name of its own for scripts that want one word."""
    _exit_with(["svm-predict", *sys.argv[1:]])


def _exit_with(arguments: list[str]) -> None:
    try:
        sys.exit(_exit_code(arguments))
    except KeyboardInterrupt:  # while modules were loaded; a command has its own answer
        sys.stderr.write(_STOPPED)
        sys.exit(130)


def _exit_code(arguments: list[str]) -> int:
    try:
        import rich  # noqa: F401, PLC0415 - optional, like typer
        import typer  # noqa: F401, PLC0415
    except ImportError:
        sys.stderr.write(_MISSING)
        return 1
    from hinge.cli._run import prepare_streams, run  # noqa: PLC0415 - needs typer and rich

    prepare_streams()
    return run(arguments)
