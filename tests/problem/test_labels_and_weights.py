"""What a Problem takes as labels, weights and options, and how it refuses the rest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

import hinge
from hinge import Problem
from hinge.labels import WeightsAsRead, row_weights
from hinge.problem import C_from_lambda, C_from_mean, Intercept

X4 = np.asarray([[0.0], [1.0], [2.0], [3.0]])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([0, 0, 1, 1], [0, 1]),
        ([-1, -1, 1, 1], [-1, 1]),
        ([3.0, 3.0, 7.0, 7.0], [3.0, 7.0]),
        ([1.5, 1.5, 1.9, 1.9], [1.5, 1.9]),
        ([False, False, True, True], [False, True]),
        (["no", "no", "yes", "yes"], ["no", "yes"]),
        (np.asarray(["no", "no", "yes", "yes"], dtype=object), ["no", "yes"]),
        (np.asarray([b"a", b"a", b"b", b"b"]), [b"a", b"b"]),
        (np.asarray([2**63, 2**63, 2**64 - 1, 2**64 - 1], dtype=np.uint64), [2**63, 2**64 - 1]),
        (pd.Series([0, 0, 1, 1], index=[9, 8, 7, 6]), [0, 1]),
        (pd.Categorical(["no", "no", "yes", "yes"]), ["no", "yes"]),
        (pl.Series(["no", "no", "yes", "yes"]), ["no", "yes"]),
        (np.asarray([0, 0, 1, 1], dtype=">i4"), [0, 1]),
        (np.asarray([0, 9, 0, 9, 1, 9, 1, 9])[::2], [0, 1]),
    ],
)
def test_labels_of_any_kind(y: object, classes: list[object]) -> None:
    problem = Problem(X4, y)  # type: ignore[arg-type]
    assert problem.classes.tolist() == classes
    assert problem.signs.tolist() == [-1, -1, 1, 1]
    assert problem.signs.dtype == np.int8


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([0, 1], r"shape \(2,\).*4 rows"),
        ([[0], [0], [1], [1]], r"shape \(4, 1\)"),
        ([0, 0, 0, 0], "exactly two classes; y has 1: 0"),
        ([0, 1, 2, 3], "exactly two classes; y has 4: 0, 1, 2, 3"),
        ([0.0, 0.0, 1.0, np.nan], "row 3"),
        ([0.0, np.inf, 1.0, 1.0], "row 1"),
        (np.asarray([0.0, 0.0, 1.0, np.nan], dtype=object), "row 3"),
        (np.asarray([np.nan, 1.0, 1.0, 1.0], dtype=object), "row 0"),
        (np.asarray(["2026-01-01"] * 3 + ["NaT"], dtype="M8[D]"), "row 3"),
        (np.asarray([1, 1, 1, complex(np.nan, 0)]), "row 3|complex"),
        ([None, None, "a", "a"], "row 0|one type"),
        (pd.array([0, 0, 1, None], dtype="Int64"), "row 3|one type"),
        ([0, 0, "a", "a"], "one type"),
        (np.asarray([0, 0, "a", "a"], dtype=object), "one type"),
        (np.ma.masked_array([0, 0, 1, 1], mask=[0, 0, 0, 1]), "masked"),
        (None, "shape"),
        ("abcd", "shape"),
    ],
)
def test_labels_that_make_no_problem(y: object, match: str) -> None:
    with pytest.raises(hinge.InvalidLabelsError, match=match):
        Problem(X4, y)  # type: ignore[arg-type]


def test_weights_become_costs() -> None:
    plain = Problem(X4, [0, 0, 1, 1], C=4.0)
    assert plain.costs.tolist() == [4.0] * 4
    assert plain.sample_weight is None
    weighted = Problem(X4, [0, 0, 1, 1], C=4.0, sample_weight=[0, 1, 0.5, 2])
    assert weighted.costs.tolist() == [0.0, 4.0, 2.0, 8.0]
    assert (plain.n_counted, weighted.n_counted) == (4, 3)
    scalar = Problem(X4, [0, 0, 1, 1], C=4.0, sample_weight=0.5)
    assert scalar.costs.tolist() == [2.0] * 4


@pytest.mark.parametrize(
    ("weights", "match"),
    [
        ([1, 1, -1, 1], r"-1\.0.* row 2"),
        ([1, np.nan, 1, 1], "nan.* row 1"),
        ([1, 1, 1, np.inf], "inf.* row 3"),
        ([1, 1], r"shape == \(2,\).*\(4,\)"),
        ([[1, 1, 1, 1]], "1D array or scalar, got 2D array"),
        ([0, 0, 1, 1], "class .*0.* has no row of positive weight"),
        ([1, 1, 0, 0], "class .*1.* has no row of positive weight"),
        (0.0, "all of them are zero"),
        (["a", "b", "c", "d"], "weight"),
        ([[1], [2, 3], [4], [5]], "weight"),
        (np.asarray([1j, 1, 1, 1]), "weight"),
        (np.ma.masked_array([1.0, 1, 1, 1], mask=[1, 0, 0, 0]), "masked"),
        ([1e-308, 1, 1, 1e308], "cost|range|C"),
    ],
)
def test_weights_that_cannot_be_used(weights: object, match: str) -> None:
    with pytest.raises(hinge.InvalidWeightsError, match=match):
        Problem(X4, [0, 0, 1, 1], C=1e10, sample_weight=weights)  # type: ignore[arg-type]


def test_weights_are_copied_once_and_then_shared() -> None:
    given = np.asarray([1.0, 2.0, 3.0, 4.0])
    first = Problem(X4, [0, 0, 1, 1], sample_weight=given)
    second = Problem(X4, [0, 0, 1, 1], sample_weight=WeightsAsRead(first.sample_weight))
    assert not np.shares_memory(first.sample_weight, given)
    assert second.sample_weight is first.sample_weight
    read_only_view = given[:]
    read_only_view.flags.writeable = False
    third = Problem(X4, [0, 0, 1, 1], sample_weight=read_only_view)
    given[0] = 9.0
    assert third.sample_weight.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_weights_that_vanish_with_C_leave_no_class_unnoticed() -> None:
    with pytest.raises(hinge.InvalidWeightsError):
        Problem(X4, [0, 0, 1, 1], C=1e-200, sample_weight=[1e-200, 1e-200, 1, 1])


@pytest.mark.parametrize("name", ["C", "intercept_scale"])
@pytest.mark.parametrize(
    "value",
    [0, -1.0, np.nan, -np.inf, "1", None, True, [1.0], 10**400, np.complex128(1), np.ones(1)],
)
def test_numbers_outside_their_range_are_refused(name: str, value: object) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=f"{name} must"):
        Problem(X4, [0, 0, 1, 1], **{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [1, 1.0, np.float32(1), np.int64(1), np.float64(1)])
def test_any_real_number_is_a_C(value: float) -> None:
    C = Problem(X4, [0, 0, 1, 1], C=value).C
    assert C == 1.0
    assert type(C) is float


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"loss": "hing"}, hinge.InvalidParameterError, "Did you mean 'hinge'"),
        ({"intercept": "fre"}, hinge.InvalidParameterError, "Did you mean 'free'"),
        ({"intercept": None}, hinge.InvalidParameterError, "intercept must be one of"),
        ({"penalty": "l2 "}, hinge.InvalidParameterError, "Did you mean 'l2'"),
        ({"penalty": "l1"}, hinge.UnsupportedError, "'l2' is"),
        ({"kernel": "rbg"}, hinge.InvalidParameterError, "Did you mean .rbf"),
        ({"kernel": "rbf", "intercept": "augmented"}, hinge.UnsupportedError, "free. or .none"),
        ({"kernel": "rbf", "C": float("inf")}, hinge.UnsupportedError, "C must be finite"),
    ],
)
def test_unknown_options(options: dict[str, object], error: type, match: str) -> None:
    with pytest.raises(error, match=match):
        Problem(X4, [0, 0, 1, 1], **options)  # type: ignore[arg-type]


def test_inputs_are_left_alone_and_not_kept() -> None:
    X, y, weights = X4.copy(), np.asarray([0, 0, 1, 1]), np.ones(4)
    before = [array.tobytes() for array in (X, y, weights)]
    problem = Problem(X, y, sample_weight=weights)
    assert [array.tobytes() for array in (X, y, weights)] == before
    y[:] = 1
    weights[:] = 0
    assert problem.signs.tolist() == [-1, -1, 1, 1]
    assert problem.costs.tolist() == [1.0] * 4
    assert X.flags.writeable


def test_read_only_weights_are_copied_too() -> None:
    weights = np.ones(4)
    weights.flags.writeable = False
    problem = Problem(X4, [0, 0, 1, 1], sample_weight=weights)
    assert not np.shares_memory(problem.sample_weight, weights)
    assert not np.shares_memory(row_weights(weights, 4), weights)
    weights.flags.writeable = True
    weights[:] = 7
    assert problem.costs.tolist() == [1.0] * 4


@pytest.mark.parametrize("name", ["signs", "sample_weight", "costs"])
def test_what_a_problem_holds_is_read_only(name: str) -> None:
    problem = Problem(X4, [0, 0, 1, 1], sample_weight=[1, 2, 3, 4])
    if name == "costs":
        problem.costs[:] = 0  # a fresh array each time: writing to it changes nothing
        assert problem.costs.tolist() == [1, 2, 3, 4]
        return
    with pytest.raises(ValueError, match="read-only"):
        getattr(problem, name)[0] = 0


def test_conversions_of_C() -> None:
    # lambda/2 ||w||^2 + mean loss is lambda times 1/2 ||w||^2 + C sum loss with C = 1/(lambda n).
    assert C_from_lambda(0.25, 8) == 0.5
    assert C_from_mean(4.0, 8) == 0.5
    for convert in (C_from_lambda, C_from_mean):
        with pytest.raises(hinge.InvalidParameterError, match="greater than 0"):
            convert(0.0, 8)


@pytest.mark.parametrize("kind", list(Intercept))
def test_kinds_of_intercept(kind: Intercept) -> None:
    problem = Problem(X4, [0, 0, 1, 1], intercept=kind.value, intercept_scale=4.0)
    augmented = kind is Intercept.AUGMENTED
    assert problem.intercept is kind
    assert problem.constant_feature == (4.0 if augmented else 0.0)
    assert problem.intercept_weight(2.0) == (0.5 if augmented else 0.0)


def test_the_repr_says_what_it_is() -> None:
    problem = Problem(X4, [0, 0, 1, 1], loss="huber", C=2, intercept="none")
    assert repr(problem) == (
        "Problem(4 rows x 1 features, loss=Huber(h=0.5), C=2.0, intercept='none')"
    )
