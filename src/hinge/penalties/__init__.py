"""Penalties on the weights, one per file."""

from __future__ import annotations

from hinge.errors import UnsupportedError, unknown_name
from hinge.penalties.l2 import L2

__all__ = ["L2", "get_penalty"]


def get_penalty(penalty: str | L2) -> L2:
    """Return the penalty of that name, or the penalty itself.

    Parameters
    ----------
    penalty : str or L2
        ``"l2"``, or a penalty object.

    Returns
    -------
    L2
        The penalty object.

    Examples
    --------
    >>> get_penalty("l2")
    L2()
    """
    if isinstance(penalty, L2):
        return penalty
    if penalty == "l1":
        message = "penalty='l1' is not in this version of hinge; penalty='l2' is."
        raise UnsupportedError(message)
    if penalty != L2.name:
        raise unknown_name(penalty, "penalty", [L2.name])
    return L2()
