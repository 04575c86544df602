"""``hinge export``: a model file in, a model of another program out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hinge.cli._errors import Exit, UsageError
from hinge.cli._fit import aligned
from hinge.cli._labels import plain
from hinge.cli._models import check_output, load_any
from hinge.cli._options import Force, ModelFile, ShownOptions
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models import write_liblinear, write_libsvm, write_onnx


class ExportFormat(enum.StrEnum):
    """Formats of models that other programs read."""

    LIBLINEAR = "liblinear"
    LIBSVM = "libsvm"
    ONNX = "onnx"


_TEXT_ENDING = ".model"


@dataclass(frozen=True, kw_only=True)
class ExportSettings(ShownOptions):
    """What ``hinge export`` is asked to do."""

    model: ModelFile
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="File to write: .model is text of LIBLINEAR, or of LIBSVM for a kernel machine; "
            ".onnx is ONNX.",
        ),
    ]
    to: Annotated[
        ExportFormat | None,
        typer.Option(help="Format of TARGET, where its name does not tell.", show_default=False),
    ] = None
    force: Force = False


def export(settings: ExportSettings) -> int:
    """Write MODEL as a text model of LIBLINEAR or LIBSVM, or as ONNX."""
    ending = settings.target.suffix.lower()
    if settings.to is None and ending not in (".onnx", _TEXT_ENDING):
        message = (
            f"the name {plain(str(settings.target))} does not tell the format; "
            "pass --to liblinear, --to libsvm or --to onnx."
        )
        raise UsageError(message)
    check_output(settings.target, settings.force, [settings.model])
    model = load_any(settings.model, "MODEL TARGET")
    form = settings.to or _format_of(model, ending)
    if form is ExportFormat.LIBLINEAR and isinstance(model, LinearSVC):
        write_liblinear(model, settings.target)
    elif form is ExportFormat.LIBSVM and isinstance(model, SVC):
        write_libsvm(model, settings.target)
    elif form is not ExportFormat.ONNX:
        kind = "a linear machine" if isinstance(model, LinearSVC) else "a kernel machine"
        other = _format_of(model, _TEXT_ENDING)
        message = f"{plain(str(settings.model))} is {kind}; pass --to {other} or --to onnx."
        raise UsageError(message)
    else:
        write_onnx(model, settings.target)
        if np.size(getattr(model, "probA_", ())):
            settings.output().note(
                "the probabilities of the model are not in the graph: it gives labels and decision "
                "values."
            )
    size = settings.target.stat().st_size
    text = aligned([(str(form), f"{settings.target} ({size:,} bytes)")])
    settings.output().result(text, {"target": str(settings.target), "format": str(form)})
    return Exit.SOLVED


def _format_of(model: LinearSVC | SVC, ending: str) -> ExportFormat:
    """Return the format that the ending of a file means for a model."""
    if ending != _TEXT_ENDING:
        return ExportFormat.ONNX
    return ExportFormat.LIBSVM if isinstance(model, SVC) else ExportFormat.LIBLINEAR
