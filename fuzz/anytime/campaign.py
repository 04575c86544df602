"""Compare proven labels with full evaluations, and intervals with exact values.

``python -m fuzz.anytime.campaign 10000000`` ends with an error if a label differs from that of the
full evaluation, or if an interval does not hold the true decision value: a fraction for linear and
polynomial kernels, 60 decimal digits for Gaussian ones. Machines have equal support vectors, mirror
images that make ties exact, and intercepts that put queries within a rounding of zero; every stage
is used, whether or not it would pay.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from fuzz.anytime.exact import exact_value, gaussian_value
from numpy.typing import NDArray

from hinge.anytime import AnytimePredictor, Options, Parts, Plan, SignRule, build
from hinge.kernels import RBF, Kernel, Linear, Polynomial
from hinge.machines import Machine
from hinge.rows import Rows

_QUERIES = 20_000  # of a machine
_CHECKED = 20  # of them exactly, which makes 10,000 in 10,000,000
_DIGITS = 60


def random_kernel(rng: np.random.Generator) -> Kernel:
    """Return a kernel."""
    kind = rng.integers(4)
    if kind == 0:
        return Linear()
    if kind == 1:
        return Polynomial(int(rng.integers(1, 5)), float(10.0 ** rng.uniform(-2, 1)), 1.0)
    return RBF(float(10.0 ** rng.uniform(-3, 2)))


def random_case(seed: int) -> tuple[Machine, NDArray[np.float64], str]:
    """Return a machine, queries, and what is special about them."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 150)), int(rng.integers(1, 12))
    offset = float(rng.choice([0.0, 0.0, 50.0]))
    S = rng.normal(size=(n, d)) + offset
    S[rng.integers(n, size=n // 4)] = S[rng.integers(n, size=n // 4)]
    coef = rng.normal(size=n)
    X = rng.normal(size=(_QUERIES, d)) + offset
    trait = str(rng.choice(["plain", "mirrored", "near zero", "whole numbers"]))
    intercept = float(rng.normal(scale=0.1))
    if trait == "mirrored":
        S[:, -1] -= offset
        X[:, -1] -= offset
        S = np.stack((S, S * np.r_[np.ones(d - 1), -1.0]), axis=1).reshape(2 * n, d)
        coef, intercept = np.stack((coef, -coef), axis=1).ravel(), 0.0
        X[::2, -1] = 0.0
        X[1::4, -1] *= 1e-15
    if trait == "whole numbers":
        S, X, coef = np.round(S), np.round(X), np.sign(coef)
    machine = Machine(random_kernel(rng), Rows(S), coef[:, None], np.array([intercept]))
    if trait == "near zero":
        machine.intercept[0] -= float(machine.values(Rows(X[:1]))[0, 0])
        X[1:200] = X[0] * (1.0 + rng.normal(scale=1e-16, size=(199, d)))
    return machine, X, trait


def forced(machine: Machine, seed: int) -> AnytimePredictor:
    """Return a predictor that uses every stage."""
    rule = SignRule(bool(seed % 2))
    parts = build(machine, rule, options=Options(n_points=48, seed=seed))
    exits = () if parts.embedding is None else tuple(range(len(parts.embedding.exits)))
    plan = Plan(exits, 8 * (seed % 7), uses_single=True)
    parts = Parts(plan, parts.functions, parts.embedding, parts.sides, parts.reason)
    return AnytimePredictor(machine, rule, np.arange(2), machine.support.n_features, parts)


def broken_bounds(machine: Machine, fast: AnytimePredictor, X: NDArray[np.float64]) -> int:
    """Return how many intervals of a few queries, at several budgets, miss the true value."""
    is_gaussian = isinstance(machine.kernel, RBF)
    broken = 0
    with localcontext(prec=_DIGITS):
        number = Decimal if is_gaussian else Fraction
        true = [(gaussian_value if is_gaussian else exact_value)(machine, x) for x in X]
        for budget in (8, 24, 48, 400, None):
            found = fast.predict_certified(X, max_terms=budget)
            for lower, upper, value in zip(found.lower, found.upper, true, strict=True):
                low_holds = np.isneginf(lower) or number(float(lower)) <= value
                high_holds = np.isposinf(upper) or number(float(upper)) >= value
                broken += not (low_holds and high_holds)
    return broken


def main(arguments: list[str]) -> int:
    """Run the machines and return the exit status."""
    parser = argparse.ArgumentParser(prog="fuzz.anytime.campaign")
    parser.add_argument("queries", type=int, nargs="?", default=10_000_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first machine")
    options = parser.parse_args(arguments)
    began, changed, broken, in_full = time.perf_counter(), 0, 0, 0
    traits = Counter[str]()
    machines = -(-options.queries // _QUERIES)
    for seed in range(options.first, options.first + machines):
        machine, X, trait = random_case(seed)
        traits[trait] += 1
        fast = forced(machine, seed)
        found = fast.predict_certified(sp.csr_array(X) if seed % 5 == 0 else X)
        full = machine.values(Rows(sp.csr_array(X)) if seed % 5 == 0 else Rows(X))
        wrong = int(np.sum(found.labels != fast.rule.codes(full)))
        missed = broken_bounds(machine, fast, X[:_CHECKED])
        cost = len(machine.coefficients)
        in_full += int(np.sum(found.terms > (cost if fast.stages else 0)))
        changed, broken = changed + wrong, broken + missed
        if wrong or missed or not found.decided.all():
            print(f"machine {seed} ({machine.kernel}, {trait}): {wrong} labels, {missed} intervals")
    seconds = time.perf_counter() - began
    told = ", ".join(f"{count} {trait}" for trait, count in traits.most_common())
    print(f"{machines * _QUERIES} queries of {machines} machines ({told}) in {seconds:.0f} s")
    print(f"{changed} labels changed, {broken} intervals broken of {machines * _CHECKED} queries")
    print(f"{in_full} queries took more kernel values than a full evaluation has")
    return int(changed + broken > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
