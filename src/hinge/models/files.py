"""Saving and loading fitted models: one format for all of them, numbers and text only.

Loading a file never runs anything that the file chose. What a file can name (kinds of models,
losses, types of labels) is compared with fixed lists; nothing is imported, looked up or called by
a name out of a file.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, cast

from sklearn.utils.validation import check_is_fitted

from hinge.anytime import AnytimePredictor
from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.linear_svc_cv import LinearSVCCV
from hinge.estimators.svc import SVC
from hinge.estimators.svc_cv import SVCCV
from hinge.models import (
    anytime_classifier_file,
    anytime_file,
    chosen_file,
    chosen_kernel_file,
    kernel_file,
    linear_file,
)
from hinge.models._chosen_model import check_has_model
from hinge.models.budget import Budget
from hinge.models.container import (
    Header,
    open_container,
    read_header,
    read_tensors,
    write_container,
)
from hinge.models.fields import Fields
from hinge.models.text_lists import Tensors

FORMAT = 1
Model = LinearSVC | LinearSVCCV | SVC | SVCCV | AnytimeClassifier | AnytimePredictor
_VERSION = re.compile(r"[0-9A-Za-z.+!-]{1,64}", re.ASCII)
_LONGEST_MESSAGE = 500  # a file may have put anything into it
TIMES_THE_FILE = 4  # loading takes at most so much memory, and 64 MB,
SPARE = 45_000_000  # of which the header and what is made on the way take the rest
_TENSORS: dict[str, anytime_classifier_file.Names] = {
    linear_file.KIND: linear_file.tensors_of_linear,
    chosen_file.KIND: chosen_file.tensors_of_chosen,
    kernel_file.KIND: kernel_file.tensors_of_machine,
    chosen_kernel_file.KIND: chosen_kernel_file.tensors_of_chosen_machine,
    anytime_file.KIND: anytime_file.tensors_of_predictor,
}
_TENSORS |= {
    kind: anytime_classifier_file.names_of(_TENSORS[inner])
    for kind, inner in anytime_classifier_file.KINDS.items()
}
MODEL_KINDS = tuple(_TENSORS)
_MACHINES: dict[str, anytime_classifier_file.Taker] = {
    kernel_file.KIND: kernel_file.take_machine,
    chosen_kernel_file.KIND: chosen_kernel_file.take_chosen_machine,
    anytime_file.KIND: anytime_file.take_predictor,
}
_MACHINES |= {
    kind: anytime_classifier_file.taker_of(_MACHINES[inner])
    for kind, inner in anytime_classifier_file.KINDS.items()
}


def save(model: Any, path: str | os.PathLike[str], proof: bool = True) -> None:
    """Save a fitted model; the file appears at once and whole, or not at all.

    Parameters
    ----------
    model : LinearSVC, LinearSVCCV, SVC, SVCCV, AnytimeClassifier or AnytimePredictor
        A fitted estimator, or what ``accelerate`` returned.
    path : str or path-like
        Where to; an existing file is replaced. The customary ending is ``.hinge``.
    proof : bool, default=True
        Whether to keep what proves optimality: dual coefficients (8 bytes per row and problem;
        of an ``SVC`` the numbers of the support vectors' rows), where the optima must lie, and a
        fingerprint of the training data. Without it ``verify`` of a linear model can only confirm
        the objective, and ``settled`` proves nothing.

    Raises
    ------
    OSError
        If the file cannot be written; names it. What was there before is untouched.

    Notes
    -----
    Parameters, labels, feature names, weights and certificates are kept. Not kept: ``callback``,
    the options of a solver object (its name is), the traces of the runs and their states. Of a
    ``LinearSVCCV`` or ``SVCCV`` the model of all rows is kept, with the scores, gaps and seconds of
    every fold and value; a ``cv`` that is a splitter becomes the number of its splits, and a
    ``scoring`` that is a function cannot be saved. An ``SVC`` keeps its support vectors and
    coefficients; of a precomputed kernel the numbers of the rows. A kernel that is a function
    cannot be saved. Of a predictor the machine, the basis points in use and the plan are kept;
    every bound is computed again when it is loaded.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(random_state=0)
    >>> model = LinearSVC().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, Path(folder, "model.hinge"))
    ...     loaded = load(Path(folder, "model.hinge"))
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    >>> loaded.certificate_.gap == model.certificate_.gap
    True
    """
    content, tensors = _content(model, bool(proof))
    description = {"format": FORMAT, "hinge": importlib.metadata.version("hinge"), **content}
    _confirm(description, tensors)
    write_container(path, description, tensors)


def _content(model: Any, proof: bool) -> tuple[dict[str, Any], Tensors]:
    """Return description and tensors of a model of any kind, if it is one."""
    if not isinstance(model, Model):
        message = (
            "model must be what hinge.accelerate returns or a fitted hinge.LinearSVC, "
            "hinge.LinearSVCCV, hinge.AnytimeClassifier, hinge.SVC or hinge.SVCCV; got "
            f"{type(model).__name__}."
        )
        raise InvalidParameterError(message)
    if isinstance(model, LinearSVCCV | SVCCV):
        check_has_model(model)
        if isinstance(model, SVCCV):
            return chosen_kernel_file.put_chosen_machine(model, proof)
        return chosen_file.put_chosen(model, proof)
    if isinstance(model, AnytimePredictor):
        return anytime_file.put_predictor(model)
    check_is_fitted(model)
    if isinstance(model, AnytimeClassifier):
        return anytime_classifier_file.put_classifier(model, proof)
    if isinstance(model, SVC):
        return kernel_file.put_machine(model, proof)
    return linear_file.put_linear(model, proof)


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model that ``save`` wrote; any other bytes are an error.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    LinearSVC, LinearSVCCV, SVC, SVCCV, AnytimeClassifier or AnytimePredictor
        What predicts as the saved one did, to the bit. Its certificates are the saved ones: a claim
        of whoever wrote the file, which ``verify`` checks. The bounds of a predictor are not
        claims: they were computed from the machine in the file.

    Raises
    ------
    ModelFileError
        If the file is damaged, forged, of a newer format, or no model at all.
    """
    return read_model(path)[1]


