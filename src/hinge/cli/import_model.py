"""``hinge import-model``: a model of another program in, a model file out."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hinge.cli._errors import CommandError, Exit, UsageError
from hinge.cli._fit import aligned
from hinge.cli._labels import label_json, label_text, listed, plain
from hinge.cli._models import SUFFIX, check_output, is_liblinear, is_libsvm, is_model
from hinge.cli._options import Force, ShownOptions, above_zero
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models import read_liblinear, read_libsvm, save

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
        typer.Argument(
            metavar="SOURCE", help="Text model of LIBLINEAR or LIBSVM.", show_default=False
        ),
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
            help="What the model was trained with, which SOURCE does not say; 1, if not given, or "
            "the largest coefficient of a kernel machine.",
            show_default=False,
            callback=above_zero,
        ),
    ] = None
    intercept: Annotated[
        ImportedIntercept,
        typer.Option(help="free, if it was trained with LIBLINEAR's option -R."),
    ] = ImportedIntercept.AUGMENTED
    features: Annotated[
        int | None,
        typer.Option(
            help="Number of features of a kernel machine, or of rows of its kernel matrix, which "
            "SOURCE does not say; the last that occurs, if not given.",
            show_default=False,
            callback=above_zero,
        ),
    ] = None
    force: Force = False


def import_model(settings: ImportSettings) -> int:
    """Turn a text model of LIBLINEAR or LIBSVM into a model file.

    Numbers keep their bits. Nothing is proven of them until verify sees the training data.
    """
    output = settings.output()
    target = settings.model or Path(plain(settings.source.name) + SUFFIX)
    _check_source(settings.source)
    check_output(target, settings.force, [settings.source], over_models=True)
    model = _imported(settings)
    save(model, target)
    if settings.C is None:
        name = plain(str(settings.source))
        why = ", its largest coefficient" if isinstance(model, SVC) else ""
        output.note(
            f"{name}: C is not in the file; taken as {model.C:g}{why}. Give it with --C for verify."
        )
    classes = list(model.classes_)
    lines = [
        ("classes", f"{len(classes)}: {listed([label_text(label) for label in classes])}"),
        ("features", str(model.n_features_in_)),
    ]
    if isinstance(model, SVC):
        count = int(np.sum(model.n_support_))
        lines.append(("support", f"{count} support vectors, {model.kernel} kernel"))
    lines.append(("model", f"{target} ({target.stat().st_size:,} bytes)"))
    data = {
        "model": str(target),
        "classes": [label_json(label) for label in classes],
        "features": int(model.n_features_in_),
    }
    output.result(aligned(lines), data)
    return Exit.SOLVED


def _imported(settings: ImportSettings) -> LinearSVC | SVC:
    """Return the model of the source, if the options are those of its kind."""
    is_free = settings.intercept is ImportedIntercept.FREE
    if is_libsvm(settings.source):
        if is_free:
            message = (
                "the intercept of a kernel machine is free in any case; leave --intercept out."
            )
            raise UsageError(message)
        return read_libsvm(settings.source, C=settings.C, n_features=settings.features)
    if settings.features is not None:
        message = "a text model of LIBLINEAR says how many features it has; leave --features out."
        raise UsageError(message)
    C = 1.0 if settings.C is None else settings.C
    return read_liblinear(settings.source, C=C, intercept="free" if is_free else None)


def _check_source(source: Path) -> None:
    """Refuse what is no text model with the remedy for what it is instead."""
    if is_liblinear(source) or is_libsvm(source):
        return
    name = plain(str(source))
    if is_model(source):
        message = f"{name} is a model file of hinge already; use it as it is."
        raise CommandError(message)
    with source.open("rb") as file:
        head = file.read(16)
    if head.startswith(_PICKLED):
        message = (
            f"{name} looks like a pickle, which would run code when it is opened; load it in "
            "Python where you trust it, then save hinge.from_sklearn(model)."
        )
    else:
        message = (
            f"{name} is not a text model of LIBLINEAR or LIBSVM: its first word is neither "
            "solver_type nor svm_type."
        )
    raise CommandError(message)
