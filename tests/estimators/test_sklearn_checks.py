"""scikit-learn's own estimator checks, over the parameters that change what is run."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from hinge import LinearSVC

# Without an intercept the decision function is zero at the origin for any class weights, so that
# no weights make every row of that check's blobs one class; scikit-learn's fails it too.
NO_INTERCEPT_CHECKS = {
    "check_class_weight_classifiers": "expects an intercept that class weights can move",
}

ESTIMATORS = [
    LinearSVC(),
    LinearSVC(tol=0),
    LinearSVC(loss="hinge"),
    LinearSVC(loss="hinge", tol=0),
    LinearSVC(loss="huber"),
    LinearSVC(intercept="free"),
    LinearSVC(intercept="none"),
    LinearSVC(fit_intercept=False),
    LinearSVC(n_jobs=2),
    LinearSVC(warm_start=True),
    LinearSVC(class_weight="balanced"),
]


def expected_failures(estimator: LinearSVC) -> dict[str, str]:
    has_none = not estimator.fit_intercept or estimator.intercept == "none"
    return NO_INTERCEPT_CHECKS if has_none else {}


def every_check() -> pytest.MarkDecorator:
    """Return ``parametrize_with_checks``, whose older versions pass pytest 9 a generator."""
    mark = parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@every_check()
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator: LinearSVC, check: Any) -> None:
    check(estimator)


def test_no_check_drops_out() -> None:
    assert len(list(estimator_checks_generator(LinearSVC()))) >= 55
