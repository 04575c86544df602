"""Training as commands do it: with a live display, kept through Ctrl-C, and told in one summary."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from hinge.certificates.hard_margin import MARGIN
from hinge.cli._checkpoints import CheckpointPlan, checkpoints
from hinge.cli._console import Output
from hinge.cli._errors import Exit
from hinge.cli._kernel import estimator
from hinge.cli._labels import label_json, label_text, listed, plain
from hinge.cli._matching import unnamed_rows
from hinge.cli._progress import Size, Target, duration, fit_display
from hinge.cli._stopping import ended_by_termination
from hinge.cli._words import in_options
from hinge.data import Dataset
from hinge.errors import Interrupted
from hinge.estimators._kernel_machine import is_against_rest
from hinge.estimators._progress import GAP, VIOLATION
from hinge.estimators.linear_svc import LinearSVC
from hinge.estimators.svc import SVC
from hinge.models.kernel_machine import pairs
from hinge.result import Certificate, Solution, Status
from hinge.threads import thread_count


@dataclass(frozen=True)
class Fit:
    """A model that was just trained.

    Parameters
    ----------
    model : LinearSVC or SVC
        The model, fitted even if training was interrupted.
    data : Dataset
        What it was trained on.
    seconds : float
        How long training took.
    interrupted : bool
        Whether Ctrl-C ended it.
    warnings : tuple of str
        What the estimator warned of, in the words of the command line.
    """

    model: LinearSVC | SVC
    data: Dataset
    seconds: float
    interrupted: bool = False
    warnings: tuple[str, ...] = field(default=())

    @property
    def is_solved(self) -> bool:
        """Whether every class reached its tolerance, recomputed."""
        return all(solution.status is Status.SOLVED for solution in self.model.solutions_)

    @property
    def status(self) -> Status:
        """How training ended: the status of the worst class that is not solved."""
        if self.interrupted and not self.is_solved:
            return Status.INTERRUPTED
        unsolved = [s for s in self.model.solutions_ if s.status is not Status.SOLVED]
        return unsolved[0].status if unsolved else Status.SOLVED

    @property
    def exit_code(self) -> Exit:
        """What the command returns."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.SOLVED if self.is_solved else Exit.NOT_CERTIFIED

    @cached_property
    def open_labels(self) -> int | None:
        """How many training labels more training could change; None if nothing is known of that.

        Takes as long as predicting all rows, so it is computed once.
        """
        proven = all(s.certificate.relative_gap < 1.0 for s in self.model.solutions_)
        if self.interrupted or not proven or isinstance(self.model, SVC):
            return None
        with unnamed_rows():
            return int(np.count_nonzero(~self.model.settled(self.data.X)))


def fit(
    parameters: dict[str, Any],
    data: Dataset,
    output: Output,
    checkpoint: CheckpointPlan | None = None,
) -> Fit:
    """Train a machine.

    Parameters
    ----------
    parameters : dict
        Of ``LinearSVC`` or, if "kernel" is one of them, of ``SVC``.
    data : Dataset
        Rows and labels.
    output : Output
        Where progress and warnings go.
    checkpoint : CheckpointPlan or None, default=None
        Where to write the state of the fit, and whether to go on from it.

    Returns
    -------
    Fit
        Also after one Ctrl-C; a second one raises.
    """
    model = estimator(parameters)
    is_linear = isinstance(model, LinearSVC)
    n_classes = len(np.unique(np.asarray(data.y)))
    X: Any = data.X
    stored = X.nnz if sp.issparse(X) else X.size
    is_of_pairs = isinstance(model, SVC) and model.multiclass != "ovr"
    n_problems = n_classes * (n_classes - 1) // 2 if is_of_pairs else n_classes
    unit = "pair" if is_of_pairs else "class"
    size = Size(X.shape[0], int(stored), 1 if n_classes <= 2 else n_problems, unit)
    measure = GAP if is_linear else VIOLATION
    threads = thread_count(model.n_jobs)
    began = time.perf_counter()
    interrupted = False
    with warnings.catch_warnings(record=True) as caught, ended_by_termination():
        warnings.simplefilter("always", ConvergenceWarning)
        warnings.filterwarnings("ignore", "probability is deprecated", FutureWarning)
        try:
            with (
                fit_display(
                    output, size, Target(measure, model.tol, model.time_limit), threads
                ) as display,
                checkpoints(checkpoint, display, output) as callback,
            ):
                model.set_params(callback=callback).fit(data.X, data.y)
        except Interrupted:
            interrupted = True
        finally:
            model.set_params(callback=None)
    seconds = time.perf_counter() - began
    if data.feature_names is not None:
        model.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
    if data.index_base is not None:
        model.index_base_ = data.index_base
    name = f"{type(model).__name__} "
    messages = [str(warning.message).removeprefix(name) for warning in caught]
    named = _called_in_messages(model)
    told = tuple(f"training {in_options(message, named)}" for message in messages)
    for text in told:
        output.warning(text)
    return Fit(model, data, seconds, interrupted, told)


