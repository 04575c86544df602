"""``hinge verify``: whether a model file tells the truth about its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hinge.cli._data import Reader
from hinge.cli._errors import Exit
from hinge.cli._fit import labels_data, problem_labels
from hinge.cli._labels import plain
from hinge.cli._matching import fitted_to, index_base, labels_like, unnamed_rows
from hinge.cli._models import is_liblinear, is_libsvm, load_any
from hinge.cli._options import DataFile, ModelFile, ReadingOptions, Threads
from hinge.cli._progress import waiting
from hinge.cli._words import in_options
from hinge.estimators.svc import SVC
from hinge.models import Optimality, Verification
from hinge.models import verify as recompute
from hinge.result import Certificate


@dataclass(frozen=True, kw_only=True)
class VerifySettings(ReadingOptions):
    """What ``hinge verify`` is asked to do."""

    model: ModelFile
    data: DataFile
    threads: Threads = -1


def verify(settings: VerifySettings) -> int:
    """Recompute the certificate of MODEL on its training DATA and compare it with what it says.

    Exit code 0: what the file says is true and the gap that it was trained for (of a kernel
    machine: the violation) is proven again; 3: true, but that is not proven; 1: it says what the
    data do not confirm.
    """
    output = settings.output()
    model = load_any(settings.model, "MODEL DATA")
    if is_liblinear(settings.model):
        output.note(
            f"{plain(str(settings.model))}: C is not in the file; taken as 1, and the intercept as "
            "augmented; import-model takes others with --C and --intercept."
        )
    if is_libsvm(settings.model):
        output.note(
            f"{plain(str(settings.model))}: C is not in the file; taken as {model.C:g}, its "
            "largest coefficient; import-model takes another with --C."
        )
    model.n_jobs = settings.threads
    reader = Reader(settings, output, settings.threads, index_base(model, settings))
    data = reader.read(settings.data)
    data = fitted_to(model, data, output)
    labels = labels_like(model.classes_, data.y, data.source)
    with waiting(output, "recomputing the certificate"), unnamed_rows():
        found = recompute(model, data.X, labels)
    is_machine = isinstance(model, SVC)
    code = exit_code(found, model.tol, found.violation if is_machine else found.relative_gap)
    sentences = [in_options(line) for line in found.sentences()]
    if code is Exit.NOT_CERTIFIED and found.optimality is Optimality.PROVEN:
        what = f"The violation of {found.violation:.3g}" if is_machine else "The gap"
        sentences.insert(
            1,
            f"{what} is larger than the {model.tol:g} that the model was to be trained to, so it "
            "is not certified.",
        )
    plain_data = _plain(found, problem_labels(model))
    data_found = {"exit_code": int(code), **plain_data, "sentences": sentences}
    output.result("\n".join(sentences), data_found)
    return code


def exit_code(found: Verification, tolerance: float, reached: float) -> Exit:
    """Return what the command returns for a verification.

    Parameters
    ----------
    found : Verification
        What was recomputed.
    tolerance : float
        What the model was to be trained to.
    reached : float
        What the data say that it has reached: its relative gap, or its violation.
    """
    if not found.truthful:
        return Exit.FAILED
    # A gap that is proven but large proves nothing that was asked for; NaN is never small.
    return Exit.SOLVED if reached <= tolerance else Exit.NOT_CERTIFIED


def _plain(found: Verification, labels: list[tuple[Any, ...]]) -> dict[str, Any]:
    return {
        "truthful": found.truthful,
        "optimality": str(found.optimality),
        "same_data": found.same_data,
        "rows": found.n_rows,
        "objective": found.primal,
        "relative_gap": found.relative_gap,
        "violation": found.violation,
        "problems": [
            {
                **labels_data(label),
                "truthful": problem.truthful,
                "stated": _figures(problem.stated),
                "recomputed": _figures(problem.recomputed),
                "differences": list(problem.differences),
            }
            for label, problem in zip(labels, found.problems, strict=True)
        ],
    }


def _figures(certificate: Certificate) -> dict[str, float]:
    names = ("primal", "dual", "gap", "relative_gap", "kkt")
    return {name: float(getattr(certificate, name)) for name in names}
