"""Losses of a margin: value, subgradient and conjugate, one loss per file."""

from __future__ import annotations

from collections.abc import Callable

from hinge.errors import unknown_name
from hinge.losses.base import Kink, Loss
from hinge.losses.hinge import Hinge
from hinge.losses.huber import Huber
from hinge.losses.intercept import largest_intercept, optimal_intercepts, smallest_intercept
from hinge.losses.squared_hinge import SquaredHinge

__all__ = [
    "Hinge",
    "Huber",
    "Kink",
    "Loss",
    "SquaredHinge",
    "get_loss",
    "largest_intercept",
    "loss_names",
    "optimal_intercepts",
    "smallest_intercept",
]

_BY_NAME: dict[str, Callable[[], Loss]] = {
    Hinge.name: Hinge,
    SquaredHinge.name: SquaredHinge,
    Huber.name: Huber,
}


def loss_names() -> tuple[str, ...]:
    """Return the names that ``loss=`` takes."""
    return tuple(_BY_NAME)


def get_loss(loss: str | Loss) -> Loss:
    """Return the loss of that name, or the loss itself.

    Parameters
    ----------
    loss : str or Loss
        ``"hinge"``, ``"squared_hinge"``, ``"huber"``, or a configured loss object.

    Returns
    -------
    Loss
        The loss object.

    Examples
    --------
    >>> get_loss("huber")
    Huber(h=0.5)
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in _BY_NAME:
        raise unknown_name(loss, "loss", _BY_NAME)
    return _BY_NAME[loss]()
