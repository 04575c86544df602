"""Value, gradient and pruning of the index against exact arithmetic; the campaign runs more."""

from __future__ import annotations

import numpy as np
import pytest
from tests.bounds.exactness import BOUNDS, LOSSES, STORAGES, check_case, random_case

from hinge.bounds import Cells
from hinge.bounds.moments import Moments
from hinge.bounds.passes import Passes
from hinge.bounds.positions import Positions

PER_TEST = 4


@pytest.mark.parametrize("number", range(len(STORAGES) * len(BOUNDS) * len(LOSSES)))
def test_sums_and_pruning_are_exact(number: int) -> None:
    for repeat in range(PER_TEST):
        check_case(random_case(number + repeat * len(STORAGES) * len(BOUNDS) * len(LOSSES)))


def test_the_cases_prune() -> None:
    spared = [check_case(random_case(number)) for number in range(100)]
    assert np.mean(np.array(spared) > 0) > 0.5


def test_half_of_the_cases_search_sorted_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    sorts = []
    original = Positions.sort

    def counted(self, check):
        sorts.append(number)
        original(self, check)

    monkeypatch.setattr(Positions, "sort", counted)
    for number in range(100):
        check_case(random_case(number))
    assert len(set(sorts)) > 30


def test_the_cases_of_the_squared_hinge_use_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    original = Moments.sums

    def counted(self, w, b, pieces):
        used.append(number)
        return original(self, w, b, pieces)

    monkeypatch.setattr(Moments, "sums", counted)
    squared = [number for number in range(400) if random_case(number).loss == "squared_hinge"]
    for number in squared:
        check_case(random_case(number))
    assert len(set(used)) > len(squared) / 4


def test_moments_that_lose_a_row_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Passes.add_moments

    def forgetful(self, numbers, scale, moments, sums):
        original(self, numbers[1:], scale, moments, sums)

    monkeypatch.setattr(Passes, "add_moments", forgetful)
    with pytest.raises(AssertionError):
        _check_many()


def _check_many() -> None:
    for number in range(400):
        check_case(random_case(number))


def test_a_bound_that_is_too_narrow_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Cells.change_of

    def narrow(self, length, db, towards, wrong):
        return original(self, 0.5 * length, db, towards, wrong)

    monkeypatch.setattr(Cells, "change_of", narrow)
    with pytest.raises(AssertionError, match="is pruned"):
        _check_many()
