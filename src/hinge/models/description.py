"""What a model file says of itself, read without making a model of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from hinge.anytime import AnytimePredictor
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.models.container import Header
from hinge.models.files import read_model


@dataclass(frozen=True)
class ModelDescription:
    """A model file in plain data.

    Parameters
    ----------
    kind : str
        What the file holds: ``"linear-classifier"`` or ``"kernel-classifier"``, with
        ``"chosen-"`` before it if C was chosen by cross-validation and ``"anytime-"`` if it is an
        ``AnytimeClassifier``; or ``"anytime-predictor"``.
    format_version : int
        Version of the file format.
    hinge_version : str
        Version of hinge that wrote it.
    classes : tuple
        The labels.
    n_features : int
        Number of features.
    feature_names : tuple of str or None
        Their names.
    problem : dict
        The objective: loss, penalty, C, intercept and its scale. Empty for a predictor, as are the
        parameters and the certificate.
    parameters : dict
        The constructor parameters of the estimator.
    certificate : dict
        The certificate of the problem with the largest relative gap; NaN and infinities are the
        words nan, inf and -inf.
    statuses : tuple of str
        How the run of each binary problem ended.
    solvers : tuple of str
        Who solved each of them.
    n_rows : int or None
        Rows of the training data, if the file has a proof.
    fingerprint : str or None
        Fingerprint of the training data, if the file has one.
    digest : str
        SHA-256 of the content.
    size : int
        Size of the file in bytes.
    kernel : dict or None
        The kernel with its numbers, if it is a kernel machine.
    n_support : tuple of int
        Support vectors of each class, if it is a kernel machine; of a predictor, of all classes.
    anytime : tuple of str
        What is done for a query before the full evaluation, in sentences, if anything is.
    """

    kind: str
    format_version: int
    hinge_version: str
    classes: tuple[Any, ...]
    n_features: int
    feature_names: tuple[str, ...] | None
    problem: dict[str, Any]
    parameters: dict[str, Any]
    certificate: dict[str, Any]
    statuses: tuple[str, ...]
    solvers: tuple[str, ...]
    n_rows: int | None
    fingerprint: str | None
    digest: str
    size: int
    kernel: dict[str, Any] | None = None
    n_support: tuple[int, ...] = ()
    anytime: tuple[str, ...] = ()

    @property
    def has_proof(self) -> bool:
        """Whether the file has what proves optimality."""
        return self.n_rows is not None


def inspect(path: str | os.PathLike[str]) -> ModelDescription:
    """Read what a model file says of itself, with all the checks of loading it.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    ModelDescription
        Plain data.

    Raises
    ------
    ModelFileError
        If the file is damaged, forged, of a newer format, or no model at all.
    """
    header, model = read_model(path)
    if isinstance(model, AnytimePredictor):
        return _of_predictor(header, model)
    sentences: tuple[str, ...] = ()
    if isinstance(model, AnytimeClassifier):
        sentences = tuple(model.explain().splitlines())
        model = model.estimator_
    said = header.description
    names = getattr(model, "feature_names_in_", None)
    # A kernel machine knows the number of rows in any case; its proof is the rows themselves.
    proof = said["proof"] and {"n_rows": said.get("n_rows"), **said["proof"]}
    proof = proof or {}
    return ModelDescription(
        kind=said["kind"],
        format_version=said["format"],
        hinge_version=said["hinge"],
        classes=_labels(model.classes_),
        n_features=model.n_features_in_,
        feature_names=None if names is None else tuple(names.tolist()),
        problem=said["problem"],
        parameters=said["parameters"],
        certificate=said["certificate"],
        statuses=tuple(solution.status.value for solution in model.solutions_),
        solvers=tuple(solution.solver for solution in model.solutions_),
        n_rows=proof.get("n_rows"),
        fingerprint=proof.get("fingerprint"),
        digest=said["sha256"],
        size=header.size,
        kernel=said.get("kernel"),
        n_support=tuple(np.asarray(getattr(model, "n_support_", ()), dtype=int).tolist()),
        anytime=sentences,
    )


def _of_predictor(header: Header, model: AnytimePredictor) -> ModelDescription:
    """Return what the file of a predictor says, which knows nothing of a training."""
    said = header.description
    return ModelDescription(
        kind=said["kind"],
        format_version=said["format"],
        hinge_version=said["hinge"],
        classes=_labels(model.classes),
        n_features=model.n_features,
        feature_names=None,
        problem={},
        parameters={},
        certificate={},
        statuses=(),
        solvers=(),
        n_rows=None,
        fingerprint=None,
        digest=said["sha256"],
        size=header.size,
        kernel=said["kernel"],
        n_support=(len(model.machine.coefficients),),
        anytime=tuple(model.explain().splitlines()),
    )


def _labels(classes: Any) -> tuple[Any, ...]:
    """Return labels as Python has them; dates, some of which it cannot tell, as NumPy does."""
    return tuple(classes if classes.dtype.kind in "mM" else classes.tolist())
