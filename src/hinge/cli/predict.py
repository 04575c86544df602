"""``hinge predict``: a model and rows in, a label per line out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hinge.cli._console import write_json, write_text
from hinge.cli._data import Reader, fitted_to, labels_like
from hinge.cli._errors import Exit
from hinge.cli._labels import label_json, label_text
from hinge.cli._models import check_output, load_any
from hinge.cli._options import DataFile, ModelFile, ReadingOptions, Threads
from hinge.data import Dataset
from hinge.durable import atomic_write

_LINES_AT_A_TIME = 10_000


@dataclass(frozen=True, kw_only=True)
class PredictSettings(ReadingOptions):
    """What ``hinge predict`` is asked to do."""

    model: ModelFile
    data: DataFile
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the labels go; to stdout, if not given. An existing file is replaced.",
            show_default=False,
        ),
    ] = None
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Write the decision values after each label, by tabs."),
    ] = False
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="The table has no column of labels.")
    ] = False
    threads: Threads = -1


def predict(settings: PredictSettings) -> int:
    """Write the label that MODEL gives each row of DATA, one per line.

    MODEL is a model file of hinge or a text model of LIBLINEAR. If DATA has labels of its own,
    the accuracy is noted on stderr.
    """
    output = settings.output()
    target = settings.output_file
    if target is not None:
        check_output(target, True, [settings.model, settings.data])
    model = load_any(settings.model)
    model.n_jobs = settings.threads
    reader = Reader(settings, output, settings.threads)
    data = reader.read(settings.data, labelled=not settings.unlabelled, required=False)
    data = fitted_to(model, data, output)
    values = model.decision_function(data.X)
    guessed = model.predict(data.X)
    _write(settings, guessed, values if settings.scores else None)
    _note_accuracy(settings, model, data, guessed)
    return Exit.SOLVED


def _write(settings: PredictSettings, guessed: Any, values: Any) -> None:
    if settings.json:
        data: dict[str, Any] = {"labels": [label_json(label) for label in guessed]}
        if values is not None:
            data["decision_values"] = np.asarray(values).tolist()
        data["output"] = None if settings.output_file is None else str(settings.output_file)
        write_json(data)
        if settings.output_file is None:
            return
    if settings.output_file is None:
        for text in _lines(guessed, values):
            write_text(text)
        return
    with atomic_write(settings.output_file) as file:
        for text in _lines(guessed, values):
            file.write(text.encode())


def _lines(guessed: Any, values: Any) -> Iterator[str]:
    """Yield the output in pieces of some thousand lines."""
    names = {label: label_text(label) for label in np.unique(guessed)}
    for start in range(0, len(guessed), _LINES_AT_A_TIME):
        piece = slice(start, start + _LINES_AT_A_TIME)
        labels = [names[label] for label in guessed[piece]]
        if values is not None:
            rows = np.asarray(values)[piece].reshape(len(labels), -1).tolist()
            labels = [
                "\t".join([label, *map(repr, row)])
                for label, row in zip(labels, rows, strict=True)
            ]
        yield "".join(f"{line}\n" for line in labels)


def _note_accuracy(settings: PredictSettings, model: Any, data: Dataset, guessed: Any) -> None:
    if data.y is None or isinstance(data.y, list):
        return
    labels = labels_like(model.classes_, data.y, data.source)
    right = int(np.count_nonzero(guessed == labels))
    share = 100.0 * right / max(1, len(guessed))
    settings.output().note(f"accuracy {share:.4g} % ({right} of {len(guessed)} labels agree).")
