"""Every parameter that is refused is refused with a message that says what to pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.estimators.data import two_classes

from hinge import InvalidParameterError, LinearSVC, UnsupportedError
from hinge.solvers import PrimalNewton

INVALID: list[tuple[dict[str, Any], str]] = [
    ({"loss": "hing"}, r"loss must be one of 'hinge', 'huber', 'squared_hinge'; got 'hing'. Did"),
    ({"loss": None}, r"loss must be one of .* got None"),
    ({"penalty": "l3"}, r"penalty must be one of 'l1', 'l2'; got 'l3'"),
    ({"dual": "both"}, r"dual must be True, False or 'auto'; got 'both'"),
    ({"tol": -1e-3}, r"tol must not be negative; got -0.001"),
    ({"tol": "small"}, r"tol must be a number; got 'small' of type str"),
    ({"C": 0}, r"C must be greater than 0; got 0"),
    ({"C": float("nan")}, r"C must be finite; got nan"),
    ({"C": -float("inf")}, r"C must be finite; got -inf"),
    ({"C": True}, r"C must be a number; got True of type bool"),
    ({"multi_class": "ovo"}, r"multi_class must be one of 'crammer_singer', 'ovr'; got 'ovo'"),
    ({"fit_intercept": 1}, r"fit_intercept must be True or False; got 1"),
    ({"intercept_scaling": 0}, r"intercept_scaling must be greater than 0; got 0"),
    ({"class_weight": "even"}, r"class_weight must be None, 'balanced' or a dictionary .* 'even'"),
    ({"class_weight": {0: -1.0}}, "class_weight gives class 0 the weight -1.0; it must be"),
    ({"verbose": -1}, r"verbose must be an integer of at least 0; got -1"),
    ({"random_state": "one"}, r"random_state must be None, a whole number .* Generator; got 'one'"),
    ({"max_iter": 1.5}, r"max_iter must be an integer of at least 0; got 1.5"),
    ({"max_iter": -1}, r"max_iter must be an integer of at least 0; got -1"),
    ({"solver": "dual-coordinat"}, r"solver must be one of .* Did you mean 'dual-coordinate'\?"),
    ({"intercept": "fixed"}, r"intercept must be None, 'free' or 'none'; got 'fixed'"),
    ({"intercept": "free", "fit_intercept": False}, r"asks for an intercept and .* for none"),
    ({"warm_start": "yes"}, r"warm_start must be True or False; got 'yes'"),
    ({"n_jobs": 0}, r"n_jobs must be None or a whole number other than 0 .* got 0"),
    ({"n_jobs": 1.5}, r"n_jobs must be None or a whole number other than 0 .* got 1.5"),
    ({"time_limit": 0}, r"time_limit must be greater than 0; got 0"),
    ({"callback": 3}, r"callback must be None or callable with an event; got 3"),
]


@pytest.mark.parametrize(("parameters", "message"), INVALID, ids=lambda value: str(value)[:40])
def test_refused(parameters: dict[str, Any], message: str) -> None:
    X, y = two_classes()
    with pytest.raises(InvalidParameterError, match=message):
        LinearSVC(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": "l1"}, r"penalty='l1' is not in this version of hinge; use penalty='l2'"),
        ({"penalty": "l1", "loss": "hinge"}, r"penalty='l1' is not in this version"),
        (
            {"multi_class": "crammer_singer"},
            r"'crammer_singer' is not in this version .* multi_class='ovr'",
        ),
    ],
)
def test_not_in_this_version(parameters: dict[str, Any], message: str) -> None:
    X, y = two_classes()
    with pytest.raises(UnsupportedError, match=message):
        LinearSVC(**parameters).fit(X, y)


@pytest.mark.parametrize(
    "parameters",
    [
        {"C": np.float32(1.0)},
        {"max_iter": np.int64(1000)},
        {"fit_intercept": np.bool_(True)},
        {"verbose": False},
        {"n_jobs": -1},
        {"class_weight": {}},
        {"solver": "primal-newton"},
        {"solver": PrimalNewton(aim=1e-4)},
        {"random_state": 0},
    ],
    ids=lambda parameters: " ".join(f"{k}: {type(v).__name__}" for k, v in parameters.items()),
)
def test_equivalent_values_are_taken(parameters: dict[str, Any]) -> None:
    X, y = two_classes()
    expected = LinearSVC().fit(X, y).coef_
    np.testing.assert_array_equal(LinearSVC(**parameters).fit(X, y).coef_, expected)


def test_constructor_only_stores() -> None:
    weights = {0: 1.0}
    model = LinearSVC(C="nonsense", class_weight=weights)
    assert model.C == "nonsense"
    assert model.class_weight is weights


def test_a_generator_gives_one_seed() -> None:
    X, y = two_classes()
    for make in (np.random.RandomState, np.random.default_rng):
        first = LinearSVC(random_state=make(5)).fit(X, y)
        again = LinearSVC(random_state=make(5)).fit(X, y)
        assert first.solution_.seed == again.solution_.seed != 0
        np.testing.assert_array_equal(first.coef_, again.coef_)
    assert LinearSVC().fit(X, y).solution_.seed == 0
    assert LinearSVC(random_state=7).fit(X, y).solution_.seed == 7
