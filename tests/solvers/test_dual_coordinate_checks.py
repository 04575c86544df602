"""The checks that every solver must pass, on dual coordinate descent and its options."""

from __future__ import annotations

from collections import Counter

import pytest

from hinge.solvers import DualCoordinate
from hinge.testing import yield_checks

SOME = ("dense-float64-plain", "csr-float32-weighted")


def _some(solver: DualCoordinate, seed: int) -> list:
    """Return the checks on two kinds of storage, which stand for all of them."""
    return [check for check in yield_checks(solver, seed) if check.label.endswith(SOME)]


DEFAULT = list(yield_checks(DualCoordinate()))
CYCLIC = _some(DualCoordinate("cyclic"), seed=1)
RANDOM = _some(DualCoordinate("random"), seed=2)
PLAIN = _some(DualCoordinate(shrinking=False, screening=False, extrapolation=False), seed=3)


@pytest.mark.parametrize("check", DEFAULT, ids=str)
def test_as_it_comes(check) -> None:
    check()


@pytest.mark.parametrize("check", CYCLIC, ids=str)
def test_in_cyclic_order(check) -> None:
    check()


@pytest.mark.parametrize("check", RANDOM, ids=str)
def test_in_random_order(check) -> None:
    check()


@pytest.mark.parametrize("check", PLAIN, ids=str)
def test_without_any_refinement(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    counts = Counter(check.property.__name__ for check in DEFAULT)
    # three losses, three intercepts, dense and CSR, two types; weighted or not
    assert counts.pop("check_a_row_without_weight_is_absent") == 36
    assert set(counts.values()) == {72}
    assert len(counts) == 8
    for some in (CYCLIC, RANDOM, PLAIN):
        assert len(some) == 3 * 3 * (8 + 9)
