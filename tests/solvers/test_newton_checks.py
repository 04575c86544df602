"""The checks that every solver must pass, on Newton's method for large data."""

from __future__ import annotations

import pytest

from hinge.solvers import Newton
from hinge.testing import yield_checks

SOME = ("dense-float64-plain", "dense-float32-weighted", "csr-float64-weighted")
# Rows of weight 0 are absent from the result, but where they stand decides in which order the
# others are added up.
NOT_BITWISE = "check_a_row_without_weight_is_absent"
CHECKS = [
    check
    for check in yield_checks(Newton())
    if check.label.endswith(SOME) and check.property.__name__ != NOT_BITWISE
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_newton(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    assert len(CHECKS) == 3 * 3 * 3 * 8
