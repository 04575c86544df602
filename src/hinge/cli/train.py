"""``hinge train``: a file of rows in, a model file out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hinge.cli._checkpoints import CheckpointPlan
from hinge.cli._console import Output
from hinge.cli._data import STDIN, Reader
from hinge.cli._errors import Exit, UsageError
from hinge.cli._estimate import estimate_fit, tell_if_long
from hinge.cli._fit import fit, fit_data, summary, tell_interruption
from hinge.cli._kernel import KernelName, KernelOptions
from hinge.cli._kernel_matrix import training_matrix
from hinge.cli._labels import plain
from hinge.cli._machine import MACHINE, STOPPING
from hinge.cli._models import SUFFIX, check_output
from hinge.cli._options import DataFile, above_zero_or_infinite, not_negative
from hinge.cli._stopping import told_when_stopped
from hinge.cli._weights import class_weights
from hinge.data import Dataset
from hinge.models import save


@dataclass(frozen=True, kw_only=True)
class TrainSettings(KernelOptions):
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
            help="Weight of the losses; inf is a hard margin.",
            rich_help_panel=MACHINE,
            callback=above_zero_or_infinite,
        ),
    ] = 1.0
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
    no_proof: Annotated[
        bool,
        typer.Option(
            "--no-proof",
            help="Leave out what only verify needs: the dual coefficients of a linear machine.",
        ),
    ] = False

    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Tell how long training will take and how much memory, and stop there.",
        ),
    ] = False

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, apart from class weights."""
        return {"C": self.C, **super().parameters()}


def train(settings: TrainSettings) -> int:
    """Train a machine on DATA, linear or with a kernel, and save it with a proof of how good it is.

    Ctrl-C once saves the best model found so far; twice stops at once.
    """
    output = settings.output()
    _refuse_for_kernels(settings)
    _refuse_beside_estimate(settings)
    if settings.estimate:
        told = estimate_fit(*_read(settings, output))
        output.result(str(told), told.data)
        return Exit.SOLVED
    path = _model_path(settings)
    plan = _checkpoint_plan(settings)
    with told_when_stopped(path):
        check_output(path, settings.force, [settings.data], over_models=True)
        parameters, data = _read(settings, output)
        if settings.kernel is None:
            tell_if_long(parameters, data, output)
        done = fit(parameters, data, output, plan)
        save(done.model, path, proof=not settings.no_proof)
        if plan is not None:
            plan.conclude(done.model.solutions_, output)
        tell_interruption(done, path, output)
        output.result(summary(done, path), {**fit_data(done), "model": str(path)})
    return done.exit_code


def _refuse_for_kernels(settings: TrainSettings) -> None:
    """Refuse what only linear machines have in this version."""
    settings.parameters()  # options that contradict each other come first
    for name in ("estimate", "checkpoint", "resume"):
        if settings.kernel is not None and getattr(settings, name):
            message = (
                f"--{name} is for linear machines in this version; leave it out with --kernel."
            )
            raise UsageError(message)


def _refuse_beside_estimate(settings: TrainSettings) -> None:
    """Refuse a checkpoint where nothing is trained: the forecast is of a fit from its beginning."""
    for name in ("checkpoint", "resume"):
        if settings.estimate and getattr(settings, name):
            message = (
                f"--estimate forecasts a fit from its beginning and trains nothing; leave "
                f"--{name} out of it."
            )
            raise UsageError(message)


def _read(settings: TrainSettings, output: Output) -> tuple[dict[str, Any], Dataset]:
    """Return the parameters of the estimator and the data."""
    data = Reader(settings, output, settings.threads).read(settings.data)
    if settings.kernel is KernelName.PRECOMPUTED:
        data = training_matrix(data)
    weights = class_weights(settings.class_weight, data.y)
    return {**settings.parameters(), "class_weight": weights}, data


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
