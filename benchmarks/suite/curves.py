"""Time-to-gap curves: one panel per task, one line per method."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from benchmarks.suite.record import frontier
from benchmarks.suite.report import Report

_COLUMNS = 3
_MOST_LABELS = 12
_FLOOR = 1e-9  # what lies below is drawn here: a gap of zero has no place on a logarithmic axis


def draw(report: Report, path: Path) -> bool:
    """Save the picture; return False if matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    count = len(report.tasks)
    n_rows = -(-count // _COLUMNS)
    figure, axes = pyplot.subplots(
        n_rows, _COLUMNS, figsize=(5.0 * _COLUMNS, 4.0 * n_rows), squeeze=False
    )
    lines: dict[str, Any] = {}
    for panel, task in zip(axes.flat, report.tasks, strict=False):
        lines |= _panel(panel, report, task["title"])
    for panel in axes.flat[count:]:
        panel.axis("off")
    figure.legend(lines.values(), lines.keys(), loc="lower center", ncol=5, frameon=False)
    legend_inches = 0.7
    figure.tight_layout(rect=(0.0, legend_inches / (4.0 * n_rows), 1.0, 1.0))
    figure.savefig(path, dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return True


def _panel(panel: Any, report: Report, title: str) -> dict[str, Any]:
    """Draw one task and return its lines by method."""
    lines = {}
    names = [method["name"] for method in report.methods]
    for number, name in enumerate(names):
        best = frontier(report.of(title, name))
        if not best:
            continue
        seconds, gaps = zip(*best, strict=True)
        floored = [max(gap, _FLOOR) for gap in gaps]
        width = 2.5 if name == report.ours else 1.2
        (lines[name],) = panel.loglog(
            seconds, floored, marker="o", markersize=3, linewidth=width, color=f"C{number % 10}"
        )
    panel.set(title=title, xlabel="seconds of fit", ylabel="relative gap")
    _label_seconds(panel.xaxis)
    panel.grid(alpha=0.3)
    return lines


def _label_seconds(axis: Any) -> None:
    """Put plain numbers at 1, 2 and 5 of every decade, and none in between.

    Left alone, an axis that spans about one decade is labelled at every one of its marks, and the
    labels run into each other.
    """
    ticker = importlib.import_module("matplotlib.ticker")
    axis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0), numticks=_MOST_LABELS))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_formatter(ticker.NullFormatter())
