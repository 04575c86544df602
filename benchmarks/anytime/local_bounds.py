"""Bounds that were tried for local kernels and are not used: a metric tree, and points by cluster.

``python -m benchmarks.anytime.local_bounds [QUERIES]`` prints two tables. The first says how many
distances a best-first search of a ball tree over the support vectors takes until a label is clear,
with the kernel of a node between its values at the nearest and the farthest point of its ball. The
second says which share of the queries basis points leave open, once for all and for each cluster of
queries. Rounding is left out: both are what is possible at best.
"""

from __future__ import annotations

import heapq
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import hinge
from benchmarks.anytime.speed import TASKS, SpeedTask
from benchmarks.kernel import data
from benchmarks.suite import arrays
from benchmarks.suite.tables import table
from hinge.anytime.embedding import embed
from hinge.anytime.functions import Functions
from hinge.anytime.ordering import Candidates, ordered
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.rules import SignRule, widened
from hinge.anytime.stages import EmbeddingStage
from hinge.estimators._kernel_model import machine_of
from hinge.rows import Rows

Floats = NDArray[np.float64]

_LEAF = 8  # support vectors of a leaf
_CLUSTERS = 8
_POINTS = 512
_CANDIDATES = 4000  # for each cluster


@dataclass(frozen=True)
class Node:
    """A ball of support vectors."""

    centre: Floats
    radius: float
    rows: NDArray[np.int64]
    positive: float
    negative: float
    children: tuple[int, ...]