def summary(done: Fit, path: Path) -> str:
    """Return what to tell the user of a fit, as aligned lines.

    Parameters
    ----------
    done : Fit
        The fit.
    path : Path
        The model file that was written.

    Returns
    -------
    str
        A name and a text on each line.
    """
    model, X = done.model, done.data.X
    certificate = model.certificate_
    classes = [label_text(label) for label in model.classes_]
    lines = [
        ("data", f"{X.shape[0]} rows, {X.shape[1]} features"),
        ("classes", f"{len(classes)}: {listed(classes)}"),
        ("status", f"{done.status.value} after {duration(done.seconds)}"),
    ]
    if len(model.solutions_) > 1:
        lines.append((f"worst {_unit(model)}", _worst(model)))
    of_class = f", of the worst {_unit(model)}" if len(model.solutions_) > 1 else ""
    lines += _proven(certificate, model, of_class)
    if isinstance(model, SVC):
        count = f"{int(np.sum(model.n_support_))} of {X.shape[0]}"
        lines.append(("support", f"{count} rows are support vectors"))
    if done.open_labels is not None:
        count = f"{done.open_labels} of {X.shape[0]}"
        text = f"at most {count} training labels can change by more training"
        lines.append(("open labels", text))
    lines.append(("model", f"{path} ({path.stat().st_size:,} bytes)"))
    return aligned(lines)


def _proven(
    certificate: Certificate, model: LinearSVC | SVC, of_class: str
) -> list[tuple[str, str]]:
    """Return the lines on what is proven, or the reason why nothing is."""
    tolerance = model.tol
    if math.isnan(certificate.primal):
        return [("proven", in_options("; ".join(certificate.notes)))]
    if isinstance(model, SVC):
        lines = [("objective", f"{certificate.primal:.10g}{of_class}")]
        if math.isfinite(certificate.gap):
            lines.append(("proven", f"at least {certificate.primal - certificate.gap:.10g}"))
            lines.append(("gap", f"{certificate.relative_gap:.2g} relative"))
        else:
            lines.append(("proven", in_options("; ".join(certificate.notes))))
        asked = f"{tolerance:g} asked for"
        return [*lines, ("violation", f"{certificate.kkt:.2g} of the conditions, {asked}")]
    return [
        ("objective", f"{certificate.primal:.10g}{of_class}"),
        ("proven", f"at least {certificate.primal - certificate.gap:.10g}"),
        ("gap", f"{certificate.relative_gap:.2g} relative, {tolerance:g} asked for"),
        *margin_lines(certificate.notes),
    ]


def margin_lines(notes: Iterable[str]) -> list[tuple[str, str]]:
    """Return a line on the margin, which certificates of hard margins have a note on.

    Parameters
    ----------
    notes : iterable of str
        Notes of a certificate.
    """
    return [("margin", note.removeprefix(MARGIN)) for note in notes if note.startswith(MARGIN)]


