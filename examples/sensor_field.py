"""A field of sensors whose labels stay right while hardly any of them is asked for its reading.

Plumes of eight substances drift over a field with 2,500 sensors. A linear machine calls a sensor's
eight readings calm or alarming. How fast a reading can change at most is known (plumes have a top
speed), and ``hinge.bounds.MovingPoints`` works out whose label may have changed: only these sensors
are asked. Half way the machine is trained anew; that is a change like any other.

    python examples/sensor_field.py                # prints a table, saves sensor-field.png
    python examples/sensor_field.py --live         # draws the field as it goes

Every label is compared with that of a machine that reads every sensor in every tick.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tables import show_table, show_text

import hinge
from hinge.bounds import MovingPoints

SIDE = 50  # sensors along each side of the field
CHANNELS = 8
TICKS = 300
TICK = 0.02  # of the time in which a plume crosses the field
CALM, ALARM, READ = "#9fb4c7", "#d98200", "#0b3c6f"


class Field:
    """Sensors on a grid, and plumes that drift over them on closed curves.

    Parameters
    ----------
    seed : int
        Seed of where the plumes go.
    """

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        axis = np.linspace(0.0, 1.0, SIDE)
        self.places = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
        self.phases = rng.uniform(0.0, 2.0 * np.pi, (CHANNELS, 2))
        self.rates = rng.uniform(0.1, 0.35, (CHANNELS, 2))
        self.widths = rng.uniform(0.08, 0.2, CHANNELS)

    def readings(self, time: float, sensors: Any) -> Any:
        """Return what some sensors read, of shape (n, CHANNELS)."""
        centres = 0.5 + 0.45 * np.sin(self.phases + self.rates * time)
        apart = self.places[sensors][:, None, :] - centres[None, :, :]
        return np.exp(-np.sum(apart**2, axis=2) / (2.0 * self.widths**2))

    def most_change(self, seconds: float) -> float:
        """Return how far a sensor's readings can move in that time, wherever it stands.

        A plume of width s that drifts at speed v changes a reading by at most v / (s sqrt(e)) in
        a unit of time.
        """
        speeds = 0.45 * np.linalg.norm(self.rates, axis=1)
        return float(np.linalg.norm(seconds * speeds / (self.widths * np.sqrt(np.e))))


def trained(seed: int) -> hinge.LinearSVC:
    """Return a machine that has learned from another field what is alarming."""
    rng = np.random.default_rng(seed)
    danger = np.array([0.2, 0.6, 1.0, 0.1, 0.8, 0.3, 1.2, 0.5])
    elsewhere = Field(seed + 100)
    X = np.vstack([elsewhere.readings(t, rng.integers(0, SIDE**2, 400)) for t in range(20)])
    alarming = X @ danger + 0.05 * rng.normal(size=len(X)) > 0.6
    return hinge.LinearSVC(loss="hinge", C=1.0).fit(X, np.where(alarming, "alarm", "calm"))


@dataclass
class History:
    """What happened in every tick."""

    read: list[int] = field(default_factory=list)
    changed: list[int] = field(default_factory=list)
    alarms: list[int] = field(default_factory=list)
    wrong: int = 0


def watch(ticks: int, screen: Screen | None) -> tuple[History, Any, Any]:
    """Follow the field for some ticks; return the history, the last labels and who was read."""
    world, machine, history = Field(), trained(0), History()
    everyone = np.arange(SIDE**2)
    points = MovingPoints(machine, keep_rows=False)
    reach = world.most_change(TICK)
    found: Any = None
    for tick in range(ticks):
        time = tick * TICK
        if tick == ticks // 2:
            machine = trained(1)
            points.change_model(machine)
        # A sensor is asked only if its label is in doubt.
        found = points.update(everyone, lambda ids, now=time: world.readings(now, ids), moved=reach)
        full = machine.predict(world.readings(time, everyone))
        history.wrong += int(np.count_nonzero(found.labels != full))
        history.read.append(int(found.examined.sum()))
        history.changed.append(int(found.changed.sum()))
        history.alarms.append(int(np.sum(found.labels == "alarm")))
        if screen is not None:
            screen.show(world, found, history)
    return history, world, found


def draw_field(axis: Any, world: Field, found: Any) -> None:
    """Draw every sensor with its label, and a ring round those that were read."""
    colours = np.where(found.labels == "alarm", ALARM, CALM)
    axis.clear()
    axis.scatter(*world.places.T, c=colours, s=14, linewidths=0, marker="s")
    read = world.places[found.examined]
    axis.scatter(*read.T, facecolors="none", edgecolors=READ, s=26, linewidths=0.9)
    axis.set(aspect="equal", xticks=[], yticks=[])
    axis.set_title(f"orange: alarm; ringed: read in this tick ({len(read)})", fontsize=10)


def draw_history(axis: Any, history: History) -> None:
    """Draw how many sensors were read in every tick."""
    axis.clear()
    shares = 100.0 * np.asarray(history.read) / SIDE**2
    axis.fill_between(np.arange(len(shares)), shares, 100.0, color=ALARM, alpha=0.2, linewidth=0)
    axis.plot(shares, color=READ, linewidth=1)
    saved = 1.0 - np.mean(history.read) / SIDE**2
    axis.set(ylim=(0, 102), xlabel="tick", ylabel="% of sensors read")
    axis.set_title(f"{saved:.0%} of all readings were never taken", fontsize=10)


class Screen:
    """The field on the screen, drawn anew in every tick."""

    def __init__(self) -> None:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - only a live run needs a window

        self.plt = plt
        plt.ion()
        self.figure, self.axes = plt.subplots(1, 2, figsize=(12, 5.4), layout="constrained")

    def show(self, world: Field, found: Any, history: History) -> None:
        """Draw the field and what it has taken so far."""
        draw_field(self.axes[0], world, found)
        draw_history(self.axes[1], history)
        self.plt.pause(0.001)


def save_picture(path: Path, world: Field, found: Any, history: History) -> None:
    """Save the last tick and the history as a picture."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - only pictures need it

    figure = Figure(figsize=(12, 5.4), layout="constrained")
    axes = figure.subplots(1, 2)
    draw_field(axes[0], world, found)
    draw_history(axes[1], history)
    half = len(history.read) // 2
    axes[1].axvline(half, color="0.5", linewidth=1, linestyle=":")
    axes[1].annotate("new machine", (half, 90), xytext=(6, 0), textcoords="offset points")
    figure.savefig(path, dpi=120)


def main() -> None:
    """Run the simulation."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--live", action="store_true", help="draw the field as it goes")
    parser.add_argument("--ticks", type=int, default=TICKS)
    parser.add_argument("--picture", type=Path, default=Path("sensor-field.png"))
    options = parser.parse_args()
    history, world, found = watch(options.ticks, Screen() if options.live else None)
    half = options.ticks // 2
    parts = {"first tick": slice(0, 1), "first machine": slice(1, half)}
    parts |= {"new machine arrives": slice(half, half + 1), "new machine": slice(half + 1, None)}
    lines = [
        [
            name,
            str(len(history.read[part])),
            f"{np.mean(history.read[part]):.0f} of {SIDE**2}",
            f"{np.mean(history.changed[part]):.1f}",
            f"{np.mean(history.alarms[part]):.0f}",
        ]
        for name, part in parts.items()
        if history.read[part]
    ]
    show_table(["", "ticks", "sensors read", "labels changed", "alarms"], lines)
    show_text(f"Labels that differ from those of a machine that reads everything: {history.wrong}.")
    save_picture(options.picture, world, found, history)
    show_text(f"Saved as {options.picture}.")


if __name__ == "__main__":
    main()