def ball_tree(S: Floats, coef: Floats) -> list[Node]:
    """Return the nodes of a tree, the root last: balls are halved along their widest direction."""
    nodes: list[Node] = []

    def add(rows: NDArray[np.int64]) -> int:
        points, weights = S[rows], coef[rows]
        centre = points.mean(axis=0)
        radius = float(np.sqrt(np.max(np.sum((points - centre) ** 2, axis=1))))
        children: tuple[int, ...] = ()
        if len(rows) > _LEAF and radius > 0.0:
            far = points[np.argmax(np.sum((points - centre) ** 2, axis=1))]
            other = points[np.argmax(np.sum((points - far) ** 2, axis=1))]
            order = rows[np.argsort(points @ (far - other), kind="stable")]
            children = (add(order[: len(rows) // 2]), add(order[len(rows) // 2 :]))
        sums = float(weights[weights > 0].sum()), float(-weights[weights < 0].sum())
        nodes.append(Node(centre, radius, rows, *sums, children))
        return len(nodes) - 1

    add(np.arange(len(S)))
    return nodes


def distances_needed(
    nodes: list[Node], S: Floats, coef: Floats, gamma: float, intercept: float, x: Floats
) -> int:
    """Return how many distances are computed until the label of a query is clear."""
    count, low, high = 0, intercept, intercept
    queue: list[tuple[float, int, float, float]] = []

    def visit(number: int) -> None:
        nonlocal count, low, high
        node = nodes[number]
        count += 1
        distance = float(np.sqrt(np.sum((node.centre - x) ** 2)))
        most = np.exp(-gamma * max(0.0, distance - node.radius) ** 2)
        least = np.exp(-gamma * (distance + node.radius) ** 2)
        below = node.positive * least - node.negative * most
        above = node.positive * most - node.negative * least
        low, high = low + below, high + above
        heapq.heappush(queue, (below - above, number, below, above))

    visit(len(nodes) - 1)
    while queue and low <= 0.0 <= high:
        _, number, below, above = heapq.heappop(queue)
        low, high = low - below, high - above
        if nodes[number].children:
            for child in nodes[number].children:
                visit(child)
        else:
            rows = nodes[number].rows
            count += len(rows)
            values = np.exp(-gamma * np.sum((S[rows] - x) ** 2, axis=1))
            part = float(values @ coef[rows])
            low, high = low + part, high + part
    return count


def open_share(functions: Functions, points: Rows, queries: Rows) -> float:
    """Return which share of queries the embedding on some points leaves open."""
    embedding = embed(functions, points, (points.n_rows,))
    if embedding is None:
        return 1.0
    batch = Queries(Sides(functions), queries)
    every = np.arange(queries.n_rows)
    errors, found = batch.full_errors(every), []

    def settle(ids: Any, lower: Any, upper: Any, _: int) -> Any:
        found.append(SignRule().settled(*widened(lower, upper, errors[ids]))[0])
        return np.zeros(len(ids), dtype=bool)

    EmbeddingStage(functions, embedding, (0,), points.n_rows).run(batch, every, settle, 1 << 62)
    return 1.0 - float(np.mean(found[-1]))


def clusters(X: Floats, count: int) -> NDArray[np.int64]:
    """Return the cluster of every row, by a few steps of k-means."""
    generator = np.random.default_rng(0)
    centres = X[generator.choice(len(X), size=count, replace=False)]
    for _ in range(20):
        squares = np.sum(centres**2, axis=1) - 2.0 * X @ centres.T
        nearest = squares.argmin(axis=1)
        centres = np.stack(
            [
                X[nearest == k].mean(axis=0) if np.any(nearest == k) else centres[k]
                for k in range(count)
            ]
        )
    return np.asarray(nearest)


def by_cluster(functions: Functions, X: Floats) -> float:
    """Return the open share with basis points of each cluster of queries: those nearest to it."""
    place = clusters(X, _CLUSTERS)
    terms = _dense(functions.terms.matrix)
    left = 0.0
    for k in np.unique(place):
        rows = X[place == k]
        squares = np.sum((terms - rows.mean(axis=0)) ** 2, axis=1)
        near = np.sort(np.argsort(squares, kind="stable")[:_CANDIDATES])
        some = functions.terms.take(near)
        ids = ordered("minwz", functions, Candidates(some, some.n_rows), _POINTS)
        queries = Rows(sp.csr_array(rows) if functions.terms.is_sparse else rows)
        left += len(rows) * open_share(functions, some.take(ids), queries)
    return left / len(X)


def _dense(X: Any) -> Floats:
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)


def measured(task: SpeedTask, n_queries: int) -> tuple[list[str], list[str]]:
    """Return a row of either table."""
    folder = data.folder(task.dataset, task.n_rows, "float64")
    X, y = arrays.read(folder / "train")
    new, _ = arrays.read(folder / "test")
    model = hinge.SVC(C=task.C, gamma=task.gamma).fit(X, y)
    functions = Functions.of(machine_of(model))
    S, coef = _dense(functions.terms.matrix), functions.coef[:, 0]
    nodes = ball_tree(S, coef)
    few = _dense(new[:n_queries])
    needed = [
        distances_needed(nodes, S, coef, task.gamma, float(functions.intercept[0]), x) for x in few
    ]
    ratio = np.array(needed) / len(S)
    quantiles = [f"{np.quantile(ratio, q):.2f}" for q in (0.1, 0.5, 0.9)]
    many = _dense(new[: 10 * n_queries])
    terms = functions.terms
    ids = ordered("minwz", functions, Candidates(terms, terms.n_rows), _POINTS)
    queries = Rows(sp.csr_array(many) if terms.is_sparse else many)
    once = open_share(functions, terms.take(ids), queries)
    shares = [f"{100 * once:.1f} %", f"{100 * by_cluster(functions, many):.1f} %"]
    return [task.title, str(len(S)), *quantiles], [task.title, *shares]


def main() -> None:
    """Measure every machine of two classes and print the tables."""
    n_queries = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    trees, points = [], []
    for task in TASKS:
        if task.dataset == "usps":  # of ten classes
            continue
        tree, point = measured(task, n_queries)
        trees.append(tree)
        points.append(point)
    print(table(["task", "distinct SV", "10 %", "median", "90 %"], trees))
    print()
    print(table(["task", "open, one order", "open, by cluster"], points))


if __name__ == "__main__":
    main()
