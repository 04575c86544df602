"""``hinge svm-predict``: the command line of LIBSVM's and LIBLINEAR's predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from hinge.cli._console import Output, write_text
from hinge.cli._data import Reader
from hinge.cli._errors import Exit, UsageError
from hinge.cli._labels import label_text, plain
from hinge.cli._letters import parse
from hinge.cli._matching import fitted_to, index_base, kinds_that_differ, unnamed_rows
from hinge.cli._models import load_any, require_probabilities
from hinge.cli._options import DataFormat, ReadingOptions
from hinge.cli._predicting import pieces, predicted, predicting
from hinge.cli._text_output import check_text_output, text_output

WORDS = "[-b 0|1] [-q] DATA MODEL OUTPUT"


@dataclass(frozen=True, kw_only=True)
class SvmPredictSettings:
    """A command line in LIBSVM's style, as words."""

    words: Annotated[
        list[str], typer.Argument(metavar=WORDS, help="LIBSVM's options, then its files.")
    ] = field(default_factory=list)


def svm_predict(settings: SvmPredictSettings) -> int:
    """Predict as LIBSVM's svm-predict does: -b and -q, then DATA, MODEL and OUTPUT.

    MODEL is a model file of hinge or a text model of LIBLINEAR or LIBSVM. The accuracy goes to
    stdout, the labels to OUTPUT; with -b 1 the probability of every class after each of them.
    """
    letters = parse(settings.words, "b", alone="q")
    with_probabilities = letters.whole("b", 0)
    if with_probabilities not in (0, 1):
        message = f"-b takes 0 or 1; got {with_probabilities}."
        raise UsageError(message)
    if len(letters.files) != 3:
        message = (
            "svm-predict takes a data file, a model file and an output file after the options; "
            f"got {len(letters.files)}. Try 'hinge svm-predict --help'."
        )
        raise UsageError(message)
    data_path, model_path, output_path = (Path(word) for word in letters.files)
    check_text_output(output_path, [data_path, model_path])
    output = Output(quiet="q" in letters.values)
    model = load_any(model_path, "DATA MODEL OUTPUT")
    if with_probabilities:
        require_probabilities(model, str(model_path), "-b 1")
    options = ReadingOptions(quiet=output.quiet, format=DataFormat.LIBSVM)
    reader = Reader(options, output, -1, index_base(model, options))
    data = fitted_to(model, reader.read(data_path), output)
    with predicting(output) as shown:
        shown.expect(data.X.shape[0])
        guessed = predicted(model, data.X, shown)
    with text_output(output_path) as write:
        for line in _lines(model, data.X, guessed, bool(with_probabilities)):
            write(line)
    difference = kinds_that_differ(model.classes_, data.y)
    if difference is not None:
        output.note(f"{plain(data.source)}: {difference}, so they are not compared.")
    elif not output.quiet:
        right = int(np.count_nonzero(guessed == np.asarray(data.y)))
        share = 100.0 * right / len(guessed)
        write_text(f"Accuracy = {share:g}% ({right}/{len(guessed)}) (classification)\n")
    return Exit.SOLVED


def _lines(model: Any, X: Any, guessed: Any, with_probabilities: bool) -> Iterator[str]:
    """Yield the lines of the output: with probabilities, the labels that they are of come first."""
    if not with_probabilities:
        yield "".join(f"{label_text(label)}\n" for label in guessed)
        return
    yield f"labels {' '.join(label_text(label) for label in model.classes_)}\n"
    start = 0
    with unnamed_rows():
        for piece in pieces(model, X):
            rows = model.predict_proba(piece).tolist()
            labels = [label_text(label) for label in guessed[start : start + len(rows)]]
            start += len(rows)
            together = zip(labels, rows, strict=True)
            yield "".join(f"{name} {' '.join(map('{:.17g}'.format, p))}\n" for name, p in together)
