"""Ctrl-C at random instants of a long fit: how long until the fit answers."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import hinge
from benchmarks.suite import arrays
from benchmarks.suite.datasets import cached_arrays
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

_INSTANTS = 50
_LONGEST_WAIT_SECONDS = 2.0
_PROMISED_SECONDS = 0.2
_LONG_FITS = ("mnist", "covtype")


def main(output: Path, arguments: list[str]) -> int:
    """Measure, write a page, and return 1 if the promise is broken."""
    report = new_report(f"Ctrl-C at {_INSTANTS} random instants of a long fit", arguments)
    rows = []
    slowest = 0.0
    for name in _LONG_FITS:
        X, y = arrays.read(cached_arrays(name, "float64"))
        draw = random.Random(0)
        waits = [draw.uniform(0.0, _LONGEST_WAIT_SECONDS) for _ in range(_INSTANTS)]
        latencies = np.asarray([_latency(X, y, wait) for wait in waits])
        median, high, most = (float(np.quantile(latencies, q)) for q in (0.5, 0.99, 1.0))
        slowest = max(slowest, high)
        rows.append([name, *(f"{1000.0 * value:.0f}" for value in (median, high, most))])
        print("  ".join(f"{cell:12s}" for cell in rows[-1]), flush=True)
    text = (
        "`hinge.LinearSVC(C=1, tol=1e-12).fit` on the whole set; milliseconds from the signal "
        "until `fit` raises with its best solution. Instants are uniform over the first "
        f"{_LONGEST_WAIT_SECONDS:g} s, validation of the arrays included."
    )
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    lines = table(["data", "median", "99 %", "slowest"], rows)
    output.mkdir(parents=True, exist_ok=True)
    (output / "interrupts.md").write_text(f"{head}- Date: {report.date}\n\n{text}\n\n{lines}\n")
    print(f"wrote {output / 'interrupts.md'}")
    return int(slowest > _PROMISED_SECONDS)


def _latency(X: Any, y: Any, wait: float) -> float:
    """Return the seconds from a signal, sent after a wait, to the end of the fit."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(wait, send)
    model = hinge.LinearSVC(loss="hinge", C=1.0, tol=1e-12, max_iter=10**9)
    timer.start()
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
    message = f"the fit was over before the signal came after {wait:.2f} s; it must be longer"
    raise RuntimeError(message)
