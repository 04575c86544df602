"""Proven labels for ``hinge predict``: from a file with stages, or a machine that gets them."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

from hinge.anytime import AnytimePredictor
from hinge.cli._errors import CommandError, UsageError
from hinge.cli._labels import plain
from hinge.estimators.accelerate import accelerate
from hinge.estimators.svc import SVC

if TYPE_CHECKING:
    from hinge.cli.predict import PredictSettings

PROVEN = "proven"


class Proofs:
    """Labels that are proven before their evaluation is complete, within a budget.

    Parameters
    ----------
    machine : SVC or AnytimePredictor
        A machine gets its stages when it sees the first rows, which they are chosen on.
    seconds : float or None
        Time for all rows, from the first one on.
    max_terms : int or None
        Kernel values that a row may cost.
    """

    def __init__(
        self, machine: SVC | AnytimePredictor, seconds: float | None, max_terms: int | None
    ) -> None:
        self._machine = machine
        self._seconds, self._max_terms = seconds, max_terms
        self._end = math.inf
        self.proven = 0

    def of(self, X: Any) -> tuple[Any, Any]:
        """Return the labels of some rows, and which of them are proven."""
        if self._seconds is not None and self._end == math.inf:
            self._end = time.monotonic() + self._seconds
        if not isinstance(self._machine, AnytimePredictor):
            self._machine = accelerate(self._machine, queries=X)
        left = None
        if self._seconds is not None:
            left = max(0.0, self._end - time.monotonic())
        found = self._machine.predict_certified(X, left, self._max_terms)
        self.proven += int(found.decided.sum())
        return found.labels, found.decided


def has_budget(settings: PredictSettings) -> bool:
    """Return whether some labels may be guesses.

    Parameters
    ----------
    settings : PredictSettings
        What the user asked for.
    """
    return settings.seconds is not None or settings.max_terms is not None


def proofs_for(
    settings: PredictSettings, model: Any, stages: AnytimePredictor | None
) -> Proofs | None:
    """Return what proves labels, if the user or the file wants it; refuse what cannot be.

    Parameters
    ----------
    settings : PredictSettings
        What the user asked for.
    model : LinearSVC, SVC or SimpleNamespace
        The model.
    stages : AnytimePredictor or None
        What the file has.
    """
    is_asked = settings.anytime or has_budget(settings)
    in_full = "--scores" if settings.scores else "--probabilities" if settings.probabilities else ""
    if is_asked and in_full:
        option = "--anytime" if settings.anytime else "a budget"
        message = f"{in_full} evaluates every row in full, so {option} cannot help; leave one out."
        raise UsageError(message)
    if in_full and not isinstance(model, SVC) and stages is not None:
        message = (
            f"{plain(str(settings.model))} holds a predictor of labels alone; leave out {in_full}."
        )
        raise CommandError(message)
    if in_full or (stages is None and not is_asked):
        return None
    if stages is None and not isinstance(model, SVC):
        message = (
            f"{plain(str(settings.model))} holds a linear model, which a row costs one product; "
            "only kernel machines are evaluated in stages."
        )
        raise CommandError(message)
    return Proofs(model if stages is None else stages, settings.seconds, settings.max_terms)
