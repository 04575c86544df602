"""``hinge predict``: a model and rows in, a label per line out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hinge.cli._console import Output, write_json
from hinge.cli._data import Reader
from hinge.cli._errors import Exit, UsageError
from hinge.cli._labels import label_json, label_text, plain
from hinge.cli._matching import fitted_to, index_base, kinds_that_differ, unnamed_rows
from hinge.cli._models import load_predictor, require_probabilities
from hinge.cli._options import (
    WRITING,
    DataFile,
    ModelFile,
    ReadingOptions,
    Threads,
    not_negative_if_given,
)
from hinge.cli._predicting import Rows, pieces, predicting
from hinge.cli._proofs import PROVEN, Proofs, has_budget, proofs_for
from hinge.cli._text_output import STDOUT, check_text_output, text_output
from hinge.data import Dataset
from hinge.estimators._linear_model import winners
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC

_LINES_AT_A_TIME = 10_000


@dataclass(frozen=True, kw_only=True)
class PredictSettings(ReadingOptions):
    """What ``hinge predict`` is asked to do."""

    model: ModelFile
    data: DataFile
    output_file: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where the labels go; - is stdout. An existing file is replaced.",
        ),
    ] = STDOUT
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Write the probability of every class after each label, by tabs.",
        ),
    ] = False
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Write the decision values after each label, by tabs."),
    ] = False
    unlabelled: Annotated[
        bool, typer.Option("--unlabelled", help="The table has no column of labels.")
    ] = False
    anytime: Annotated[
        bool,
        typer.Option(
            "--anytime",
            help="Stop evaluating a row once its label is proven: the same labels. A file of "
            "hinge accelerate does so in any case.",
        ),
    ] = False
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Time for all rows; labels that are not proven by then are guesses, and marked. "
            "Implies --anytime.",
            show_default=False,
            callback=not_negative_if_given,
        ),
    ] = None
    max_terms: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Kernel values that a row may cost; marked as with --seconds. Implies --anytime.",
            show_default=False,
        ),
    ] = None
    threads: Threads = -1
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write one JSON object to stdout, at the end: all labels are held in memory.",
            rich_help_panel=WRITING,
        ),
    ] = False


def predict(settings: PredictSettings) -> int:
    """Write the label that MODEL gives each row of DATA, one per line.

    MODEL is a model file of hinge or a text model of LIBLINEAR or LIBSVM. If DATA has labels of its
    own, the accuracy is noted on stderr. DATA may be larger than memory, unless --json is given.
    """
    output = settings.output()
    target = settings.output_file
    if settings.json and target != STDOUT:
        message = "--json writes to stdout, so --output cannot be given with it; leave one out."
        raise UsageError(message)
    check_text_output(target, [settings.model, settings.data])
    if settings.scores and settings.probabilities:
        message = "--scores and --probabilities both follow the label; leave one out."
        raise UsageError(message)
    model, stages = load_predictor(settings.model, "MODEL DATA")
    if settings.probabilities:
        require_probabilities(model, str(settings.model), "--probability")
    proofs = proofs_for(settings, model, stages)
    model.n_jobs = settings.threads
    reader = Reader(settings, output, settings.threads, index_base(model, settings))
    blocks = reader.blocks(settings.data, labelled=not settings.unlabelled)
    wanted = _wanted(settings)
    guesses = _Guesses(model, output, wanted, proofs)
    if settings.json:
        with predicting(output) as shown:
            found = list(guesses.of(blocks, shown))
        data = {"labels": [label_json(label) for labels, _ in found for label in labels]}
        if wanted is not None:
            data[wanted] = [row for _, values in found for row in values.tolist()]
        write_json({**data, "accuracy": guesses.accuracy})
        return Exit.SOLVED
    with text_output(target) as write, predicting(output) as shown:
        for labels, values in guesses.of(blocks, shown):
            for text in _lines(labels, values):
                write(text)
    if guesses.accuracy is not None:
        share = f"{100.0 * guesses.accuracy:.4g} %"
        output.note(f"accuracy {share} ({guesses.right} of {guesses.rows} labels agree).")
    if proofs is not None and wanted == PROVEN:
        output.note(f"{proofs.proven} of {guesses.rows} labels are proven.")
    return Exit.SOLVED


def _wanted(settings: PredictSettings) -> str | None:
    """Return what follows the labels, by the name that it has in JSON."""
    if settings.probabilities:
        return "probabilities"
    if has_budget(settings):
        return PROVEN
    return "decision_values" if settings.scores else None


class _Guesses:
    """Labels block by block, and how many of them agree with those of the file.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    output : Output
        Where notes go.
    wanted : str or None
        What is wanted besides labels.
    proofs : Proofs or None
        What proves labels, if it is wanted.
    """

    def __init__(
        self, model: LinearSVC | SVC, output: Output, wanted: str | None, proofs: Proofs | None
    ) -> None:
        self._model = model
        self._proofs = proofs
        self._output = output
        self._wanted = wanted
        self.rows = 0
        self.right = 0
        self._compared = 0

    @property
    def accuracy(self) -> float | None:
        """The share of rows whose label agrees; None unless every row has one."""
        return self.right / self.rows if self.rows and self._compared == self.rows else None

    def of(self, blocks: Iterable[Dataset], shown: Rows) -> Iterator[tuple[Any, Any]]:
        """Yield the labels of each block, and what is wanted besides them."""
        for number, block in enumerate(blocks):
            if number == 0 and block.n_rows_of_file is not None:
                shown.expect(block.n_rows_of_file)
            notes = self._output if number == 0 else replace(self._output, quiet=True)
            X = fitted_to(self._model, block, notes).X
            found = [self._guessed(piece, shown) for piece in pieces(self._model, X)]
            labels = np.concatenate([labels for labels, _ in found])
            values = None
            if self._wanted is not None:
                values = np.concatenate([values for _, values in found])
            self._compare(block, labels)
            yield labels, values

    def _guessed(self, X: Any, shown: Rows) -> tuple[Any, Any]:
        """Return the labels of some rows, and what is wanted besides them."""
        with unnamed_rows():
            if self._proofs is not None:
                found = self._proofs.of(X)
            elif self._wanted == "probabilities":
                found = self._model.predict(X), self._model.predict_proba(X)
            elif isinstance(self._model, SVC):
                values = self._model.decision_function(X) if self._wanted else None
                found = self._model.predict(X), values
            else:
                values = self._model.decision_function(X)
                found = self._model.classes_[winners(values)], values
        shown.add(X.shape[0])
        return found

    def _compare(self, block: Dataset, guessed: Any) -> None:
        self.rows += len(guessed)
        if block.y is None or isinstance(block.y, list):
            return
        difference = kinds_that_differ(self._model.classes_, block.y)
        if difference is not None:
            if self.rows == len(guessed):  # the first block
                text = f"{plain(block.source)}: {difference}, so they are not compared."
                self._output.note(text)
            return
        self._compared += len(guessed)
        self.right += int(np.count_nonzero(guessed == np.asarray(block.y)))


def _lines(guessed: Any, values: Any) -> Iterator[str]:
    """Yield the output in pieces of some thousand lines."""
    names = {label: label_text(label) for label in np.unique(guessed)}
    for start in range(0, len(guessed), _LINES_AT_A_TIME):
        piece = slice(start, start + _LINES_AT_A_TIME)
        labels = [names[label] for label in guessed[piece]]
        if values is not None:
            rows = np.asarray(values)[piece].reshape(len(labels), -1).tolist()
            labels = [
                "\t".join([label, *map(_shown, row)])
                for label, row in zip(labels, rows, strict=True)
            ]
        yield "".join(f"{line}\n" for line in labels)


def _shown(value: float | bool) -> str:
    """Return what follows a label: a number, or whether it is proven."""
    if isinstance(value, bool):
        return "proven" if value else "guess"
    return repr(value)
