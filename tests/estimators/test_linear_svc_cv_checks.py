"""scikit-learn's own estimator checks on ``LinearSVCCV``."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from hinge import LinearSVCCV

ESTIMATORS = [
    LinearSVCCV([0.01, 1.0], cv=3),
    LinearSVCCV([0.01, 1.0], cv=3, tol=0),
    LinearSVCCV([0.01, 1.0], cv=3, loss="hinge", intercept="free", n_jobs=2),
]


def every_check() -> pytest.MarkDecorator:
    """Return ``parametrize_with_checks``, whose older versions pass pytest 9 a generator."""
    mark = parametrize_with_checks(ESTIMATORS)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@every_check()
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator: LinearSVCCV, check: Any) -> None:
    check(estimator)


def test_no_check_drops_out() -> None:
    assert len(list(estimator_checks_generator(LinearSVCCV()))) >= 55
