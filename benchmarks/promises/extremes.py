"""C from 1e-10 to 1e10: every run ends within its limit, and says ``solved`` only if it is.

``solved`` is compared with a gap that is recomputed here, from the raw data and the returned point.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

_DATASETS = ("a9a", "reuters_moneyfx", "usps")
_EXPONENTS = range(-10, 11, 2)
_TARGET = 1e-3
_GRACE_SECONDS = 0.2  # a run may end this much after its limit, plus its final certificate


def main(output: Path, arguments: list[str], seconds: float = 5.0) -> int:
    """Measure, write a page, and return 1 if a promise is broken."""
    report = new_report("C from 1e-10 to 1e10", arguments)
    rows: list[list[str]] = []
    broken = 0
    for name in _DATASETS:
        X, y = arrays.read(cached_arrays(name, "float64"))
        for exponent in _EXPONENTS:
            cells, kept = _one(X, y, 10.0**exponent, seconds)
            broken += not kept
            rows.append([name, f"1e{exponent}", *cells])
            print("  ".join(f"{cell:16s}" for cell in rows[-1]), flush=True)
    header = ["data", "C", "status", "recomputed gap", "seconds", "of these certificates", "kept"]
    text = (
        f"Target: relative gap {_TARGET:g}, time limit {seconds:g} s, augmented intercept. *kept*: "
        f"the run ended within the limit + {_GRACE_SECONDS:g} s + its certificates, and says "
        "`solved` exactly if the recomputed gap is at most the target."
    )
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    page = f"{head}- Date: {report.date}\n\n{text}\n\n{table(header, rows)}\n"
    output.mkdir(parents=True, exist_ok=True)
    (output / "extremes.md").write_text(page)
    print(f"{broken} of {len(rows)} runs broke a promise; wrote {output / 'extremes.md'}")
    return int(broken > 0)


def _one(X: Any, y: Any, C: float, seconds: float) -> tuple[list[str], bool]:
    """Solve one problem and return its row, and whether the promises were kept."""
    problem = hinge.Problem(X, y, C=C, intercept="augmented")
    start = time.perf_counter()
    solution = hinge.solve(problem, stop=hinge.Stop(gap=_TARGET, seconds=seconds))
    spent = time.perf_counter() - start
    gap = hinge.certificates.gap(problem, solution.point, region=False).relative_gap
    is_solved = solution.status is hinge.Status.SOLVED
    in_time = spent <= seconds + _GRACE_SECONDS + solution.certificate_seconds
    kept = in_time and is_solved == (gap <= _TARGET)
    row = [
        str(solution.status),
        f"{gap:.2e}",
        f"{spent:.3f}",
        f"{solution.certificate_seconds:.3f}",
    ]
    return [*row, "yes" if kept else "NO"], kept
