"""scikit-learn estimators, one per file."""

from __future__ import annotations

from hinge.estimators._callbacks import ClassEvent
from hinge.estimators._folds import FoldEvent
from hinge.estimators.linear_svc import LinearSVC

__all__ = ["ClassEvent", "FoldEvent", "LinearSVC"]
