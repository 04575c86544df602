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
from hinge.cli._estimate import Work, tell_if_long
from hinge.cli._fit import fit, summary, tell_interruption
from hinge.cli._kernel import estimator
from hinge.cli._kernel_matrix import training_matrix
from hinge.cli._labels import plain
from hinge.cli._models import check_output
from hinge.cli._options import DataFormat, ReadingOptions
from hinge.cli._stopping import told_when_stopped
from hinge.cli._weights import class_weights
from hinge.data import Dataset
from hinge.models import save

LIBSVM_WORDS = (
    "[-s 0] [-t KERNEL] [-g GAMMA] [-d DEGREE] [-r COEF0] [-c COST] [-e TOLERANCE] [-m MB] "
    "[-h 0|1] [-b 0|1] [-wLABEL WEIGHT] [-v FOLDS] [-q] DATA [MODEL]"
)
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
    """Train as LIBSVM's svm-train does: -s -t -g -d -r -c -e -m -h -b -wLABEL -v -q, then files.

    Machines other than -s 0 are refused. The model is a model file of hinge, which svm-predict and
    predict read, and export turns into LIBSVM text.
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
    chosen = _chosen_parameters(request, data, output)
    if chosen.get("kernel") == "precomputed":
        data = training_matrix(data)
    parameters = {**chosen, "class_weight": _weights(request, data)}
    if "kernel" not in parameters:
        tell_if_long(parameters, data, output, Work(folds=request.folds or 1, in_turn=True))
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


def _chosen_parameters(request: Request, data: Dataset, output: Output) -> dict[str, Any]:
    """Return the parameters for as many classes as there are."""
    count = len(np.unique(np.asarray(data.y)))
    if request.in_pairs is not None and count > 2:
        return request.in_pairs
    for note in request.notes_for_two:
        output.note(note)
    return request.parameters


def _cross_validate(parameters: dict[str, Any], data: Dataset, folds: int, output: Output) -> int:
    splits = StratifiedKFold(folds, shuffle=True, random_state=0)
    y = np.asarray(data.y)
    smallest = int(np.unique(y, return_counts=True)[1].min())
    if smallest < folds:
        message = f"-v {folds} needs {folds} rows of every class; the smallest has {smallest}."
        raise CommandError(message)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", "probability is deprecated", FutureWarning)
        try:
            guessed = cross_val_predict(estimator(parameters), data.X, y, cv=splits)
        except KeyboardInterrupt:
            # The estimator speaks of a model that it keeps; here nobody would ever see it.
            message = "stopped by Ctrl-C; no accuracy was computed."
            raise Stopped(message) from None
    if caught:
        output.warning(f"{len(caught)} of {folds} fits did not reach their tolerance.")
    write_text(f"Cross Validation Accuracy = {100.0 * float(np.mean(guessed == y)):g}%\n")
    return Exit.NOT_CERTIFIED if caught else Exit.SOLVED
