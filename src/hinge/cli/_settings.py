"""Commands whose options are a dataclass.

A command takes many options; as parameters of one function they could be neither grouped nor
shared. Here the options of a command are the fields of a frozen dataclass, annotated as typer wants
them, and the command is a function of one instance.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

import typer

Settings = TypeVar("Settings")


class CommandFailed(Exception):  # noqa: N818 - carries the error that happened
    """Carries an exception of a command past typer.

    Parameters
    ----------
    cause : BaseException
        What was raised.
    """

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


def add_command(
    app: typer.Typer,
    name: str,
    settings: type[Settings],
    command: Callable[[Settings], int],
    **details: Any,
) -> None:
    """Register a command of an app.

    Parameters
    ----------
    app : typer.Typer
        The app.
    name : str
        What the user types.
    settings : type
        Dataclass of the options; the help page has its own first, then those of its bases.
    command : callable
        Takes an instance and returns the exit code; its docstring is the help text.
    **details
        Further arguments of ``typer.Typer.command``.
    """
    hints = get_type_hints(settings, include_extras=True)
    for hint in hints.values():
        for information in getattr(hint, "__metadata__", ()):
            # Whoever opens a file says in our words why that fails; typer would say it first.
            information.readable = False

    def entry(**values: Any) -> int:
        try:
            return command(settings(**values))
        except BaseException as error:
            # typer has its own answers to Ctrl-C and broken pipes; ours are in hinge.cli._run.
            raise CommandFailed(error) from error

    entry.__doc__ = command.__doc__
    entry.__name__ = command.__name__
    entry.__annotations__ = hints
    entry.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=hints[field.name],
            )
            for field in _fields(settings)
        ]
    )
    app.command(name, **details)(entry)


def _fields(settings: type[Any]) -> list[dataclasses.Field[Any]]:
    """Return the fields of a class, its own before those that it shares with other commands."""
    depths = {
        name: depth
        for depth, base in reversed(list(enumerate(settings.__mro__)))
        for name in vars(base).get("__annotations__", {})
    }
    return sorted(dataclasses.fields(settings), key=lambda field: depths[field.name])


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return inspect.Parameter.empty
