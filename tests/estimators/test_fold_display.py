"""What ``verbose`` shows of cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.estimators.data import three_classes

from hinge import SVCCV, InvalidParameterError, LinearSVCCV

ESTIMATORS: list[Any] = [LinearSVCCV, SVCCV]


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_folds_and_the_choice_are_shown(
    estimator: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hinge.estimators._fold_display._SECONDS_BETWEEN_LINES", 0.0)
    X, y = three_classes()
    seen = []
    model = estimator([0.1, 1.0], cv=3, verbose=1, callback=seen.append).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    name = type(model).__name__
    assert f"{name}, fold 3 of 3, value 2 of 2: pass " in err
    assert f"{name}: C={model.C_:g} has the best mean score\n" in err
    assert "(3 of 3)" in err  # the last problem of the fit of all rows
    assert seen
    quiet = estimator([0.1, 1.0], cv=3).fit(X, y)
    assert capsys.readouterr() == ("", "")
    np.testing.assert_array_equal(quiet.scores_, model.scores_)
    np.testing.assert_array_equal(quiet.decision_function(X), model.decision_function(X))


def test_the_chosen_gamma_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = three_classes()
    model = SVCCV([1.0], gammas=[0.1, 0.2], cv=3, verbose=1).fit(X, y)
    assert f"SVCCV: C=1, gamma={model.gamma_:g} has" in capsys.readouterr().err


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_verbose_that_is_no_number_is_refused(estimator: Any) -> None:
    X, y = three_classes()
    with pytest.raises(InvalidParameterError, match="verbose"):
        estimator(verbose=-1).fit(X, y)
