"""``hinge export``: a model file in, a model of another program out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hinge.cli._errors import Exit, UsageError
from hinge.cli._fit import aligned
from hinge.cli._labels import plain
from hinge.cli._models import check_output, load_any
from hinge.cli._options import Force, ModelFile, ShownOptions
from hinge.models import write_liblinear, write_onnx


class ExportFormat(enum.StrEnum):
    """Formats of models that other programs read."""

    LIBLINEAR = "liblinear"
    ONNX = "onnx"


_ENDINGS = {".onnx": ExportFormat.ONNX, ".model": ExportFormat.LIBLINEAR}


@dataclass(frozen=True, kw_only=True)
class ExportSettings(ShownOptions):
    """What ``hinge export`` is asked to do."""

    model: ModelFile
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="File to write: .model is LIBLINEAR text, .onnx is ONNX.",
        ),
    ]
    to: Annotated[
        ExportFormat | None,
        typer.Option(help="Format of TARGET, where its name does not tell.", show_default=False),
    ] = None
    force: Force = False


def export(settings: ExportSettings) -> int:
    """Write MODEL as a text model of LIBLINEAR or as ONNX."""
    form = settings.to or _ENDINGS.get(settings.target.suffix.lower())
    if form is None:
        message = (
            f"the name {plain(str(settings.target))} does not tell the format; "
            "pass --to liblinear or --to onnx."
        )
        raise UsageError(message)
    check_output(settings.target, settings.force, [settings.model])
    model = load_any(settings.model, "MODEL TARGET")
    if form is ExportFormat.LIBLINEAR:
        write_liblinear(model, settings.target)
    else:
        write_onnx(model, settings.target)
    size = settings.target.stat().st_size
    text = aligned([(str(form), f"{settings.target} ({size:,} bytes)")])
    settings.output().result(text, {"target": str(settings.target), "format": str(form)})
    return Exit.SOLVED
