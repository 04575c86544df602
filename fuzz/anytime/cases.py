"""Machines that tempt anytime classification to be wrong: ties, near ties, terms that cancel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hinge.anytime import LargestRule, Rule, SignRule, VoteRule
from hinge.kernels import RBF, Kernel, Linear, Polynomial
from hinge.machines import Machine
from hinge.rows import Rows

Floats = NDArray[np.float64]
TRAITS = ("plain", "mirrored", "near zero", "whole numbers", "several functions")


@dataclass(frozen=True)
class Case:
    """A machine, the rule that makes its labels, queries, and what is special about them."""

    machine: Machine
    rule: Rule
    queries: Floats
    trait: str


def zero_cases(n_queries: int) -> list[Case]:
    """Return two machines that are zero for certain, one everywhere and one on all its queries."""
    rng = np.random.default_rng(99)
    # Equal support vectors with opposite coefficients: nothing is left, whatever the query.
    S = np.repeat(rng.normal(size=(40, 5)), 2, axis=0)
    coef = np.repeat(rng.normal(size=40), 2) * np.tile([1.0, -1.0], 40)
    nothing = Machine(RBF(0.3), Rows(S), coef[:, None], np.zeros(1))
    # Mirror images with opposite coefficients, and queries on the mirror.
    half = np.round(rng.normal(scale=3.0, size=(40, 5)))
    pairs = np.stack((half, half * np.r_[np.ones(4), -1.0]), axis=1).reshape(80, 5)
    signs = np.tile([1.0, -1.0], 40) * np.repeat(rng.integers(1, 9, size=40), 2)
    mirror = Machine(Polynomial(3, 1.0, 1.0), Rows(pairs), signs[:, None], np.zeros(1))
    X = rng.normal(size=(n_queries, 5))
    on_mirror = np.round(4.0 * X)
    on_mirror[:, -1] = 0.0
    return [
        Case(nothing, SignRule(), X, "zero everywhere"),
        Case(mirror, SignRule(True), on_mirror, "zero at its queries"),
    ]


def random_kernel(rng: np.random.Generator) -> Kernel:
    """Return a kernel."""
    kind = rng.integers(4)
    if kind == 0:
        return Linear()
    if kind == 1:
        return Polynomial(int(rng.integers(1, 5)), float(10.0 ** rng.uniform(-2, 1)), 1.0)
    return RBF(float(10.0 ** rng.uniform(-3, 2)))


def random_case(seed: int, n_queries: int) -> Case:
    """Return a machine with queries, the same for every seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 150)), int(rng.integers(1, 12))
    offset = float(rng.choice([0.0, 0.0, 50.0]))
    S = rng.normal(size=(n, d)) + offset
    S[rng.integers(n, size=n // 4)] = S[rng.integers(n, size=n // 4)]
    trait = str(rng.choice(TRAITS))
    rule: Rule = SignRule(bool(seed % 2))
    outputs = 1
    if trait == "several functions":
        n_classes = int(rng.integers(3, 6))
        rule = VoteRule(n_classes) if seed % 2 else LargestRule()
        outputs = n_classes * (n_classes - 1) // 2 if seed % 2 else n_classes
    coef = rng.normal(size=(n, outputs))
    intercept = rng.normal(scale=0.1, size=outputs)
    X = rng.normal(size=(n_queries, d)) + offset
    if trait == "several functions":  # two that are equal, and so always tied
        coef[:, -1], intercept[-1] = coef[:, 0], intercept[0]
    if trait == "mirrored":
        S[:, -1] -= offset
        X[:, -1] -= offset
        S = np.stack((S, S * np.r_[np.ones(d - 1), -1.0]), axis=1).reshape(2 * n, d)
        coef, intercept = np.stack((coef, -coef), axis=1).reshape(2 * n, 1), np.zeros(1)
        X[::2, -1] = 0.0
        X[1::4, -1] *= 1e-15
    if trait == "whole numbers":
        S, X, coef = np.round(S), np.round(X), np.sign(coef)
    machine = Machine(random_kernel(rng), Rows(S), coef, intercept)
    if trait == "near zero":
        machine.intercept[0] -= float(machine.values(Rows(X[:1]))[0, 0])
        X[1:200] = X[0] * (1.0 + rng.normal(scale=1e-16, size=(199, d)))
    return Case(machine, rule, X, trait)
