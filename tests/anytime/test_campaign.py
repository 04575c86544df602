"""The campaign's own arithmetic is right, and it finds what it looks for."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from fuzz.anytime import campaign
from fuzz.anytime.cases import Case, zero_cases
from fuzz.anytime.intervals import BITS, exponential
from tests.anytime.machines import random_machine

from hinge.anytime import AnytimePredictor, SignRule
from hinge.kernels import RBF, Polynomial


@pytest.mark.parametrize("power", np.linspace(-12.0, 2.5, 30).tolist())
def test_intervals_hold_exponentials(power: float) -> None:
    t = Fraction(10.0**power)
    low, high = exponential(t)
    with localcontext(prec=120):
        true = (-Decimal(t.numerator) / Decimal(t.denominator)).exp() * 2**BITS
        assert low <= true <= high
    assert high - low < 2 ** (BITS - 250)


def test_ends_of_the_exponential() -> None:
    assert exponential(Fraction(0)) == (1 << BITS, 1 << BITS)
    assert exponential(Fraction(10**6)) == (0, 1)


def test_two_machines_are_zero_at_all_their_queries() -> None:
    for case in zero_cases(50):
        for values in campaign.true_values(case, case.queries[:10]):
            assert values[0][0] <= 0 <= values[0][1]
            assert values[0][1] - values[0][0] < Fraction(1, 2**200)
        tally = campaign.Tally()
        campaign.run(case, 3, tally)
        assert (tally.wrong, tally.early, tally.judged) == (0, 0, campaign._CHECKED)


@pytest.mark.parametrize("kernel", [RBF(0.05), Polynomial(2, 0.3, 1.0)])
def test_bounds_that_lie_are_found(kernel, monkeypatch) -> None:
    machine, X = random_machine(kernel, seed=1, n=60)
    case = Case(machine, SignRule(), X, "planted")
    sound = campaign.Tally()
    campaign.run(case, 6, sound)
    assert sound.wrong == 0
    assert sound.early > 0
    forced = campaign.forced

    def lying(case: Case, seed: int) -> AnytimePredictor:
        fast = forced(case, seed)
        embedding = fast.parts.embedding
        exits = tuple(
            replace(one, coef=-one.coef, residual=0.0 * one.residual) for one in embedding.exits
        )
        parts = replace(fast.parts, embedding=replace(embedding, exits=exits))
        return AnytimePredictor(fast.machine, fast.rule, fast.classes, fast.n_features, parts)

    monkeypatch.setattr(campaign, "forced", lying)
    tally = campaign.Tally()
    campaign.run(case, 6, tally)
    assert tally.broken > 0
    assert tally.changed > 0
    assert tally.misjudged > 0
