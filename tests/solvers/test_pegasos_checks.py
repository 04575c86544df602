"""The checks that every solver must pass, on Pegasos."""

from __future__ import annotations

import pytest

from hinge.solvers import Pegasos
from hinge.testing import yield_checks

# Steps of 1/t come within a few percent of the optimum in any reasonable time, not within 1e-7,
# and they leave an optimum that they are started at.
NOT_PRECISE = ("check_reaches_the_known_optimum", "check_a_warm_start_at_the_optimum_stays")
SOME = ("dense-float64-plain", "csr-float32-weighted")
CHECKS = [
    check
    for check in yield_checks(Pegasos(7))
    if check.label.endswith(SOME) and check.property.__name__ not in NOT_PRECISE
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_pegasos(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    assert len(CHECKS) == 2 * (6 + 7)  # two intercepts
