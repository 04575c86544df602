"""What is said where memory does not suffice for the weights of very many features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge import Problem, TooManyFeaturesError
from hinge.solvers import DualCoordinate

FEATURES = 2**33
PIECES = (np.ones(3), np.array([0, 2**33 - 1, 1]), np.array([0, 1, 3]))
WIDE = sp.csr_array(PIECES, shape=(2, FEATURES))


@pytest.fixture(autouse=True)
def short_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(DualCoordinate, "start", start)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hinge.solve(Problem(WIDE, [0, 1]), "dual-coordinate"),
        lambda: hinge.LinearSVC(solver="dual-coordinate").fit(WIDE, [0, 1]),
    ],
)
def test_features_and_the_highest_of_them_are_named(call: Any) -> None:
    with pytest.raises(TooManyFeaturesError) as caught:
        call()
    assert isinstance(caught.value, MemoryError)
    assert str(caught.value) == (
        "There is not enough memory for the weights of 8589934592 features (64 GiB for each copy "
        "of them). The highest one that has a value is column 8589934591, counted from 0, in row "
        "1: if that is a mistake, mend it; else number the features that occur without gaps, for "
        "example by X[:, numpy.unique(X.indices)]."
    )


def test_memory_that_is_short_for_something_else() -> None:
    with pytest.raises(MemoryError) as caught:
        hinge.solve(Problem(np.eye(2), [0, 1]), "dual-coordinate")
    assert not isinstance(caught.value, TooManyFeaturesError)
