"""``hinge train``: a file of rows in, a model file out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hinge.cli._checkpoints import CheckpointPlan
from hinge.cli._data import STDIN, Reader
from hinge.cli._errors import UsageError
from hinge.cli._fit import fit, fit_data, summary, tell_interruption
from hinge.cli._labels import plain
from hinge.cli._models import SUFFIX, check_output
from hinge.cli._options import (
    DataFile,
    Force,
    ReadingOptions,
    Threads,
    above_zero,
    not_negative,
)
from hinge.cli._stopping import told_when_stopped
from hinge.cli._weights import class_weights
from hinge.models import save

MACHINE = "The machine"
STOPPING = "When to stop"


class Loss(enum.StrEnum):
    """Losses of a margin."""

    HINGE = "hinge"
    SQUARED_HINGE = "squared_hinge"
    HUBER = "huber"


class InterceptKind(enum.StrEnum):
    """Kinds of intercept."""

    AUGMENTED = "augmented"
    FREE = "free"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class TrainSettings(ReadingOptions):
    """What ``hinge train`` is asked to do."""

    data: DataFile
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            help="Model file to write; if not given, DATA with .hinge, in this folder.",
            show_default=False,
        ),
    ] = None
    C: Annotated[
        float,
        typer.Option(
            "--C",
            "-C",
            "-c",
            help="Weight of the losses.",
            rich_help_panel=MACHINE,
            callback=above_zero,
        ),
    ] = 1.0
    loss: Annotated[Loss, typer.Option(help="Loss of a margin.", rich_help_panel=MACHINE)] = (
        Loss.SQUARED_HINGE
    )
    intercept: Annotated[
        InterceptKind,
        typer.Option(
            help="augmented: the weight of a constant feature, as in LIBLINEAR; free: not "
            "regularised, as in LIBSVM.",
            rich_help_panel=MACHINE,
        ),
    ] = InterceptKind.AUGMENTED
    intercept_scale: Annotated[
        float,
        typer.Option(
            help="Value of that constant feature.", rich_help_panel=MACHINE, callback=above_zero
        ),
    ] = 1.0
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight",
            "-w",
            metavar="LABEL=WEIGHT",
            help="Factor of C for a class, once for each class; or the word balanced.",
            show_default=False,
            rich_help_panel=MACHINE,
        ),
    ] = None
    tol: Annotated[
        float,
        typer.Option(
            "--tol",
            "-e",
            help="Relative gap to prove.",
            rich_help_panel=STOPPING,
            callback=not_negative,
        ),
    ] = 1e-4
    max_iter: Annotated[
        int,
        typer.Option(
            help="Limit of passes for each class.", rich_help_panel=STOPPING, callback=not_negative
        ),
    ] = 1000
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Limit of training; the best model until then is saved.",
            show_default=False,
            rich_help_panel=STOPPING,
            callback=above_zero,
        ),
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the state of training there from time to time, to go on from it later.",
            show_default=False,
            rich_help_panel=STOPPING,
        ),
    ] = None
    checkpoint_every: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            help="Time between two checkpoints.",
            rich_help_panel=STOPPING,
            callback=not_negative,
        ),
    ] = 30.0
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on from the checkpoint, if it is there; the result has the same bits.",
            rich_help_panel=STOPPING,
        ),
    ] = False
    threads: Threads = -1
    seed: Annotated[
        int, typer.Option(help="Seed of every random choice.", callback=not_negative)
    ] = 0
    no_proof: Annotated[
        bool,
        typer.Option(
            "--no-proof",
            help="Leave the dual coefficients out: a smaller file, which verify cannot prove.",
        ),
    ] = False
    force: Force = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, apart from class weights."""
        kind = self.intercept
        return {
            "loss": str(self.loss),
            "C": self.C,
            "fit_intercept": kind is not InterceptKind.NONE,
            "intercept": "free" if kind is InterceptKind.FREE else None,
            "intercept_scaling": self.intercept_scale,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "n_jobs": self.threads,
            "random_state": self.seed,
        }


def train(settings: TrainSettings) -> int:
    """Train a linear machine on DATA and save it, with a proof of how good it is.

    Ctrl-C once saves the best model found so far; twice stops at once.
    """
    output = settings.output()
    path = _model_path(settings)
    plan = _checkpoint_plan(settings)
    with told_when_stopped(path):
        check_output(path, settings.force, [settings.data], over_models=True)
        data = Reader(settings, output, settings.threads).read(settings.data)
        weights = class_weights(settings.class_weight, data.y)
        parameters = {**settings.parameters(), "class_weight": weights}
        done = fit(parameters, data, output, plan)
        save(done.model, path, proof=not settings.no_proof)
        if plan is not None:
            plan.conclude(done.model.solutions_, output)
        tell_interruption(done, path, output)
        output.result(summary(done, path), {**fit_data(done), "model": str(path)})
    return done.exit_code


def _checkpoint_plan(settings: TrainSettings) -> CheckpointPlan | None:
    if settings.checkpoint is None:
        if settings.resume:
            message = "--resume goes on from a checkpoint; name it with --checkpoint FILE."
            raise UsageError(message)
        return None
    plan = CheckpointPlan(settings.checkpoint, settings.checkpoint_every, settings.resume)
    plan.check(settings.force, [settings.data, _model_path(settings)])
    return plan


def _model_path(settings: TrainSettings) -> Path:
    if settings.model is not None:
        return settings.model
    if settings.data == STDIN:
        message = "with data from standard input, name the model file: hinge train - MODEL."
        raise UsageError(message)
    return Path(plain(settings.data.name) + SUFFIX)
