"""Compare proven labels with full evaluations, and both with exact values.

``python -m fuzz.anytime.campaign 10000000`` ends with an error if a label differs from that of the
full evaluation, if an interval does not hold the true decision value, or if a label that was proven
early is not that of the true value: a fraction for linear and polynomial kernels, an interval of
more than 200 bits for Gaussian ones. Machines have equal support vectors, mirror images that make
ties exact, functions that are equal, and intercepts that put queries within a rounding of zero; two
are zero at every query. Every stage is used, whether or not it would pay, and of every tenth
machine the predictor comes out of a file.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from fuzz.anytime.cases import Case, random_case, zero_cases
from fuzz.anytime.exact import exact_value
from fuzz.anytime.intervals import gaussian_interval
from numpy.typing import NDArray

from hinge.anytime import AnytimePredictor, Options, SignRule, build
from hinge.kernels import RBF
from hinge.models import load, save
from hinge.rows import Rows

_QUERIES = 20_000  # of a machine
_ZEROS = 100_000  # of each machine that is zero
_CHECKED = 24  # of them exactly, which makes some 12,000 in 10,000,000
_SINGLES = 300  # of a machine, one to three at a time
_BUDGETS = (8, 24, 48, 400, None)


@dataclass
class Tally:
    """What was found."""

    queries: int = 0
    judged: int = 0
    early: int = 0
    changed: int = 0
    broken: int = 0
    misjudged: int = 0

    @property
    def wrong(self) -> int:
        """How much of it must not be."""
        return self.changed + self.broken + self.misjudged


def forced(case: Case, seed: int) -> AnytimePredictor:
    """Return a predictor that uses every stage."""
    machine = case.machine
    parts = build(machine, case.rule, options=Options(n_points=48, seed=seed))
    exits = () if parts.embedding is None else tuple(range(len(parts.embedding.exits)))
    if seed % 4 == 1:  # what the embedding would settle is left to the stages behind it
        exits = ()
    plan = replace(
        parts.plan, exits=exits, n_coordinates=8 * (seed % 7), uses_single=True, form=1024
    )
    n_codes = getattr(case.rule, "n_classes", max(2, len(machine.intercept)))
    classes = np.arange(n_codes)
    n_features = machine.support.n_features
    fast = AnytimePredictor(machine, case.rule, classes, n_features, replace(parts, plan=plan))
    if seed % 10 == 0:
        with tempfile.TemporaryDirectory() as folder:
            save(fast, Path(folder, "predictor"))
            return load(Path(folder, "predictor"))
    return fast


def true_values(case: Case, X: NDArray[np.float64]) -> list[list[tuple[Fraction, Fraction]]]:
    """Return for every query and function two fractions with the true value between them."""
    found = []
    for x in X:
        values = []
        for function in range(len(case.machine.intercept)):
            if isinstance(case.machine.kernel, RBF):
                values.append(gaussian_interval(case.machine, x, function))
            else:
                one = exact_value(case.machine, x, function)
                values.append((one, one))
        found.append(values)
    return found


def judge(case: Case, fast: AnytimePredictor, tally: Tally) -> None:
    """Hold intervals and early labels of a few queries, at several budgets, to true values."""
    X = case.queries[:_CHECKED]
    true = true_values(case, X)
    full_cost = len(case.machine.coefficients)
    tally.judged += len(X)
    for budget in _BUDGETS:
        found = fast.predict_certified(X, max_terms=budget)
        lower, upper = found.lower.reshape(len(X), -1), found.upper.reshape(len(X), -1)
        for row, values in enumerate(true):
            for function, (low, high) in enumerate(values):
                below, above = float(lower[row, function]), float(upper[row, function])
                holds = np.isneginf(below) or Fraction(below) <= high
                holds &= np.isposinf(above) or Fraction(above) >= low
                tally.broken += not holds
            is_early = found.decided[row] and found.terms[row] < full_cost
            if isinstance(case.rule, SignRule) and is_early:
                tally.early += 1
                low, high = values[0]
                is_right = low > 0 if found.labels[row] == 1 else high < 0
                tally.misjudged += not is_right


def run(case: Case, seed: int, tally: Tally) -> None:
    """Compare the labels of all queries of a machine, and judge a few of them exactly."""
    fast = forced(case, seed)
    X = sp.csr_array(case.queries) if seed % 5 == 0 else case.queries
    found = fast.predict_certified(X)
    full = case.machine.values(Rows(X))
    tally.queries += len(case.queries)
    tally.changed += int(np.sum(found.labels != case.rule.codes(full)))
    tally.changed += int(np.sum(~found.decided))
    last = min(_SINGLES, len(found.labels))
    for first in range(0, last, 1 + seed % 3):  # batches so small that they go another way
        part = slice(first, first + 1 + seed % 3)
        tally.changed += int(np.sum(fast.predict(X[part]) != found.labels[part]))
    judge(case, fast, tally)


def main(arguments: list[str]) -> int:
    """Run the machines and return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz.anytime.campaign")
    parser.add_argument("queries", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first machine")
    options = parser.parse_args(arguments)
    began, tally, traits = time.perf_counter(), Tally(), Counter[str]()
    last = options.first + -(-options.queries // _QUERIES)
    cases = ((random_case(seed, _QUERIES), seed) for seed in range(options.first, last))
    for case, seed in itertools.chain(zip(zero_cases(_ZEROS), (3, 10), strict=True), cases):
        wrong = tally.wrong
        run(case, seed, tally)
        traits[case.trait] += 1
        if tally.wrong != wrong:
            print(f"machine {seed} ({case.machine.kernel}, {case.trait}): {tally}")
    told = ", ".join(f"{count} {trait}" for trait, count in traits.most_common())
    seconds = time.perf_counter() - began
    print(f"{tally.queries} queries of {sum(traits.values())} machines ({told}) in {seconds:.0f} s")
    print(f"{tally.changed} labels changed")
    print(
        f"{tally.judged} queries judged exactly at {len(_BUDGETS)} budgets: {tally.broken} "
        f"intervals broken, {tally.misjudged} of {tally.early} early labels wrong"
    )
    return int(tally.wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