def tell_interruption(done: Fit, path: Path, output: Output) -> None:
    """Say what Ctrl-C has ended and where the model is.

    Parameters
    ----------
    done : Fit
        The fit.
    path : Path
        The model file that was written.
    output : Output
        Where it is said.
    """
    if done.interrupted:
        output.warning(
            f"training was interrupted after {duration(done.seconds)}; the best model found until "
            f"then was saved as {plain(str(path))}."
        )


def _worst(model: LinearSVC | SVC) -> str:
    unsolved = sum(s.status is not Status.SOLVED for s in model.solutions_)
    solved = len(model.solutions_) - unsolved
    names = " and ".join(label_text(label) for label in problem_labels(model)[_worst_number(model)])
    return f"{names}; {solved} of {len(model.solutions_)} are solved"


def _worst_number(model: LinearSVC | SVC) -> int:
    """Return the problem of which least is proven."""
    return next(k for k, s in enumerate(model.solutions_) if s is model.solution_)


def _unit(model: LinearSVC | SVC) -> str:
    return "class" if len(problem_labels(model)[0]) == 1 else "pair"


def _called_in_messages(model: LinearSVC | SVC) -> str:
    """Return how a message calls the worst problem, whatever the names of its classes are."""
    labels = problem_labels(model)[_worst_number(model)]
    if isinstance(model, SVC) and len(labels) == 2:
        return f"{labels[0]!s} and {labels[1]!s}"
    return f"class {model.classes_[_worst_number(model)]!s}"


def problem_labels(model: LinearSVC | SVC) -> list[tuple[Any, ...]]:
    """Return what each problem of a model is about: its positive class, or its two classes.

    Parameters
    ----------
    model : LinearSVC or SVC
        A fitted model.
    """
    classes = list(model.classes_)
    if len(classes) == 2:
        return [(classes[1],)]
    if isinstance(model, SVC) and not is_against_rest(model.dual_coef_, len(classes)):
        return [(classes[i], classes[j]) for i, j in pairs(len(classes))]
    return [(label,) for label in classes]


def aligned(lines: list[tuple[str, str]]) -> str:
    """Return pairs of a name and a text as lines with the texts in one column.

    Parameters
    ----------
    lines : list of tuple
        Names and texts.
    """
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:{width}}{plain(text)}" for name, text in lines)


def fit_data(done: Fit) -> dict[str, Any]:
    """Return what there is to say of a fit, for ``--json``.

    Parameters
    ----------
    done : Fit
        The fit.

    Returns
    -------
    dict
        Plain data.
    """
    model, X = done.model, done.data.X
    return {
        "status": done.status.value,
        "exit_code": int(done.exit_code),
        "rows": int(X.shape[0]),
        "features": int(X.shape[1]),
        "classes": [label_json(label) for label in model.classes_],
        "seconds": done.seconds,
        "relative_gap": float(model.certificate_.relative_gap),
        "violation": float(model.certificate_.kkt),
        "tolerance": float(model.tol),
        "open_labels": done.open_labels,
        "support_vectors": int(np.sum(model.n_support_)) if isinstance(model, SVC) else None,
        "problems": [
            {**labels_data(labels), **_solution_data(solution)}
            for labels, solution in zip(problem_labels(model), model.solutions_, strict=True)
        ],
        "notes": list(done.data.notes),
        "warnings": list(done.warnings),
    }


def labels_data(labels: tuple[Any, ...]) -> dict[str, Any]:
    """Return what a problem is about, for ``--json``.

    Parameters
    ----------
    labels : tuple
        Its positive class, or its two classes.
    """
    if len(labels) == 1:
        return {"positive_class": label_json(labels[0])}
    return {"classes": [label_json(label) for label in labels]}


def _solution_data(solution: Solution) -> dict[str, Any]:
    certificate = solution.certificate
    return {
        "status": solution.status.value,
        "objective": float(certificate.primal),
        "lower_bound": float(certificate.primal - certificate.gap),
        "gap": float(certificate.gap),
        "relative_gap": float(certificate.relative_gap),
        "violation": float(certificate.kkt),
        "solver": solution.solver,
        "steps": solution.steps,
        "seconds": solution.seconds,
    }
