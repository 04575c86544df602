"""Model files as commands need them: any kind in, and no surprise overwritten on the way out."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from hinge.anytime import AnytimePredictor
from hinge.cli._errors import CommandError, UsageError
from hinge.cli._labels import plain
from hinge.errors import ModelFileError
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.estimators.svc import SVC
from hinge.estimators.svc_cv import SVCCV
from hinge.models import inspect, load, read_liblinear, read_libsvm
from hinge.models.container import MOST_HEADER_BYTES

SUFFIX = ".hinge"
_LIBLINEAR_HEAD = b"solver_type"
_LIBSVM_HEAD = b"svm_type"


def is_liblinear(path: Path) -> bool:
    """Return whether a file begins as a LIBLINEAR text model does.

    Parameters
    ----------
    path : Path
        The file.
    """
    with path.open("rb") as file:
        return file.read(len(_LIBLINEAR_HEAD)) == _LIBLINEAR_HEAD


def is_libsvm(path: Path) -> bool:
    """Return whether a file begins as a LIBSVM text model does.

    Parameters
    ----------
    path : Path
        The file.
    """
    with path.open("rb") as file:
        return file.read(len(_LIBSVM_HEAD)) == _LIBSVM_HEAD


def load_any(path: Path, order: str) -> LinearSVC | SVC:
    """Load a model file of hinge or a text model of LIBLINEAR or LIBSVM.

    Parameters
    ----------
    path : Path
        The file.
    order : str
        The files of the command in their order, for whoever has swapped them.

    Returns
    -------
    LinearSVC or SVC
        A fitted estimator.
    """
    if is_liblinear(path):
        return read_liblinear(path)
    if is_libsvm(path):
        return read_libsvm(path)
    if not _begins_as_model(path):
        message = f"{plain(str(path))}: this is not a model file; the order is {order}."
        raise CommandError(message)
    model = load(path)
    if isinstance(model, AnytimePredictor):
        message = (
            f"{plain(str(path))} holds a predictor without the model that it was made of; only "
            "predict and inspect take it."
        )
        raise CommandError(message)
    found: LinearSVC | SVC = _inside(model)
    return found


def load_predictor(path: Path, order: str) -> tuple[Any, AnytimePredictor | None]:
    """Load a model as ``load_any`` does, with the stages that its file has.

    Parameters
    ----------
    path : Path
        The file.
    order : str
        The files of the command in their order, for whoever has swapped them.

    Returns
    -------
    model : LinearSVC, SVC or SimpleNamespace
        A fitted estimator; for a predictor alone, what rows are matched with.
    predictor : AnytimePredictor or None
        What proves labels, if the file has it.
    """
    if is_liblinear(path) or is_libsvm(path) or not _begins_as_model(path):
        return load_any(path, order), None
    model = load(path)
    if isinstance(model, AnytimePredictor):
        known = SimpleNamespace(
            classes_=model.classes,
            n_features_in_=model.n_features,
            kernel_=model.machine.kernel,
            n_support_=[len(model.machine.coefficients)],
        )
        return known, model
    return _inside(model), model.predictor_ if isinstance(model, AnytimeClassifier) else None


def _inside(model: Any) -> Any:
    """Return the model that an estimator has chosen or wraps."""
    if isinstance(model, AnytimeClassifier):
        model = model.estimator_
    return model.best_estimator_ if isinstance(model, LinearSVCCV | SVCCV) else model


def require_probabilities(model: LinearSVC | SVC, path: str, option: str) -> None:
    """Refuse a model that knows no probabilities.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    path : str
        Its file.
    option : str
        What to train it with.
    """
    if not isinstance(model, SVC) or np.size(model.probA_) == 0:
        message = (
            f"{plain(path)} has no probabilities; train a kernel machine with {option} to have "
            "them."
        )
        raise CommandError(message)


def _begins_as_model(path: Path) -> bool:
    """Return whether a file begins with the length of a header and a brace, damaged or not."""
    with path.open("rb") as file:
        length, brace = file.read(8), file.read(1)
    return brace == b"{" and int.from_bytes(length, "little") <= MOST_HEADER_BYTES


def is_model(path: Path) -> bool:
    """Return whether a file is a whole model file of hinge.

    Parameters
    ----------
    path : Path
        The file.
    """
    try:
        inspect(path)
    except ModelFileError:
        return False
    return True


def check_output(path: Path, force: bool, inputs: list[Path], over_models: bool = False) -> None:
    """Refuse, before any work is done, to write where it would fail or destroy something.

    Parameters
    ----------
    path : Path
        The file to be written.
    force : bool
        Whether the user allows to replace any file.
    inputs : list of Path
        Files that the command reads; they are never replaced.
    over_models : bool, default=False
        Whether a model file may be replaced without asking.
    """
    if path == Path("-"):
        message = "this cannot be written to standard output; name a file."
        raise UsageError(message)
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            message = f"{plain(str(path))} is an input of this command and cannot be its output."
            raise UsageError(message)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    folder = path.parent
    if not folder.is_dir():
        message = f"{plain(str(folder))}: there is no such folder; make it first."
        raise CommandError(message)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    if path.exists() and not force and not (over_models and is_model(path)):
        kind = ", and it is not a model" if over_models else ""
        message = f"{plain(str(path))} exists already{kind}; pass --force to replace it."
        raise CommandError(message)
