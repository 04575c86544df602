"""Pictures of the record: Figure 3, rows examined along a run, and speed-ups."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.bounds import descent, sampled
from benchmarks.bounds.gaussians import COUNT, open_points
from benchmarks.bounds.record import Record
from benchmarks.bounds.sets import find_set

_DARK, _LIGHT, _GREY = "#0b3c6f", "#d98200", "0.8"
_TICKS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
_POINTS = 6000  # of the scatter plots


def draw(record: Record, folder: Path, stem: str) -> list[str]:
    """Save the pictures that the record has data for; return their file names."""
    if importlib.util.find_spec("matplotlib") is None:
        return []
    importlib.import_module("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    names = []
    for kind, table, function in (
        ("gaussians", "figure3", _gaussians),
        ("examined", "table2", _examined),
        ("speedups", "table2", _speedups),
    ):
        if record.rows(table):
            figure = function(pyplot, record)
            names.append(f"{stem}-{kind}.png")
            figure.savefig(folder / names[-1], dpi=110, metadata={"Software": None})
            pyplot.close(figure)
    return names


def _gaussians(pyplot: Any, record: Record) -> Any:
    X, y, w, is_open = open_points(COUNT)
    picks = np.random.default_rng(3).permutation(len(X))[:_POINTS]
    figure, axes = pyplot.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
    for label, colour in ((-1.0, _DARK), (1.0, _LIGHT)):
        shown = picks[y[picks] == label]
        axes[0].scatter(*X[shown].T, s=3, color=colour, alpha=0.5, linewidths=0)
        axes[1].scatter(*X[shown[~is_open[shown]]].T, s=3, color=_GREY, linewidths=0)
        axes[1].scatter(*X[shown[is_open[shown]]].T, s=3, color=colour, linewidths=0)
    for axis, plane in ((axes[0], np.ones(2)), (axes[1], w)):
        axis.axline((0.0, 0.0), slope=-plane[0] / plane[1], color="black", linewidth=1)
        axis.set(xlim=(-5, 5), ylim=(-5, 5), aspect="equal")
    axes[0].set_title("two Gaussians and w = (1, 1)")
    axes[1].set_title(f"left open after noise of 0.1: {is_open.mean():.1%}")
    rows = list(record.rows("figure3").values())
    for bound in rows[0]["examined"]:
        # None at all has no place on a logarithmic axis: it is drawn as half a point.
        shares = [100.0 * max(row["examined"][bound], 0.5) / row["n"] for row in rows]
        axes[2].plot([row["noise"] for row in rows], shares, "o-", markersize=4, label=bound)
    axes[2].set(xscale="log", yscale="log", xlabel="noise", ylabel="% of points examined")
    axes[2].legend(frameon=False)
    axes[2].grid(color="0.92")
    return figure


def _last_rows(record: Record) -> dict[str, dict[str, Any]]:
    """Return the row of the smallest eps of every set, whose curve no storage changes."""
    last: dict[str, dict[str, Any]] = {}
    for row in record.rows("table2").values():
        if row["set"] != find_set(row["set"]).of:
            continue
        if row["set"] not in last or row["eps"] < last[row["set"]]["eps"]:
            last[row["set"]] = row
    return last


def _examined(pyplot: Any, record: Record) -> Any:
    last = _last_rows(record)
    figure, axes = pyplot.subplots(
        1, len(last), figsize=(4.6 * len(last), 3.8), layout="constrained", squeeze=False
    )
    for axis, (name, row) in zip(axes[0], last.items(), strict=True):
        steps, counts = np.asarray(row["curve"]).T
        shares = 100.0 * counts / row["n_rows"]
        # What lies between the plain pass and the curve is what the bound has saved (Figure 2).
        axis.fill_between(steps, shares, 100.0, color=_LIGHT, alpha=0.25, linewidth=0)
        axis.plot(steps, shares, color=_DARK, linewidth=0.9)
        axis.set(xscale="log", ylim=(0, 102), title=name, xlabel="evaluation")
    axes[0][0].set_ylabel("% of rows examined")
    return figure


def _speedups(pyplot: Any, record: Record) -> Any:
    figure, axis = pyplot.subplots(figsize=(9, 4.2), layout="constrained")
    lines = []
    for row in record.rows("table2").values():
        if row["plain_seconds"]:
            _, without, with_, _, _ = descent.PAPER[find_set(row["set"]).of, row["eps"]]
            ours = row["plain_seconds"] / row["seconds"]
            lines.append((f"{row['set']} {row['eps']:g}", ours, without / with_))
    for row in record.rows("table3").values():
        _, without, with_ = sampled.PAPER[find_set(row["set"]).of, row["k"]]
        ours = row["plain_seconds"] / row["seconds"]
        lines.append((f"{row['set']} k={row['k']}", ours, without / with_))
    places = np.arange(len(lines))
    axis.bar(places - 0.2, [line[1] for line in lines], 0.4, color=_DARK, label="here")
    axis.bar(places + 0.2, [line[2] for line in lines], 0.4, color=_LIGHT, label="paper")
    axis.axhline(1.0, color="0.4", linewidth=1)
    axis.set(yscale="log", ylabel="times as fast as every row", xticks=places)
    axis.set_xticklabels([line[0] for line in lines], rotation=40, ha="right")
    axis.set_yticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
    axis.tick_params(axis="y", which="minor", labelleft=False)
    axis.legend(frameon=False)
    return figure
