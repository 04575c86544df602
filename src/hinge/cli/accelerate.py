"""``hinge accelerate``: a kernel machine in, the same machine with stages that prove labels out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hinge.anytime import AnytimePredictor
from hinge.cli._data import Reader
from hinge.cli._errors import CommandError, Exit
from hinge.cli._fit import aligned
from hinge.cli._labels import plain
from hinge.cli._matching import fitted_to, index_base
from hinge.cli._models import SUFFIX, check_output, load_any
from hinge.cli._options import Force, ModelFile, ReadingOptions
from hinge.cli._progress import parts_display
from hinge.estimators.accelerate import accelerate as accelerated
from hinge.estimators.anytime_classifier import accelerated_classifier
from hinge.estimators.svc import SVC
from hinge.models import save

_ENDING = ".fast"
_MICRO = 1e6


class Ordering(enum.StrEnum):
    """Orders of basis points."""

    GIVEN = "given"
    SGMA = "sgma"
    MINWZ = "minwz"
    MEANLH = "meanlh"
    HYBRID = "hybrid"


@dataclass(frozen=True, kw_only=True)
class AccelerateSettings(ReadingOptions):
    """What ``hinge accelerate`` is asked to do."""

    model: ModelFile
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Model file to write; MODEL with .fast.hinge at its end, if not given.",
            show_default=False,
        ),
    ] = None
    queries: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rows like those to come, on which the stages are chosen; labels are ignored.",
            show_default=False,
        ),
    ] = None
    candidates: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Rows that may be basis points besides the support vectors: the training data.",
            show_default=False,
        ),
    ] = None
    ordering: Annotated[Ordering, typer.Option(help="How basis points are chosen.")] = (
        Ordering.MINWZ
    )
    points: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many basis points there are at most.")
    ] = 512
    reduced_set: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="N",
            help="How many points that need not be rows are candidates for basis points too.",
        ),
    ] = 0
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="The tables have no column of labels.")
    ] = False
    force: Force = False


def accelerate(settings: AccelerateSettings) -> int:
    """Save the kernel machine MODEL with stages that prove labels early, which predict then uses.

    The labels are the same. MODEL is a model file of hinge or a text model of LIBSVM.
    """
    output = settings.output()
    target = settings.output_file or settings.model.with_suffix(_ENDING + SUFFIX)
    given = [path for path in (settings.queries, settings.candidates) if path is not None]
    check_output(target, settings.force, [settings.model, *given], over_models=True)
    model = load_any(settings.model, "MODEL")
    if not isinstance(model, SVC):
        message = (
            f"{plain(str(settings.model))} holds a linear model, which a row costs one product; "
            "only kernel machines can be accelerated."
        )
        raise CommandError(message)
    reader = Reader(settings, output, -1, index_base(model, settings))

    def rows(path: Path | None) -> Any:
        if path is None:
            return None
        data = reader.read(path, not settings.unlabelled, required=False)
        return fitted_to(model, data, output).X

    candidates, queries = rows(settings.candidates), rows(settings.queries)
    options: dict[str, Any] = {
        "ordering": str(settings.ordering),
        "n_points": settings.points,
        "reduced_set": settings.reduced_set,
    }
    with parts_display(output, f"accelerating {plain(str(settings.model))}") as report:
        fast = accelerated(model, candidates, queries, callback=report, **options)
        save(accelerated_classifier(model, fast, **options), target)
    size = target.stat().st_size
    lines = [*_found(fast), ("model", f"{target} ({size:,} bytes)")]
    data = {"model": str(target), "bytes": size, "explanation": fast.explain().splitlines()}
    output.result(aligned(lines), data)
    return Exit.SOLVED


def _found(fast: AnytimePredictor) -> list[tuple[str, str]]:
    """Return what was chosen, in short."""
    parts = fast.parts
    lines = [("support", f"{len(fast.machine.coefficients)} support vectors")]
    if parts.reason:
        return [*lines, ("stages", f"none: {parts.reason}")]
    plan = parts.plan
    used = 0
    if parts.embedding is not None and plan.exits:
        used = parts.embedding.exits[plan.exits[-1]].count
    lines.append(("basis", f"{used} points in use"))
    if plan.costs is not None and plan.expected > 0.0:
        speed = f"{plan.costs.full / plan.expected:.1f} times as fast"
        lines.append(
            ("expected", f"{_MICRO * plan.expected:.1f} microseconds a row in a batch, {speed}")
        )
    return lines
