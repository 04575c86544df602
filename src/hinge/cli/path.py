"""``hinge path``: what different values of C give, each of them certified."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning

from hinge.cli._console import Output
from hinge.cli._curve import Curve, check_matplotlib, draw
from hinge.cli._data import Reader
from hinge.cli._errors import Exit, Stopped, UsageError
from hinge.cli._estimate import Work, estimate_fit, tell_if_long
from hinge.cli._machine import MACHINE, MachineOptions, Tolerance
from hinge.cli._models import check_output
from hinge.cli._options import DataFile
from hinge.cli._path_display import path_display
from hinge.cli._progress import duration
from hinge.cli._stopping import ended_by_termination
from hinge.cli._weights import class_weights
from hinge.cli._words import in_options
from hinge.data import Dataset
from hinge.errors import Interrupted
from hinge.estimators.linear_svc_cv import LinearSVCCV

_MOST_VALUES = 10_000


@dataclass(frozen=True, kw_only=True)
class PathSettings(MachineOptions):
    """What ``hinge path`` is asked to do."""

    data: DataFile
    Cs: Annotated[
        str,
        typer.Option(
            "--Cs",
            metavar="VALUES",
            help="Values of C: 0.01,0.1,1 for these, 1e-3:1e2:20 for 20 from 1e-3 to 100, evenly "
            "spaced on a logarithmic scale.",
            rich_help_panel=MACHINE,
        ),
    ] = "1e-4:1e4:10"
    cv: Annotated[
        int,
        typer.Option(
            help="Number of folds of a cross-validation; 0 trains on all rows, and the error "
            "shown is then that of training.",
            rich_help_panel=MACHINE,
        ),
    ] = 0
    tol: Tolerance = 1e-3
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw error and gap against C: a .png, .svg or .pdf file (needs matplotlib).",
            show_default=False,
        ),
    ] = None

    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Tell how long the path will take and how much memory, and stop there.",
        ),
    ] = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, apart from C, folds and class weights."""
        return {"refit": False, **super().parameters()}


def path(settings: PathSettings) -> int:
    """Train on DATA for many values of C and show what each of them gives.

    Every value is solved from its neighbour and certified. With --cv the error is that of rows
    held out, which says which C to train with. Ctrl-C once shows the values done so far; twice
    stops at once.
    """
    output = settings.output()
    Cs = read_values(settings.Cs)
    if settings.cv < 0 or settings.cv == 1:
        message = f"--cv must be 0 or at least 2; got {settings.cv}."
        raise UsageError(message)
    if settings.estimate and settings.plot is not None:
        message = "--estimate trains nothing; leave --plot out of it."
        raise UsageError(message)
    if settings.plot is not None:
        check_output(settings.plot, settings.force, [settings.data])
        check_matplotlib(settings.plot)
    try:
        data = Reader(settings, output, settings.threads).read(settings.data)
        model, forecast = _estimator(settings, Cs, data), _forecast(settings, Cs, data)
        if settings.estimate:
            told = estimate_fit(*forecast)
            output.result(str(told), told.data)
            return Exit.SOLVED
        parameters, _, work = forecast
        tell_if_long(parameters, data, output, work)
        curve = _curve(settings, Cs, model, data, output)
        if settings.plot is not None:
            draw(curve, settings.plot)
    except Stopped:
        raise
    except KeyboardInterrupt:
        message = "stopped by Ctrl-C; nothing was written."
        raise Stopped(message) from None
    _show(curve, settings, output)
    return curve.exit_code


def read_values(text: str) -> list[float]:
    """Return the values of C that ``--Cs`` stands for.

    Parameters
    ----------
    text : str
        Numbers with commas between them, or FROM:TO:COUNT.
    """
    try:
        if ":" not in text:
            return _all_finite([float(word) for word in text.split(",")], text)
        low, high, number = text.split(":")
        ends, count = (float(low), float(high)), int(number)
        if not (0 < ends[0] < np.inf and 0 < ends[1] < np.inf and 1 <= count <= _MOST_VALUES):
            raise ValueError
    except ValueError:
        message = (
            f"--Cs takes numbers such as 0.01,0.1,1 or FROM:TO:COUNT such as 1e-3:1e2:20; "
            f"got {text!r}."
        )
        raise UsageError(message) from None
    return [float(C) for C in np.geomspace(*ends, count)]


def _all_finite(Cs: list[float], text: str) -> list[float]:
    """Return values of C, none of them infinity, which is a problem of another kind."""
    if math.inf in Cs:
        message = (
            f"--Cs takes finite values of C; got {text!r}. Train the hard margin apart, with "
            "hinge train -C inf."
        )
        raise UsageError(message)
    return Cs


