"""Low-rank factors: accuracy and the proven bound against the rank."""

from __future__ import annotations

import time

import hinge
from benchmarks.kernel import data
from benchmarks.kernel.record import Row
from benchmarks.suite import arrays
from benchmarks.suite.tables import table
from hinge.threads import single_threaded_blas

CASES = (
    ("a9a", None, 1.0, 0.005, (100, 200, 500, 1000, 0.001)),
    ("covtype", 20_000, 10.0, 1.0, (200, 500, 1000, 0.01, 0.003)),
    ("covtype", 200_000, 10.0, 1.0, (0.01,)),
)
_HEADER = ("set", "rows", "asked for", "rank", "trace missing", "seconds", "approximate gap")
_MORE = ("exact gap", "objective", "test accuracy")


def names(quick: bool) -> list[tuple[str, tuple[str, int | None, float, float], float | None]]:
    """Return what is to be measured: a name, the problem, and the rank or tolerance."""
    found = []
    for name, n_rows, C, gamma, asked in CASES[: 1 if quick else None]:
        wanted: tuple[float | None, ...] = asked if n_rows == 200_000 else (None, *asked)
        for approximation in wanted[: 3 if quick else None]:
            label = f"rank | {name} | {n_rows} | {approximation}"
            found.append((label, (name, n_rows, C, gamma), approximation))
    return found


def measure(problem: tuple[str, int | None, float, float], approximation: float | None) -> Row:
    """Return time, gaps and accuracy of a fit on a factor, or of the exact one."""
    name, n_rows, C, gamma = problem
    home = data.folder(name, n_rows, "float64")
    (X, y), (X_test, y_test) = (arrays.read(home / part) for part in ("train", "test"))
    with single_threaded_blas():
        began = time.process_time()
        model = hinge.SVC(C=C, gamma=gamma, approximation=approximation).fit(X, y)
        seconds = time.process_time() - began
        accuracy = model.score(X_test, y_test)
    row: Row = {
        "rows": len(y),
        "seconds": seconds,
        "objective": model.certificate_.primal,
        "exact_gap": model.certificate_.relative_gap,
        "accuracy": accuracy,
    }
    if model.approximations_ is not None and model.approximations_[0] is not None:
        known = model.approximations_[0]
        row |= {
            "rank": known.rank,
            "missing": known.relative_error,
            "gap": known.certificate.relative_gap,
        }
    return row


def section(rows: dict[str, Row]) -> str:
    """Return the part of the page about ranks."""
    own = {name: row for name, row in rows.items() if name.startswith("rank | ")}
    if not own:
        return ""
    text = (
        "\n## Accuracy and bound against the rank\n\nSVC with an RBF kernel over a factor; "
        "*exact gap* is proven against the exact kernel. Seconds are those of the processor, "
        "certificates included.\n\n"
    )
    lines = []
    for name, row in own.items():
        _, which, _, asked = name.split(" | ")
        is_exact = "rank" not in row
        lines.append(
            [
                which,
                str(row["rows"]),
                "exact" if is_exact else asked,
                "-" if is_exact else str(row["rank"]),
                "-" if is_exact else f"{row['missing']:.1e}",
                f"{row['seconds']:.3g}",
                "-" if is_exact else f"{row['gap']:.1e}",
                f"{row['exact_gap']:.1e}",
                f"{row['objective']:.7g}",
                f"{row['accuracy']:.4f}",
            ]
        )
    return text + table([*_HEADER, *_MORE], lines) + "\n"
