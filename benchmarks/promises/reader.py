"""LIBSVM text of about 200 MB: how fast it is read and written, beside scikit-learn."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import hinge
from benchmarks.suite.datasets.base import archive
from benchmarks.suite.report import new_report
from benchmarks.suite.tables import table

_REPEATS = 15
_PROMISED_SPEEDUP = 10.0  # of one thread, against scikit-learn
_PROMISED_SCALING = 1.7  # of two threads, against one


def main(output: Path, arguments: list[str]) -> int:
    """Measure, write a page, and return 1 if a promise is broken."""
    report = new_report("Reading LIBSVM text", arguments)
    data = archive("mnist")
    pixels = data["X_train"].reshape(len(data["X_train"]), -1)
    X = sp.csr_array(pixels.astype(np.float64) / 255.0)
    y = data["y_train"].astype(np.float64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mnist.svm")
        writing = _shortest(lambda: hinge.data.write_libsvm(path, X, y), 2)
        size = path.stat().st_size / 1e6
        seconds = _reading(path)
        _require_same(path)
        peer_writing = _shortest(lambda: dump_svmlight_file(X, y, f"{path}.peer"), 1)
    peer, one, two = (seconds[name] for name in ("scikit-learn", "one thread", "two threads"))
    kept = peer / one >= _PROMISED_SPEEDUP and one / two >= _PROMISED_SCALING
    rows = [[name, f"{value:.3f}", f"{size / value:.0f}"] for name, value in seconds.items()]
    rows += [
        ["writing: scikit-learn", f"{peer_writing:.3f}", f"{size / peer_writing:.0f}"],
        ["writing: hinge", f"{writing:.3f}", f"{size / writing:.0f}"],
    ]
    text = (
        f"mnist, pixels divided by 255 and written as shortest decimals: {size:.0f} MB, "
        f"{X.nnz} values. Shortest of {_REPEATS} runs in turn (scikit-learn: 2), page cache warm, "
        "wall clock. The arrays are the same bit for bit. "
        f"One thread is {peer / one:.1f} times as fast as scikit-learn (promised "
        f"{_PROMISED_SPEEDUP:g}), two threads {one / two:.2f} times as fast as one (promised "
        f"{_PROMISED_SCALING:g})."
    )
    head = f"# {report.title}\n\n- Command: `{report.command}`\n- Machine: {report.machine}\n"
    lines = table(["reader", "seconds", "MB/s"], rows)
    output.mkdir(parents=True, exist_ok=True)
    (output / "reader.md").write_text(f"{head}- Date: {report.date}\n\n{text}\n\n{lines}\n")
    print(lines)
    print(text)
    return int(not kept)


def _reading(path: Path) -> dict[str, float]:
    """Return the seconds of every way to read the file."""
    read = hinge.data.read_libsvm
    seconds = {"scikit-learn": _shortest(lambda: load_svmlight_file(str(path)), 2)}
    ways: dict[str, Callable[[], Any]] = {
        "one thread": lambda: read(path, n_jobs=1),
        "two threads": lambda: read(path, n_jobs=2),
        "one thread, float32": lambda: read(path, dtype=np.float32),
    }
    # In turn, so that a slow moment of the machine meets them all.
    for _ in range(_REPEATS):
        for name, way in ways.items():
            seconds[name] = min(seconds.get(name, math.inf), _shortest(way, 1))
    return seconds


def _shortest(run: Callable[[], Any], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        spent.append(time.perf_counter() - start)
    return min(spent)


def _require_same(path: Path) -> None:
    """Stop unless both readers give the same arrays."""
    X, y = hinge.data.read_libsvm(path, n_jobs=2)
    other, labels = load_svmlight_file(str(path))
    same = X.data.tobytes() == other.data.tobytes() and np.array_equal(y, labels)
    if not same or (X.indices != other.indices).any() or (X.indptr != other.indptr).any():
        message = "hinge and scikit-learn read different numbers from the same file"
        raise RuntimeError(message)
