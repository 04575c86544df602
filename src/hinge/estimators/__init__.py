"""scikit-learn estimators, one per file."""

from __future__ import annotations

import typing

from hinge.estimators._callbacks import ClassEvent
from hinge.estimators.linear_svc import LinearSVC
from hinge.later import loaded_later

if typing.TYPE_CHECKING:
    from hinge.estimators._folds import FoldEvent

__all__ = ["ClassEvent", "FoldEvent", "LinearSVC"]

# It comes with the estimators that choose C, which a fit for one C spares.
__getattr__ = loaded_later(__name__, {"FoldEvent": "hinge.estimators._folds"})


def __dir__() -> list[str]:
    return list(__all__)
