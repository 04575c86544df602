"""Options of the commands that train: the machine, and when to stop."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from hinge.cli._options import Force, ReadingOptions, Threads, above_zero, not_negative

MACHINE = "The machine"
STOPPING = "When to stop"

Tolerance = Annotated[
    float,
    typer.Option(
        "--tol",
        "-e",
        help="Relative gap to prove.",
        rich_help_panel=STOPPING,
        callback=not_negative,
    ),
]


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
class TrainingOptions(ReadingOptions):
    """How to train any machine."""

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
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Limit of training; what was found until then is kept.",
            show_default=False,
            rich_help_panel=STOPPING,
            callback=above_zero,
        ),
    ] = None
    threads: Threads = -1
    seed: Annotated[
        int, typer.Option(help="Seed of every random choice.", callback=not_negative)
    ] = 0
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class MachineOptions(TrainingOptions):
    """What linear machine to train, apart from C, and to which gap."""

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
    tol: Tolerance = 1e-4
    max_iter: Annotated[
        int,
        typer.Option(
            help="Limit of steps (passes, or steps of Newton's and the interior point method) for "
            "each fit of two classes.",
            rich_help_panel=STOPPING,
            callback=not_negative,
        ),
    ] = 1000

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator, apart from C and class weights."""
        kind = self.intercept
        return {
            "loss": str(self.loss),
            "fit_intercept": kind is not InterceptKind.NONE,
            "intercept": "free" if kind is InterceptKind.FREE else None,
            "intercept_scaling": self.intercept_scale,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "time_limit": self.time_limit,
            "n_jobs": self.threads,
            "random_state": self.seed,
        }
