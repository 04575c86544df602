"""The checks that every solver must pass, on Newton's method."""

from __future__ import annotations

import pytest

from hinge.solvers import PrimalNewton
from hinge.testing import yield_checks

SOME = ("dense-float64-plain", "dense-float64-weighted", "csr-float32-weighted")
CHECKS = [check for check in yield_checks(PrimalNewton()) if check.label.endswith(SOME)]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_newtons_method(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    assert len(CHECKS) == 3 * 3 * (8 + 9 + 9)
