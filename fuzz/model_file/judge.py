"""What loading some bytes comes to, and whether it is what is promised.

Promised is: ``ModelFileError``, or a model that passes every check. One that is not what was saved
can only come of a file whose digest was made to fit; it predicts finite values or raises a typed
error, and saves and loads again as itself.
"""

from __future__ import annotations

import enum
import time
import tracemalloc
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import hinge
from hinge.anytime import AnytimePredictor
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.kernels import Precomputed
from hinge.models import Checkpoint, load, save
from hinge.rows import Rows

HANG_SECONDS = 1.0
TIMES_THE_FILE = 4
SPARE_BYTES = 64_000_000
MOST_FEATURES = 100_000
STOP = hinge.Stop(gap=1e-6, seconds=0.02)


class Outcome(enum.StrEnum):
    """What came of a file."""

    REJECTED = "rejected"
    SAME = "accepted, the same"
    DIFFERENT = "accepted, different"


class BrokenPromiseError(Exception):
    """Something came of a file that must not."""


@dataclass(frozen=True)
class Verdict:
    """What came of a file, and how long it took."""

    outcome: Outcome
    seconds: float


def judge_model(path: Path, sound: bytes, repaired: bool) -> Verdict:
    """Load a file as a model and use it.

    Parameters
    ----------
    path : path-like
        The file.
    sound : bytes
        The file that it was made from.
    repaired : bool
        Whether its digest was made to fit.
    """
    began = time.perf_counter()
    try:
        model = load(path)
    except hinge.ModelFileError as error:
        _check_message(str(error), path)
        return Verdict(Outcome.REJECTED, time.perf_counter() - began)
    seconds = time.perf_counter() - began
    again = path.with_suffix(".again")
    save(model, again, proof=True)
    content = again.read_bytes()
    if content == sound:
        return Verdict(Outcome.SAME, seconds)
    if not repaired:
        message = "a file whose digest was not repaired loads as something else"
        raise BrokenPromiseError(message)
    load(again)
    if isinstance(model, AnytimePredictor):
        _compare_with_full(model)
    elif isinstance(model, AnytimeClassifier):
        _compare_with_full(model.predictor_)
        _predict(model.estimator_)
    else:
        _predict(model)
    return Verdict(Outcome.DIFFERENT, seconds)


def judge_checkpoint(
    path: Path, problems: list[hinge.Problem], sound: bytes, repaired: bool
) -> Verdict:
    """Load a file as a checkpoint and go on from it.

    Parameters
    ----------
    path : path-like
        The file.
    problems : list of Problem
        The problems of the run.
    sound : bytes
        The file that it was made from.
    repaired : bool
        Whether its digest was made to fit.
    """
    began = time.perf_counter()
    try:
        keeper = Checkpoint(path, resume=True)
        found = [keeper.resumed(number, p, STOP, 0) for number, p in enumerate(problems)]
    except hinge.ModelFileError as error:
        _check_message(str(error), path)
        return Verdict(Outcome.REJECTED, time.perf_counter() - began)
    seconds = time.perf_counter() - began
    keeper.path = path.with_suffix(".again")
    keeper.write()
    if keeper.written and keeper.path.read_bytes() == sound:
        return Verdict(Outcome.SAME, seconds)
    if not repaired:
        message = "a checkpoint whose digest was not repaired loads as something else"
        raise BrokenPromiseError(message)
    for problem, earlier in zip(problems, found, strict=True):
        _go_on(problem, earlier)
    return Verdict(Outcome.DIFFERENT, seconds)


