"""``hinge inspect``: what a model file says of itself."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any

from hinge.cli._errors import Exit
from hinge.cli._fit import aligned, margin_lines
from hinge.cli._labels import label_json, label_text, listed
from hinge.cli._options import ModelFile, ShownOptions
from hinge.models import ModelDescription
from hinge.models import inspect as describe


@dataclass(frozen=True, kw_only=True)
class InspectSettings(ShownOptions):
    """What ``hinge inspect`` is asked to do."""

    model: ModelFile


def inspect(settings: InspectSettings) -> int:
    """Show what MODEL says of itself; verify finds out whether it is true."""
    found = describe(settings.model)
    data = {
        **dataclasses.asdict(found),
        "classes": [label_json(label) for label in found.classes],
        "has_proof": found.has_proof,
    }
    settings.output().result(aligned(_lines(found)), data)
    return Exit.SOLVED


def _training(found: ModelDescription) -> list[tuple[str, str]]:
    """Return what is known of the training; of a predictor alone nothing is."""
    if not found.problem:
        return [("training", "unknown: the file holds a machine without a certificate")]
    statuses = Counter(found.statuses)
    return [
        ("objective", _objective(found.problem)),
        ("status", ", ".join(f"{count} x {name}" for name, count in statuses.items())),
        ("solver", ", ".join(sorted(set(found.solvers)))),
        *_stated(found),
        ("proof", _proof(found)),
    ]


def _lines(found: ModelDescription) -> list[tuple[str, str]]:
    names = [label_text(label) for label in found.classes]
    lines = [
        ("kind", f"{found.kind}, format {found.format_version}, hinge {found.hinge_version}"),
        ("classes", f"{len(names)}: {listed(names)}"),
        ("features", str(found.n_features)),
    ]
    if found.feature_names is not None:
        lines.append(("names", listed(list(found.feature_names))))
    lines += [*_machine(found), *_training(found)]
    for number, sentence in enumerate(found.anytime):
        lines.append(("anytime" if number == 0 else "", sentence))
    lines += [("digest", f"sha256 {found.digest}"), ("size", f"{found.size:,} bytes")]
    return lines


def _machine(found: ModelDescription) -> list[tuple[str, str]]:
    """Return the kernel and the support vectors of a kernel machine."""
    if found.kernel is None:
        return []
    return [
        ("kernel", _kernel(found.kernel)),
        ("support", f"{sum(found.n_support)} support vectors"),
    ]


def _kernel(kernel: dict[str, Any]) -> str:
    numbers = [
        f"{name} {_kernel(value) if isinstance(value, dict) else _number(value)}"
        for name, value in kernel.items()
        if name not in ("name", "asymmetry") and value is not None
    ]
    return ", ".join([kernel["name"], *numbers])


def _stated(found: ModelDescription) -> list[tuple[str, str]]:
    """Return what the certificate says; a kernel machine is trained to a violation."""
    lines = [("stated gap", f"{_number(found.certificate['relative_gap'])} relative")]
    if found.kernel is not None:
        lines.append(("violation", _number(found.certificate["kkt"])))
    return lines + margin_lines(found.certificate["notes"])


def _objective(problem: dict[str, Any]) -> str:
    """Return the parts of the objective by name; a loss with a parameter shows it."""
    loss = dict(problem["loss"])
    words = [f"loss {loss.pop('name')}", *(f"{name} {value}" for name, value in loss.items())]
    others = [f"{name} {value}" for name, value in problem.items() if name != "loss"]
    return ", ".join(words + others)


def _number(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _proof(found: ModelDescription) -> str:
    if found.kernel is not None and not found.has_proof:
        return "none: verify looks for the support vectors among the rows"
    if found.kernel is not None:
        return f"which of {found.n_rows} rows are support vectors, for verify"
    if not found.has_proof:
        return "none: optimality cannot be verified"
    return f"dual coefficients of {found.n_rows} rows, for verify"
