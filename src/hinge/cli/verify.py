"""``hinge verify``: whether a model file tells the truth about its training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hinge.cli._data import Reader, fitted_to, labels_like, unnamed_rows
from hinge.cli._errors import Exit
from hinge.cli._labels import label_json
from hinge.cli._models import load_any
from hinge.cli._options import DataFile, ModelFile, ReadingOptions, Threads
from hinge.cli._progress import waiting
from hinge.cli._words import in_options
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

    Exit code 0: what the file says is true and its optimality is proven again; 3: true, but the
    file has no proof; 1: it says what the data do not confirm.
    """
    output = settings.output()
    model = load_any(settings.model)
    data = Reader(settings, output, settings.threads).read(settings.data)
    data = fitted_to(model, data, output)
    labels = labels_like(model.classes_, data.y, data.source)
    with waiting(output, "recomputing the certificate"), unnamed_rows():
        found = recompute(model, data.X, labels)
    code = exit_code(found)
    text = "\n".join(in_options(line) for line in found.sentences())
    output.result(text, {"exit_code": int(code), **_plain(found)})
    return code


def exit_code(found: Verification) -> Exit:
    """Return what the command returns for a verification.

    Parameters
    ----------
    found : Verification
        What was recomputed.
    """
    if not found.truthful:
        return Exit.FAILED
    return Exit.SOLVED if found.optimality is Optimality.PROVEN else Exit.NOT_CERTIFIED


def _plain(found: Verification) -> dict[str, Any]:
    return {
        "truthful": found.truthful,
        "optimality": str(found.optimality),
        "same_data": found.same_data,
        "rows": found.n_rows,
        "objective": found.primal,
        "relative_gap": found.relative_gap,
        "problems": [
            {
                "positive_class": label_json(problem.label),
                "truthful": problem.truthful,
                "stated": _figures(problem.stated),
                "recomputed": _figures(problem.recomputed),
                "differences": list(problem.differences),
            }
            for problem in found.problems
        ],
        "sentences": [in_options(line) for line in found.sentences()],
    }


def _figures(certificate: Certificate) -> dict[str, float]:
    names = ("primal", "dual", "gap", "relative_gap", "kkt")
    return {name: float(getattr(certificate, name)) for name in names}
