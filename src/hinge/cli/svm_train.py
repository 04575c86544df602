"""``hinge svm-train`` and ``hinge liblinear-train``: the command lines of LIBSVM and LIBLINEAR."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from hinge.cli._classic import Reading, Request, liblinear_request, libsvm_request
from hinge.cli._console import Output, write_text
from hinge.cli._data import STDIN, Reader
from hinge.cli._errors import CommandError, Exit, Stopped, UsageError
from hinge.cli._fit import fit, summary, tell_interruption
from hinge.cli._labels import plain
from hinge.cli._models import check_output
from hinge.cli._options import DataFormat, ReadingOptions
from hinge.cli._stopping import told_when_stopped
from hinge.cli._weights import class_weights
from hinge.data import Dataset
from hinge.estimators.linear_svc import LinearSVC
from hinge.models import save

LIBSVM_WORDS = "[-s 0] -t 0 [-c COST] [-e GAP] [-wLABEL WEIGHT] [-v FOLDS] [-q] DATA [MODEL]"
LIBLINEAR_WORDS = (
    "[-s 1|2|3] [-c COST] [-e GAP] [-B BIAS] [-R] [-wLABEL WEIGHT] [-v FOLDS] [-m THREADS] [-q] "
    "DATA [MODEL]"
)


@dataclass(frozen=True, kw_only=True)
class SvmTrainSettings:
    """A command line in LIBSVM's style, as words."""

    words: Annotated[
        list[str],
        typer.Argument(metavar=LIBSVM_WORDS, help="LIBSVM's options, then its files."),
    ] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LiblinearTrainSettings:
    """A command line in LIBLINEAR's style, as words."""

    words: Annotated[
        list[str],
        typer.Argument(metavar=LIBLINEAR_WORDS, help="LIBLINEAR's options, then its files."),
    ] = field(default_factory=list)


def svm_train(settings: SvmTrainSettings) -> int:
    """Train as LIBSVM's svm-train does: -s -t -c -e -wLABEL -v -q, then DATA and MODEL.

    This version has linear machines, so -t 0 must be given. What else it cannot do is refused.
    The model is a model file of hinge; svm-predict and predict read it.
    """
    return _train(settings.words, libsvm_request, "svm-train")


def liblinear_train(settings: LiblinearTrainSettings) -> int:
    """Train as LIBLINEAR's train does: -s -c -e -B -R -wLABEL -v -m -q, then DATA and MODEL.

    The machines are -s 1, 2 and 3; others are refused. The model is a model file of hinge, which
    export turns into LIBLINEAR text.
    """
    return _train(settings.words, liblinear_request, "liblinear-train")


def _train(words: list[str], reading: Reading, name: str) -> int:
    request = reading(words)
    data_path, model_path = _files(request, name)
    output = Output(quiet=request.quiet)
    for note in request.notes:
        output.note(note)
    if request.folds is None:
        # Like the programs it stands for, it replaces what is there, but never its own input.
        check_output(model_path, True, [data_path])
    options = ReadingOptions(quiet=request.quiet, format=DataFormat.LIBSVM)
    data = Reader(options, output, request.parameters["n_jobs"]).read(data_path)
    parameters = {**request.parameters, "class_weight": _weights(request, data)}
    _refuse_pairs(request, data)
    if request.folds is not None:
        return _cross_validate(parameters, data, request.folds, output)
    return _train_and_save(parameters, data, model_path, output)


def _train_and_save(parameters: dict[str, Any], data: Dataset, path: Path, output: Output) -> int:
    with told_when_stopped(path):
        done = fit(parameters, data, output)
        save(done.model, path)
        tell_interruption(done, path, output)
        if not output.quiet:
            output.result(summary(done, path), {})
    return done.exit_code


def _files(request: Request, name: str) -> tuple[Path, Path]:
    files = [Path(word) for word in request.letters.files]
    if not 1 <= len(files) <= 2:
        message = (
            f"{name} takes one data file and at most one model file after the options; "
            f"got {len(files)}. Try 'hinge {name} --help'."
        )
        raise UsageError(message)
    if len(files) == 2:
        return files[0], files[1]
    if files[0] == STDIN:
        message = f"with data from standard input, name the model file: {name} ... - MODEL."
        raise UsageError(message)
    return files[0], Path(plain(files[0].name) + ".model")


def _weights(request: Request, data: Dataset) -> Any:
    texts = [f"{label}={weight}" for label, weight in request.letters.weights.items()]
    return class_weights(texts, data.y)


def _refuse_pairs(request: Request, data: Dataset) -> None:
    count = len(np.unique(np.asarray(data.y)))
    if request.one_against_one and count > 2:
        message = (
            f"{data.source}: LIBSVM trains {count} classes in pairs, which is not in this version "
            "of hinge; liblinear-train and train take one class against the rest."
        )
        raise CommandError(message)


def _cross_validate(parameters: dict[str, Any], data: Dataset, folds: int, output: Output) -> int:
    splits = StratifiedKFold(folds, shuffle=True, random_state=0)
    y = np.asarray(data.y)
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < folds:
        message = f"-v {folds} needs {folds} rows of every class; the smallest has {smallest}."
        raise CommandError(message)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            guessed = cross_val_predict(LinearSVC(**parameters), data.X, y, cv=splits)
        except KeyboardInterrupt:
            # The estimator speaks of a model that it keeps; here nobody would ever see it.
            message = "stopped by Ctrl-C; no accuracy was computed."
            raise Stopped(message) from None
    if caught:
        output.warning(f"{len(caught)} of {folds} fits did not reach their tolerance.")
    write_text(f"Cross Validation Accuracy = {100.0 * float(np.mean(guessed == y)):g}%\n")
    return Exit.NOT_CERTIFIED if caught else Exit.SOLVED
