"""Pictures of bounds that close on a query, point by point.

``python -m benchmarks.anytime.pictures FOLDER`` draws them for the paper's machine on Sonar: an
easy query, a typical one and the hardest, with basis points that are rows and with a reduced set.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hinge
from benchmarks.suite.datasets.base import archive
from hinge.anytime.build import joined
from hinge.anytime.embedding import embed
from hinge.anytime.functions import Functions
from hinge.anytime.ordering import Candidates, ordered
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.reduced_set import reduced_points
from hinge.anytime.stages import EmbeddingStage
from hinge.estimators._kernel_model import machine_of
from hinge.kernels import Normalised, Polynomial
from hinge.rows import Rows

_DARK, _LIGHT = "#0b3c6f", "#d98200"
_REDUCED = 64
_NAME = "anytime-bounds.png"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Closing:
    """Bounds on the values of queries after every number of basis points.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_points, n_queries)
        The bounds, each the tightest so far.
    values : ndarray of shape (n_queries,)
        The values themselves.
    """

    lower: Floats
    upper: Floats
    values: Floats

    @property
    def taken(self) -> NDArray[np.int64]:
        """How many points it takes to decide each query; one more than there are if never."""
        is_decided = (self.lower >= 0.0) | (self.upper < 0.0)
        never = ~is_decided.any(axis=0)
        return np.asarray(is_decided.argmax(axis=0) + 1 + never * len(self.lower))


def closing(functions: Functions, points: Rows, queries: Rows) -> Closing:
    """Return the bounds of queries after every point, in the order that leaves least of W."""
    most = functions.terms.n_rows
    ids = ordered("minwz", functions, Candidates(points, points.n_rows), most)
    embedding = embed(functions, points.take(ids), tuple(range(1, len(ids) + 1)))
    assert embedding is not None
    found: list[tuple[Floats, Floats]] = []

    def settle(ids: Any, lower: Floats, upper: Floats, _: int) -> Any:
        found.append((lower[:, 0], upper[:, 0]))
        return np.ones(len(ids), dtype=bool)

    stage = EmbeddingStage(functions, embedding, tuple(range(len(embedding.exits))), most)
    batch = Queries(Sides(functions), queries)
    stage.run(batch, np.arange(queries.n_rows), settle, 1 << 62)
    lower = np.maximum.accumulate([low for low, _ in found], axis=0)
    upper = np.minimum.accumulate([high for _, high in found], axis=0)
    return Closing(lower, upper, functions.machine.values(queries)[:, 0])


def draw(folder: Path) -> Path:
    """Save the picture and return where it is."""
    importlib.import_module("matplotlib").use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    data = archive("sonar")
    X = data["X"].astype(np.float64)
    model = hinge.SVC(kernel=Normalised(Polynomial(2, 1.0, 1.0)), C=1.0, tol=1e-6).fit(X, data["y"])
    functions = Functions.of(machine_of(model))
    reduced = reduced_points(functions, _REDUCED)
    assert reduced is not None
    rows = Rows(X)
    both = (
        ("support vectors", _DARK, closing(functions, functions.terms, rows)),
        ("with a reduced set", _LIGHT, closing(functions, joined(reduced, functions.terms), rows)),
    )
    order = np.argsort(both[0][2].taken, kind="stable")
    chosen = order[[len(order) // 20, len(order) // 2, -1]]
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.9), layout="constrained")
    for axis, query, title in zip(axes, chosen, ("easy", "typical", "the hardest"), strict=True):
        _panel(axis, int(query), both)
        axis.set_title(f"{title}: f(x) = {both[0][2].values[query]:.3f}")
    axes[0].set_ylabel("bounds on f(x)")
    axes[0].legend(frameon=False, loc="lower right")
    target = folder / _NAME
    figure.savefig(target, dpi=100, metadata={"Software": None})
    pyplot.close(figure)
    return target


def _panel(axis: Any, query: int, both: Any) -> None:
    """Draw the bounds of one query, and where they decide it."""
    last = 10 + max(int(found.taken[query]) for _, _, found in both)
    value = float(both[0][2].values[query])
    for name, colour, found in both:
        counts = np.arange(1, min(last, len(found.lower)) + 1)
        lower, upper = found.lower[: len(counts), query], found.upper[: len(counts), query]
        axis.fill_between(counts, lower, upper, color=colour, alpha=0.18, linewidth=0, step="post")
        axis.step(counts, lower, color=colour, linewidth=1.2, where="post", label=name)
        axis.step(counts, upper, color=colour, linewidth=1.2, where="post")
        taken = int(found.taken[query])
        axis.plot([taken], [0.0], "o", color=colour, markersize=6, clip_on=False, zorder=3)
        above = taken, 0.0
        axis.annotate(str(taken), above, (0, 7), textcoords="offset points", ha="center")
    axis.axhline(0.0, color="black", linewidth=1)
    axis.axhline(value, color="0.5", linewidth=1, linestyle="--")
    early = float(both[0][2].lower[max(3, last // 6), query])
    reach = max(1.5 * abs(value), abs(early))
    axis.set(xlim=(1, last), ylim=(-reach, reach), xlabel="basis points")
    axis.grid(color="0.92")


if __name__ == "__main__":
    print(draw(Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
