"""Low-rank factors: accuracy and the proven bound against the rank."""

from __future__ import annotations

import time

import hinge
from benchmarks.kernel import data
from benchmarks.kernel.record import Row
from benchmarks.suite import arrays
from benchmarks.suite.tables import table
from hinge.threads import single_threaded_blas

FINISH = "finished exactly"
OLDER = " (older)"  # after the name of a row that is of an earlier run
# Rows, C, gamma, and what is asked for: None is the exact machine, a text goes on to it.
CASES: tuple[tuple[str, int | None, float, float, tuple[float | str | None, ...]], ...] = (
    ("a9a", None, 1.0, 0.005, (None, 100, 200, 500, 1000, 0.001, FINISH)),
    ("covtype", 12_500, 10.0, 1.0, (None,)),
    ("covtype", 20_000, 10.0, 1.0, (None, 200, 500, 1000, 0.012, 0.01, 0.005, 0.004, 0.003)),
    ("covtype", 25_000, 10.0, 1.0, (None, 0.004)),
    ("covtype", 50_000, 10.0, 1.0, (None, 0.012, 0.004)),
    # From here on a tolerance is stricter where coefficients are.
    ("covtype", 100_000, 10.0, 1.0, (None, 0.03, 0.012)),
    ("covtype", 200_000, 10.0, 1.0, (None, 0.03, 0.012)),
)
_FINISH_RANK = 200  # of the factor that an exact finish goes on from
_HEADER = ("set", "rows", "asked for", "rank", "trace missing", "seconds", "approximate gap")
_MORE = ("exact gap", "objective", "test accuracy")


Asked = float | str | None


def names(quick: bool) -> list[tuple[str, tuple[str, int | None, float, float], Asked]]:
    """Return what is to be measured: a name, the problem, and the rank or tolerance."""
    return [
        (f"rank | {name} | {n_rows} | {asked}", (name, n_rows, C, gamma), asked)
        for name, n_rows, C, gamma, wanted in CASES[: 1 if quick else None]
        for asked in wanted[: 3 if quick else None]
    ]


def measure(problem: tuple[str, int | None, float, float], asked: Asked) -> Row:
    """Return time, gaps and accuracy of a fit on a factor, or of the exact one."""
    name, n_rows, C, gamma = problem
    home = data.folder(name, n_rows, "float64")
    (X, y), (X_test, y_test) = (arrays.read(home / part) for part in ("train", "test"))
    finish = isinstance(asked, str)
    approximation = _FINISH_RANK if isinstance(asked, str) else asked
    model = hinge.SVC(C=C, gamma=gamma, approximation=approximation, exact_finish=finish)
    with single_threaded_blas():
        began = time.process_time()
        model.fit(X, y)
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


def section(rows: dict[str, Row], newest: str) -> str:
    """Return the part of the page about ranks."""
    own = {name: rows[name] for name, _, _ in names(quick=False) if name in rows}
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
                which + ("" if row.get("date") == newest else OLDER),
                str(row["rows"]),
                "exact" if asked == "None" else asked,
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
