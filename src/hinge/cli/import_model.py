"""``hinge import-model``: a model of another program in, a model file out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hinge.cli._errors import CommandError, Exit
from hinge.cli._fit import aligned
from hinge.cli._labels import label_json, label_text, listed, plain
from hinge.cli._models import SUFFIX, check_output, is_liblinear, is_model
from hinge.cli._options import Force, ShownOptions, above_zero
from hinge.models import read_liblinear, save

_PICKLED = (b"\x80", b"PK\x03\x04")  # pickle and joblib; zip archives such as those of skops


class ImportedIntercept(enum.StrEnum):
    """Kinds of intercept that a text model of LIBLINEAR does not tell apart."""

    AUGMENTED = "augmented"
    FREE = "free"


@dataclass(frozen=True, kw_only=True)
class ImportSettings(ShownOptions):
    """What ``hinge import-model`` is asked to do."""

    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="Text model of LIBLINEAR.", show_default=False),
    ]
    model: Annotated[
        Path | None,
        typer.Argument(
            metavar="MODEL",
            help="Model file to write; if not given, SOURCE with .hinge, in this folder.",
            show_default=False,
        ),
    ] = None
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            "-C",
            "-c",
            help="What the model was trained with, which SOURCE does not say; 1, if not given.",
            show_default=False,
            callback=above_zero,
        ),
    ] = None
    intercept: Annotated[
        ImportedIntercept,
        typer.Option(help="free, if it was trained with LIBLINEAR's option -R."),
    ] = ImportedIntercept.AUGMENTED
    force: Force = False


def import_model(settings: ImportSettings) -> int:
    """Turn a text model of LIBLINEAR into a model file.

    The weights keep their bits. Nothing is proven of them until verify sees the training data.
    """
    output = settings.output()
    target = settings.model or Path(plain(settings.source.name) + SUFFIX)
    _check_source(settings.source)
    check_output(target, settings.force, [settings.source], over_models=True)
    is_free = settings.intercept is ImportedIntercept.FREE
    C = 1.0 if settings.C is None else settings.C
    model = read_liblinear(settings.source, C=C, intercept="free" if is_free else None)
    save(model, target)
    if settings.C is None:
        name = plain(str(settings.source))
        output.note(f"{name}: C is not in the file; taken as 1. Give it with --C for verify.")
    classes = list(model.classes_)
    lines = [
        ("classes", f"{len(classes)}: {listed([label_text(label) for label in classes])}"),
        ("features", str(model.n_features_in_)),
        ("model", f"{target} ({target.stat().st_size:,} bytes)"),
    ]
    data = {
        "model": str(target),
        "classes": [label_json(label) for label in classes],
        "features": int(model.n_features_in_),
    }
    output.result(aligned(lines), data)
    return Exit.SOLVED


def _check_source(source: Path) -> None:
    """Refuse what is not a LIBLINEAR model with the remedy for what it is instead."""
    if is_liblinear(source):
        return
    name = plain(str(source))
    if is_model(source):
        message = f"{name} is a model file of hinge already; use it as it is."
        raise CommandError(message)
    with source.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"svm_type"):
        message = f"{name} is a kernel machine of LIBSVM, which this version cannot import."
    elif head.startswith(_PICKLED):
        message = (
            f"{name} looks like a pickle, which would run code when it is opened; load it in "
            "Python where you trust it, then save hinge.from_sklearn(model)."
        )
    else:
        message = f"{name} is not a text model of LIBLINEAR: its first word is not solver_type."
    raise CommandError(message)