def read_model(path: str | os.PathLike[str]) -> tuple[Header, Model]:
    """Return the header of a model file and the model, after all checks.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    with reading(path) as file:
        header = read_header(file)
        check_kind(header, MODEL_KINDS)
        names = _TENSORS[header.description["kind"]]
        check_names(header, names(header.description, set(header.tensors)))
        tensors = read_tensors(file, header)
        return header, _model_of(header.description, tensors, header.size)


@contextlib.contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading, and put its path before every complaint about it.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    with naming(path), open_container(path) as file:
        yield file


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put a path before every complaint about the file.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    try:
        yield
    except ModelFileError as error:
        message = f"{os.fspath(path)}: {str(error)[:_LONGEST_MESSAGE]}"
        raise ModelFileError(message) from None


def check_kind(header: Header, kinds: tuple[str, ...]) -> None:
    """Refuse a file whose kind is none of some, or whose format is not known here.

    Parameters
    ----------
    header : Header
        The header of the file.
    kinds : tuple of str
        The kinds that are wanted.
    """
    fields = Fields(header.description, "the description")
    number = fields.integer("format")
    if number != FORMAT:
        message = (
            f"it is of format {number}; this version of hinge reads format {FORMAT}. "
            "Upgrade hinge to read it."
        )
        raise ModelFileError(message)
    kind = fields.text("kind", longest=100)
    if kind not in kinds:
        message = f"it holds a {kind!r}; wanted is {' or '.join(map(repr, kinds))}."
        raise ModelFileError(message)
    if not _VERSION.fullmatch(fields.text("hinge", longest=64)):
        message = "it does not say which version of hinge wrote it."
        raise ModelFileError(message)


def check_names(header: Header, wanted: set[str]) -> None:
    """Refuse a file that has other tensors than its description asks for.

    Parameters
    ----------
    header : Header
        The header of the file.
    wanted : set of str
        The tensors that it must have.
    """
    present = set(header.tensors)
    if present != wanted:
        extra, missing = sorted(present - wanted), sorted(wanted - present)
        shown = [f"without {name[:50]!r}" for name in missing]
        shown += [f"with {name[:50]!r}" for name in extra]
        message = f"its tensors are not those of a {header.description['kind']}: {shown[0]}."
        raise ModelFileError(message)


def _model_of(description: dict[str, Any], tensors: Tensors, size: int) -> Model:
    """Return the model of a description whose digest, format and kind have been looked at.

    Parameters
    ----------
    description : dict
        What the file says of itself.
    tensors : dict of str to ndarray
        All of its tensors, by the names that its kind knows.
    size : int
        Size of the file in bytes, which limits what it may take in memory.
    """
    own = ("format", "hinge", "kind", "tensors", "sha256")
    content = {name: value for name, value in description.items() if name not in own}
    fields = Fields(content, "the description")
    take = _MACHINES.get(description["kind"])
    if take is not None:  # it keeps the tensors themselves
        return cast(Model, take(fields, tensors, Budget((TIMES_THE_FILE - 2) * size + SPARE)))
    # The tensors are as large as the file, and the model has weights of its own: sparse ones take
    # half as much again, and are made from dense ones.
    weights = (3 if description.get("is_sparse") else 1) * tensors["coef"].nbytes
    budget = Budget((TIMES_THE_FILE - 1) * size - weights + SPARE)
    if description["kind"] == chosen_file.KIND:
        return chosen_file.take_chosen(fields, tensors, budget)
    return linear_file.take_linear(fields, tensors, budget)


def _confirm(description: dict[str, Any], tensors: Tensors) -> None:
    """Refuse to write what could not be read again."""
    size = sum(tensor.nbytes for tensor in tensors.values())
    try:
        _model_of(description, tensors, size)
    except ModelFileError as error:
        message = f"this model cannot be saved: {error}"
        raise UnsupportedError(message) from None
