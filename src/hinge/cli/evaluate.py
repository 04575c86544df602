"""``hinge evaluate``: how well models do on labelled rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hinge.cli._console import Output
from hinge.cli._data import Reader
from hinge.cli._errors import Exit
from hinge.cli._guesses import Guesses
from hinge.cli._labels import label_text
from hinge.cli._matching import index_base, labels_like
from hinge.cli._models import load_any
from hinge.cli._options import DataFile, ReadingOptions, Threads
from hinge.cli._scores import Scores, check_labels, score
from hinge.data import Dataset

_CLASSES_IN_A_TABLE = 20  # beyond it a confusion table is wider than any screen


@dataclass(frozen=True, kw_only=True)
class EvaluateSettings(ReadingOptions):
    """What ``hinge evaluate`` is asked to do."""

    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="One or more model files.", show_default=False),
    ]
    data: DataFile
    threads: Threads = -1


def evaluate(settings: EvaluateSettings) -> int:
    """Compare one or more models on the labelled rows of DATA.

    Shows accuracy, a confusion table and the figures of every class. Of several models with the
    same two classes, each looks only at rows that can have changed their label since the last.
    """
    output = settings.output()
    models = [(str(path), load_any(path, "MODEL... DATA")) for path in settings.models]
    read: dict[int | None, Dataset] = {}  # by index base, nearly always one
    guesses = Guesses(output, settings.threads, len(models))
    results, examined = [], []
    for name, model in models:
        model.n_jobs = settings.threads
        base = index_base(model, settings)
        if base not in read:
            read[base] = Reader(settings, output, settings.threads, base).read(settings.data)
        data = read[base]
        truth = labels_like(model.classes_, data.y, data.source)
        check_labels(model.classes_, truth, data.source)
        results.append(score(name, model.classes_, truth, guesses.of(model, data)))
        examined.append(guesses.examined)
    if settings.json:
        found = [
            {**result.data(), "examined": count}
            for result, count in zip(results, examined, strict=True)
        ]
        output.result("", {"data": str(settings.data), "models": found})
        return Exit.SOLVED
    _show_models(output, results, examined)
    for result in results:
        _show_classes(output, result, len(results) > 1)
    return Exit.SOLVED


def _show_models(output: Output, results: list[Scores], examined: list[int]) -> None:
    lines = [
        [
            result.name,
            f"{result.accuracy:.4f}",
            f"{result.right} of {result.rows}",
            f"{result.mean_recall:.4f}",
            f"{result.mean_f1:.4f}",
        ]
        for result in results
    ]
    header = ["model", "accuracy", "right", "mean recall", "mean F1"]
    if len(results) > 1:
        header.append("examined")
        lines = [[*line, str(count)] for line, count in zip(lines, examined, strict=True)]
    output.table(header, lines)
    rows = sum(result.rows for result in results)
    if len(results) > 1 and sum(examined) < rows:
        text = (
            f"\nOf {rows} labels {rows - sum(examined)} follow from those of the models before: "
            "no decision value was computed for them."
        )
        output.result(text, {})


def _show_classes(output: Output, result: Scores, several: bool) -> None:
    of_model = f" of {result.name}" if several else ""
    names = [label_text(label) for label in result.labels]
    output.result(f"\nClasses{of_model}:\n", {})
    figures = (result.precision, result.recall, result.f1)
    lines = [
        [name, *(f"{values[k]:.4f}" for values in figures), str(int(result.support[k]))]
        for k, name in enumerate(names)
    ]
    output.table(["class", "precision", "recall", "F1", "rows"], lines)
    if len(names) > _CLASSES_IN_A_TABLE:
        _show_confusions(output, result, names)
        return
    output.result(f"\nConfusion{of_model} (a line per true class, a column per given one):\n", {})
    cells = [[name, *map(str, row)] for name, row in zip(names, result.confusion, strict=True)]
    output.table(["", *names], cells)


def _show_confusions(output: Output, result: Scores, names: list[str]) -> None:
    """Show the pairs that are confused most often, where the whole table would be too wide."""
    wrong = result.confusion.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(wrong, axis=None, kind="stable")[::-1][:_CLASSES_IN_A_TABLE]
    pairs = [np.unravel_index(int(place), wrong.shape) for place in order]
    lines = [[names[i], names[j], str(int(wrong[i, j]))] for i, j in pairs if wrong[i, j] > 0]
    output.result("\nMost frequent confusions (see --json for the whole table):\n", {})
    output.table(["true class", "given class", "rows"], lines)
