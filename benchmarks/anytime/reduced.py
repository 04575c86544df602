"""How many basis points a label takes with points that need not be rows, and without them.

``python -m benchmarks.anytime.reduced [COUNT]`` prints a table; every label is compared with that
of the full evaluation.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import hinge
from benchmarks.anytime.orderings import measured_order
from benchmarks.suite.datasets.base import archive
from hinge.anytime.build import joined
from hinge.anytime.functions import Functions
from hinge.anytime.ordering import Candidates
from hinge.anytime.reduced_set import reduced_points
from hinge.estimators._kernel_model import machine_of
from hinge.kernels import RBF, Kernel, Normalised, Polynomial
from hinge.rows import Rows

_COUNT = 64


def _tasks() -> list[tuple[str, Kernel, float, Any, Any, Any]]:
    """Return machines to be: name, kernel, C, rows and labels, and queries."""
    sonar, haberman, usps = archive("sonar"), archive("haberman"), archive("usps")
    chosen, tested = np.isin(usps["y_train"], [3, 8]), np.isin(usps["y_test"], [3, 8])
    X, new = usps["X_train"][chosen].astype(np.float64), usps["X_test"][tested].astype(np.float64)
    y = usps["y_train"][chosen]
    found: list[tuple[str, Kernel, float, Any, Any, Any]] = []
    for name, data, degree, C in (("Sonar", sonar, 2, 1.0), ("Haberman", haberman, 3, 1000.0)):
        rows = data["X"].astype(np.float64)
        found.append((name, Normalised(Polynomial(degree, 1.0, 1.0)), C, rows, data["y"], rows))
        scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
        gamma = 1.0 / rows.shape[1]
        found.append((f"{name}, RBF", RBF(gamma), 1.0, scaled, data["y"], scaled))
    return [*found, ("USPS 3 v 8, RBF", RBF(1.0 / 128.0), 10.0, X, y, new)]


def main(arguments: list[str]) -> int:
    """Print the table, and return 1 if a label has changed."""
    count, faults = int(arguments[0]) if arguments else _COUNT, 0
    print(f"{'data':18} {'SV':>4} {'minWz':>7} {'with':>7} {'seconds':>8}")
    for name, kernel, C, X, y, new in _tasks():
        model = hinge.SVC(kernel=kernel, C=C, tol=1e-6).fit(X, y)
        functions = Functions.of(machine_of(model))
        began = time.process_time()
        reduced = reduced_points(functions, count)
        seconds = time.process_time() - began
        assert reduced is not None
        terms, queries = functions.terms, Rows(new)
        both = joined(reduced, terms)
        plain = measured_order(functions, "minwz", Candidates(terms, terms.n_rows), queries)
        more = measured_order(functions, "minwz", Candidates(both, both.n_rows), queries)
        faults += sum(row[key] for row in (plain, more) for key in ("changed", "broken"))
        n_support = int(model.n_support_.sum())
        means = f"{plain['mean']:7.1f} {more['mean']:7.1f}"
        print(f"{name:18} {n_support:4d} {means} {seconds:8.1f}", flush=True)
    print(f"{faults} labels changed or bounds broken")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
