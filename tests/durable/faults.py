"""Calls of the operating system that fail at a chosen moment."""

import os


class Failing:
    """Stands for a function of ``os`` that fails at its n-th call, or from then on.

    Parameters
    ----------
    call : str
        Name of the function.
    number : int
        How many calls go well first.
    code : int
        The error of those that fail.
    for_ever : bool
        Whether all later calls fail, or one only.
    """

    def __init__(self, call: str, number: int, code: int, for_ever: bool) -> None:
        self.genuine = getattr(os, call)
        self.left, self.code, self.for_ever = number, code, for_ever

    def __call__(self, *arguments, **options):
        self.left -= 1
        if self.left == -1 or (self.left < 0 and self.for_ever):
            raise OSError(self.code, os.strerror(self.code))
        return self.genuine(*arguments, **options)


def error_of(action, monkeypatch, call: str, failing: Failing) -> OSError | None:
    """Return what an action raises while a function of ``os`` fails, None if it succeeds."""
    with monkeypatch.context() as patch:
        patch.setattr(os, call, failing)
        try:
            action()
        except OSError as error:
            return error
    return None