def _go_on(problem: hinge.Problem, earlier: Any) -> None:
    """Go on from what a checkpoint has of a problem; nothing is solved that is not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # numbers that a forger chose
        if isinstance(earlier, hinge.solvers.State):
            earlier = hinge.solve(problem, stop=STOP, resume=earlier)
        elif isinstance(earlier, hinge.Point):
            earlier = hinge.solve(problem, stop=STOP, warm=earlier)
        if not isinstance(earlier, hinge.Solution) or earlier.status is not hinge.Status.SOLVED:
            return
        if not STOP.satisfied_by(hinge.certificates.gap(problem, earlier.point)):
            message = "a forged checkpoint has made something solved"
            raise BrokenPromiseError(message)


def check_memory(path: Path) -> int:
    """Return how many bytes loading a file as a model took at most; too many break a promise.

    Counted are Python's allocations and NumPy's, which is slow: not for every file.

    Parameters
    ----------
    path : path-like
        The file.
    """
    tracemalloc.start()
    try:
        load(path)
    except hinge.ModelFileError:
        pass
    finally:
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    allowed = TIMES_THE_FILE * path.stat().st_size + SPARE_BYTES
    if taken > allowed:
        message = f"loading took {taken} bytes of memory; {allowed} are allowed"
        raise BrokenPromiseError(message)
    return taken


def _check_message(message: str, path: Path) -> None:
    if not message.startswith(f"{path}: ") or len(message) > 2000:
        broken = f"a message does not name its file, or is too long: {message[:300]!r}"
        raise BrokenPromiseError(broken)


def _compare_with_full(model: AnytimePredictor) -> None:
    """Compare the labels of a predictor that somebody made up with those of its machine."""
    if isinstance(model.machine.kernel, Precomputed) and model.n_features > MOST_FEATURES:
        return  # whoever has rows of such a matrix has the memory for them
    X = _queries(model.n_features)
    with np.errstate(all="ignore"):
        try:
            found = model.predict_certified(X)
            full = model.rule.codes(model.machine.values(Rows(X)))
        except hinge.HingeError:
            return  # coefficients so large that decision values overflow
    if not found.decided.all() or not np.array_equal(found.labels, model.classes[full]):
        message = "a loaded predictor has labels that are not those of its machine"
        raise BrokenPromiseError(message)
    model.explain()


def _queries(n_features: int) -> Any:
    """Return a few rows; many features are none that a row has."""
    X: Any = sp.csr_array((7, n_features))  # what a sparse machine says costs it nothing
    if n_features <= MOST_FEATURES:
        X = np.linspace(-2.0, 2.0, X.shape[0] * X.shape[1]).reshape(X.shape)
    return X


def _predict(model: Any) -> None:
    """Use a model that somebody else made up."""
    X = _queries(model.n_features_in_)
    model.__dict__.pop("feature_names_in_", None)  # so that rows need no names
    with np.errstate(all="ignore"):
        try:
            labels, values = model.predict(X), model.decision_function(X)
            settled = model.settled(X) if hasattr(model, "settled") else None
            if np.size(getattr(model, "probA_", ())) and model.probability is True:
                _check_probabilities(model.predict_proba(X))
        except hinge.HingeError:
            return  # weights so large that decision values overflow
    n_classes = len(model.classes_)
    n_columns = 1 if n_classes == 2 else n_classes
    if getattr(model, "decision_function_shape", "ovr") == "ovo":
        n_columns = n_classes * (n_classes - 1) // 2
    if not np.isin(labels, model.classes_).all() or len(labels) != X.shape[0]:
        message = "a loaded model predicts what is no label of its own"
        raise BrokenPromiseError(message)
    if values.size != n_columns * X.shape[0] or not np.isfinite(values).all():
        message = "a loaded model has decision values that are not finite, or too few"
        raise BrokenPromiseError(message)
    if settled is not None and (settled.shape != (X.shape[0],) or settled.dtype != bool):
        message = "a loaded model does not say of every row whether it is settled"
        raise BrokenPromiseError(message)


def _check_probabilities(values: Any) -> None:
    if not np.isfinite(values).all() or values.min() < 0.0 or values.max() > 1.0 + 1e-9:
        message = "a loaded model has probabilities that are none"
        raise BrokenPromiseError(message)
