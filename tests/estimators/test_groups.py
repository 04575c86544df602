"""Groups of rows in cross-validation: who gets them, and that no fold divides them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.estimators.data import two_classes

from hinge import SVCCV, LinearSVCCV

ESTIMATORS: list[Any] = [LinearSVCCV, SVCCV]
GROUPS = np.arange(60) // 6


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("splitter", [GroupKFold(3), LeaveOneGroupOut()])
def test_folds_keep_groups_together(estimator: Any, splitter: Any) -> None:
    X, y = two_classes()
    found = estimator([0.1, 1.0], cv=splitter).fit(X, y, groups=GROUPS)
    splits = list(splitter.split(X, y, GROUPS))
    same = estimator([0.1, 1.0], cv=splits).fit(X, y)
    np.testing.assert_array_equal(found.scores_, same.scores_)
    assert len(found.scores_) == len(splits)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_splitter_of_groups_needs_them(estimator: Any) -> None:
    X, y = two_classes()
    with pytest.raises(ValueError, match="'groups' parameter should not be None"):
        estimator([1.0], cv=GroupKFold(3)).fit(X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_groups_are_routed(estimator: Any) -> None:
    X, y = two_classes()
    alone = estimator([0.1, 1.0], cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = estimator([0.1, 1.0], cv=GroupKFold(3)).fit(X, y, groups=GROUPS)
        np.testing.assert_array_equal(alone.scores_, routed.scores_)
        pipeline = make_pipeline(StandardScaler(), estimator([0.1, 1.0], cv=GroupKFold(3)))
        pipeline.fit(X, y, groups=GROUPS)
        outer = cross_validate(pipeline, X, y, cv=GroupKFold(2), params={"groups": GROUPS})
        assert np.isfinite(outer["test_score"]).all()
        with pytest.raises(TypeError, match="groups"):
            estimator([1.0], cv=KFold(3)).fit(X, y, groups=GROUPS)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_sample_weight_is_requested_as_before(estimator: Any) -> None:
    X, y = two_classes()
    weights = np.linspace(0.5, 2.0, 60)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = estimator([0.1, 1.0], cv=GroupKFold(3)).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(scaler, model)
        pipeline.fit(X, y, sample_weight=weights, groups=GROUPS)
        direct = estimator([0.1, 1.0], cv=GroupKFold(3))
        direct.fit(StandardScaler().fit_transform(X), y, weights, GROUPS)
        np.testing.assert_array_equal(pipeline[-1].scores_, direct.scores_)
        unasked = make_pipeline(scaler, estimator([1.0], cv=GroupKFold(3)))
        with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="sample_weight"):
            unasked.fit(X, y, sample_weight=weights, groups=GROUPS)
        assert "groups" not in str(model.get_metadata_routing()._self_request)
