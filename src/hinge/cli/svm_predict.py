"""``hinge svm-predict``: the command line of LIBSVM's and LIBLINEAR's predict."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from hinge.cli._console import Output, write_text
from hinge.cli._data import Reader
from hinge.cli._errors import CommandError, Exit, UsageError
from hinge.cli._labels import label_text, plain
from hinge.cli._letters import parse
from hinge.cli._matching import fitted_to, index_base, kinds_that_differ, unnamed_rows
from hinge.cli._models import load_any
from hinge.cli._options import DataFormat, ReadingOptions
from hinge.cli._text_output import check_text_output, text_output

WORDS = "[-b 0] [-q] DATA MODEL OUTPUT"


@dataclass(frozen=True, kw_only=True)
class SvmPredictSettings:
    """A command line in LIBSVM's style, as words."""

    words: Annotated[
        list[str], typer.Argument(metavar=WORDS, help="LIBSVM's options, then its files.")
    ] = field(default_factory=list)


def svm_predict(settings: SvmPredictSettings) -> int:
    """Predict as LIBSVM's svm-predict does: -b 0 and -q, then DATA, MODEL and OUTPUT.

    MODEL is a model file of hinge or a text model of LIBLINEAR. The accuracy goes to stdout, the
    labels to OUTPUT.
    """
    letters = parse(settings.words, "b", alone="q")
    if letters.whole("b", 0) != 0:
        message = "-b 1 (probabilities) is not in this version of hinge; leave it out."
        raise CommandError(message)
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
    options = ReadingOptions(quiet=output.quiet, format=DataFormat.LIBSVM)
    reader = Reader(options, output, -1, index_base(model, options))
    data = fitted_to(model, reader.read(data_path), output)
    with unnamed_rows():
        guessed = model.predict(data.X)
    with text_output(output_path) as write:
        write("".join(f"{label_text(label)}\n" for label in guessed))
    difference = kinds_that_differ(model.classes_, data.y)
    if difference is not None:
        output.note(f"{plain(data.source)}: {difference}, so they are not compared.")
    elif not output.quiet:
        right = int(np.count_nonzero(guessed == np.asarray(data.y)))
        share = 100.0 * right / len(guessed)
        write_text(f"Accuracy = {share:g}% ({right}/{len(guessed)}) (classification)\n")
    return Exit.SOLVED
