"""Memory of a fit beyond the caller's arrays, each fit in a process of its own.

Peak resident memory after a fit of 100 rows, against what is promised: 96 bytes for each row, 64
for each feature and 16 MB, and 8 bytes for each row and class for the dual coefficients.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import hinge
from benchmarks.suite.report import new_report
from benchmarks.suite.resident import peak_bytes, reset_peak, resident_bytes
from benchmarks.suite.tables import table

_ROWS, _FEATURES, _WARM_UP_ROWS = 400_000, 20, 100
_PER_ROW, _PER_FEATURE, _FIXED, _PER_COEFFICIENT = 96, 64, 16e6, 8
_LOSSES = ("hinge", "squared_hinge")
_INTERCEPTS = (None, "free", "none")


@dataclass(frozen=True)
class Case:
    """One fit to measure.

    Parameters
    ----------
    loss : str
        Its loss.
    intercept : str or None
        Its intercept; None is the default.
    weighted : bool
        Whether there are sample weights.
    n_classes : int
        How many classes there are.
    """

    loss: str
    intercept: str | None
    weighted: bool
    n_classes: int

    @property
    def promised_bytes(self) -> float:
        """What the fit may use."""
        problems = 1 if self.n_classes == 2 else self.n_classes
        per_row = _PER_ROW + problems * _PER_COEFFICIENT
        return per_row * _ROWS + _PER_FEATURE * _FEATURES + _FIXED


def main(output: Path, arguments: list[str]) -> int:
    """Measure, write a page, and return 1 if the promise is broken."""
    report = new_report("Memory of a fit", arguments)
    rows, broken = [], 0
    cases = [Case(*parts, 2) for parts in itertools.product(_LOSSES, _INTERCEPTS, (False, True))]
    cases.append(Case("hinge", "free", False, 4))
    for case in cases:
        used = _in_own_process(case)
        broken += used > case.promised_bytes
        rows.append(
            [
                *(str(value) for value in asdict(case).values()),
                f"{used / 1e6:.1f}",
                f"{case.promised_bytes / 1e6:.1f}",
                f"{used / _ROWS:.0f}",
            ]
        )
        print("  ".join(f"{cell:14s}" for cell in rows[-1]), flush=True)
    header = ["loss", "intercept", "weights", "classes", "peak MB", "promised MB", "bytes per row"]
    text = (
        f"`hinge.LinearSVC(C=0.1).fit` on {_ROWS} rows of {_FEATURES} features, float64: peak "
        "resident memory beyond the caller's arrays. The last column is all of it, fixed part too."
    )
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    output.mkdir(parents=True, exist_ok=True)
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, rows)}\n"
    (output / "memory.md").write_text(page)
    print(f"{broken} of {len(rows)} fits broke the promise; wrote {output / 'memory.md'}")
    return int(broken > 0)


def _in_own_process(case: Case) -> int:
    """Return the bytes that the fit takes in a new process."""
    command = [sys.executable, "-m", __name__, json.dumps(asdict(case))]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measured_bytes(case: Case) -> int:
    """Return the peak of resident memory that one fit adds in this process.

    Parameters
    ----------
    case : Case
        The fit.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(_ROWS, _FEATURES))
    values = X @ rng.normal(size=(_FEATURES, case.n_classes)) + rng.normal(
        size=(_ROWS, case.n_classes)
    )
    y = np.argmax(values, axis=1)
    weights = rng.exponential(size=_ROWS) if case.weighted else None
    del values
    few: Any = slice(_WARM_UP_ROWS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether it converges is not the question here
        _fit(case, X[few], y[few], None if weights is None else weights[few])
        before = resident_bytes()
        reset_peak()
        model = _fit(case, X, y, weights)
        peak = peak_bytes()
    del model
    return peak - before


def _fit(case: Case, X: Any, y: Any, weights: Any) -> Any:
    model = hinge.LinearSVC(loss=case.loss, intercept=case.intercept, C=0.1, tol=1e-3)
    return model.fit(X, y, weights)


if __name__ == "__main__":
    print(measured_bytes(Case(**json.loads(sys.argv[1]))))
