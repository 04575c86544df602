"""The pass over every row against what memory gives, in each storage: what speed-ups stand on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.bounds.descent import problem_of
from benchmarks.bounds.sets import PaperSet
from benchmarks.micro.bandwidth import Bandwidth
from hinge import Problem
from hinge.solvers.linear.margin_index import EveryRow

_SPARSEST = 0.1  # share of values that are stored, from which a dense copy is worth a look
_BEYOND_CACHES = 1 << 29  # bytes
_IN_A_ROW = 5  # passes, as a run of gradient descent has them: small sets stay in the cache
_STEPS, _LENGTH = 40, 0.5  # of gradient descent, to weights that are not those of the start


def passes(each: PaperSet, rounds: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield, for each storage of a set, how fast all rows are read, and how fast memory is.

    Memory is an array that no cache holds, of the size of the rows or larger. Both are measured in
    turn, in processor time; the fastest of each counts.

    Parameters
    ----------
    each : PaperSet
        The data.
    rounds : int
        How often each is measured.
    """
    X, y, _, _ = each.load()
    storages = {"csr": sp.csr_array(X)}
    if storages["csr"].nnz >= _SPARSEST * X.shape[0] * X.shape[1]:
        storages["dense"] = X.toarray() if sp.issparse(X) else X
    problems = {name: problem_of(each, rows, y) for name, rows in storages.items()}
    evaluators = {name: EveryRow(problem) for name, problem in problems.items()}
    w, b = _some_weights(evaluators["csr"], problems["csr"])
    sizes = {name: _bytes_read(problem) for name, problem in problems.items()}
    memory = {name: Bandwidth(max(size, _BEYOND_CACHES)) for name, size in sizes.items()}
    seconds, gradient = dict.fromkeys(storages, np.inf), np.empty(len(w))
    for _ in range(rounds):
        for name, evaluator in evaluators.items():
            memory[name].measure()
            for _ in range(_IN_A_ROW):
                began = time.process_time()
                evaluator.evaluate(w, b, gradient, 1)
                seconds[name] = min(seconds[name], time.process_time() - began)
    for name in storages:
        row = {"set": each.name, "storage": name, "bytes": sizes[name]}
        row |= {"seconds": seconds[name], "memory": memory[name].best, "rounds": rounds}
        yield f"{each.name} {name}", row | {"fastest": seconds[name] == min(seconds.values())}


def _some_weights(evaluator: EveryRow, problem: Problem) -> tuple[Any, float]:
    w, b = np.zeros(problem.n_features), 0.0
    gradient = np.empty(problem.n_features)
    for _ in range(_STEPS):
        found = evaluator.evaluate(w, b, gradient, 1)
        w -= _LENGTH * found.gradient
        b -= _LENGTH * found.gradient_b
    return w, b


def _bytes_read(problem: Problem) -> int:
    """Return what a pass reads and writes: rows, labels, margins, weights and gradient."""
    rows = problem.rows
    indices = rows.indices.nbytes + rows.indptr.nbytes if rows.is_sparse else 0
    return int(rows.values.nbytes + indices + 9 * rows.n_rows + 16 * rows.n_features)