def _forecast(
    settings: PathSettings, Cs: list[float], data: Dataset
) -> tuple[dict[str, Any], Dataset, Work]:
    """Return what the forecast of the path is made of: its dearest fit, and how often."""
    weights = class_weights(settings.class_weight, data.y)
    parameters = {**settings.parameters(), "C": max(Cs), "class_weight": weights}
    return parameters, data, Work(len(Cs), max(1, settings.cv))


def _curve(
    settings: PathSettings, Cs: list[float], model: LinearSVCCV, data: Dataset, output: Output
) -> Curve:
    """Return what the path has found, all of it or what was done when Ctrl-C came."""
    began = time.perf_counter()
    interrupted = False
    with warnings.catch_warnings(record=True) as caught, ended_by_termination():
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            with path_display(
                output, Cs, _n_paths(settings, data), settings.tol, settings.time_limit
            ) as callback:
                model.set_params(callback=callback).fit(data.X, np.asarray(data.y))
        except Interrupted:
            interrupted = True
    told = [in_options(_without_python(str(warning.message))) for warning in caught]
    if interrupted:
        told.append(_interruption(model, time.perf_counter() - began))
    for text in told:
        output.warning(text)
    is_done = ~np.isnan(model.scores_)
    shown = is_done.any(axis=0)
    return Curve(
        Cs=model.Cs_[shown],
        errors=1.0 - model.scores_[:, shown],
        gaps=np.where(is_done, model.gaps_, 0.0).max(axis=0)[shown],
        seconds=model.seconds_.sum(axis=0)[shown],
        tolerance=settings.tol,
        folds=settings.cv,
        best=getattr(model, "C_", None),
        warnings=tuple(told),
        interrupted=interrupted,
    )


def _estimator(settings: PathSettings, Cs: list[float], data: Dataset) -> LinearSVCCV:
    """Return the estimator that walks the path."""
    fewest = int(np.unique(np.asarray(data.y), return_counts=True)[1].min())
    if settings.cv > fewest:
        message = f"--cv {settings.cv} is more than the {fewest} rows of the smallest class."
        raise UsageError(message)
    everything = np.arange(data.X.shape[0])
    cv: Any = settings.cv or [(everything, everything)]
    weights = class_weights(settings.class_weight, data.y)
    return LinearSVCCV(Cs, cv=cv, class_weight=weights, **settings.parameters())


def _n_paths(settings: PathSettings, data: Dataset) -> int:
    """Return how many paths are walked: one for each class of each fold."""
    classes = len(np.unique(np.asarray(data.y)))
    return max(1, settings.cv) * (1 if classes == 2 else classes)


def _without_python(text: str) -> str:
    """Return a warning of the estimator without what only its attributes could tell."""
    return text.replace(" of LinearSVCCV's folds", "").replace(" (see gaps_)", "")


def _interruption(model: LinearSVCCV, seconds: float) -> str:
    """Return what to tell of a path that was interrupted with something done; else it stops."""
    done = ~np.isnan(model.scores_)
    if not done.any():
        message = "stopped by Ctrl-C before any value of C was done; nothing was written."
        raise Stopped(message)
    whole, fits = np.count_nonzero(done.all(axis=0)), np.count_nonzero(done)
    folds = "" if len(done) == 1 else f" in every fold, {fits} of {done.size} fits in all"
    return (
        f"the path was interrupted after {duration(seconds)}; {whole} of {done.shape[1]} values of "
        f"C were done by then{folds}."
    )


def _show(curve: Curve, settings: PathSettings, output: Output) -> None:
    """Write the table, or its JSON."""
    if settings.json:
        output.result("", {"data": str(settings.data), **curve.data()})
        return
    columns = {
        "C": [f"{C:.4g}" for C in curve.Cs],
        "gap": [f"{gap:.1e}" for gap in curve.gaps],
        "seconds": [f"{seconds:.3f}" for seconds in curve.seconds],
        "error" if curve.folds else "training error": [f"{e:.4f}" for e in curve.mean_errors],
    }
    if curve.interrupted and curve.folds:
        columns["folds"] = [f"{count} of {curve.folds}" for count in curve.folds_done]
    output.table(list(columns), list(zip(*columns.values(), strict=True)))
    if curve.best is not None:
        where = f"{curve.folds} folds" if curve.folds else "the training rows"
        text = f"\nLeast error on {where}: {curve.least_error:.4f} at C = {curve.best:.4g}."
        output.result(text, {})
        if not curve.folds:
            note = (
                "the training rows favour a large C; --cv 5 finds the C with the least error on "
                "rows held out."
            )
            output.note(note)
    if settings.plot is not None:
        output.note(f"drew the curve in {settings.plot}.")
