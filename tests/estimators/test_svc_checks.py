"""scikit-learn's own estimator checks of the kernel classifier, under the rule of LinearSVC."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from hinge import SVC, SVCCV

# Both compare decision values to 1e-7. With the default tolerance two fits of one problem are only
# as close as its tolerance lets them be, and gamma="scale" counts every row once whatever its
# weight, as scikit-learn has it, so that the two are not even of one problem.
WEIGHT_CHECKS = {
    "check_sample_weight_equivalence_on_dense_data": "compares decision values to 1e-7",
    "check_sample_weight_equivalence_on_sparse_data": "compares decision values to 1e-7",
}

ESTIMATORS = [
    SVC(),
    SVC(kernel="linear"),
    SVC(kernel="poly", degree=2, coef0=1.0),
    SVC(kernel="laplacian"),
    SVC(gamma=0.1, tol=1e-9),
    SVC(gamma=0.1, tol=0),
    SVC(loss="squared_hinge"),
    SVC(loss="huber"),
    SVC(n_jobs=2),
    SVC(warm_start=True),
    SVC(class_weight="balanced"),
    SVC(shrinking=False),
    SVC(multiclass="ovr"),
    # One check allows 1,000 steps; with C = 1 that one machine of three classes takes 28,000.
    SVC(multiclass="ovr", kernel="linear", C=1e-3, n_jobs=2),
    SVCCV(Cs=[0.1, 10.0], cv=3),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    return {} if estimator.tol <= 1e-9 else dict(WEIGHT_CHECKS)


def every_check() -> pytest.MarkDecorator:
    """Return ``parametrize_with_checks``, whose older versions pass pytest 9 a generator."""
    mark = parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
    names, cases = mark.args
    return pytest.mark.parametrize(names, list(cases), **mark.kwargs)


@every_check()
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_check(estimator: Any, check: Any) -> None:
    check(estimator)


def test_no_check_drops_out() -> None:
    assert len(list(estimator_checks_generator(SVC()))) >= 55
    assert len(list(estimator_checks_generator(SVCCV()))) >= 55
