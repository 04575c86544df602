"""The checks that every solver must pass, on Newton's method."""

from __future__ import annotations

import numpy as np
import pytest
from tests.solvers.data import some_weights, two_clouds

from hinge import Problem, Stop, solve
from hinge.solvers import PrimalNewton
from hinge.testing import yield_checks

SOME = ("dense-float64-plain", "dense-float64-weighted", "csr-float32-weighted")
# Newton's method sums over all rows in one matrix product: rows of weight 0 are absent from its
# result, but where they stand decides in which order the others are added up.
NOT_BITWISE = "check_a_row_without_weight_is_absent"
CHECKS = [
    check
    for check in yield_checks(PrimalNewton())
    if check.label.endswith(SOME) and check.property.__name__ != NOT_BITWISE
]


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_newtons_method(check) -> None:
    check()


def test_no_check_drops_out() -> None:
    assert len(CHECKS) == 3 * 3 * 3 * 8


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", ["augmented", "none"])
def test_rows_without_weight_do_not_move_the_optimum(loss: str, intercept: str) -> None:
    X, y = two_clouds()
    weights = some_weights(len(y))
    present = weights > 0
    stop = Stop(gap=1e-7, steps=200)
    whole, part = (
        solve(
            Problem(X[rows], y[rows], loss=loss, intercept=intercept, sample_weight=weights[rows]),
            PrimalNewton(),
            stop,
        )
        for rows in (slice(None), present)
    )
    assert whole.certificate.primal == pytest.approx(part.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(whole.coef, part.coef, rtol=1e-6)
