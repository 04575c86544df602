"""Labels of moving points: always those of the machine, whatever moved and whatever was saved."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from hinge.bounds import MovingPoints
from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.result import Point


def machine(rng: np.random.Generator, n_classes: int, d: int) -> SimpleNamespace:
    count = 1 if n_classes == 2 else n_classes
    return SimpleNamespace(
        coef_=rng.normal(size=(count, d)),
        intercept_=rng.normal(size=count),
        classes_=np.array(["a", "b", "c", "d", "e"])[:n_classes],
    )


def nudged(model: SimpleNamespace, rng: np.random.Generator, by: float) -> SimpleNamespace:
    return SimpleNamespace(
        coef_=model.coef_ + by * rng.normal(size=model.coef_.shape),
        intercept_=model.intercept_ + by * rng.normal(size=model.intercept_.shape),
        classes_=model.classes_,
    )


def labels_of(model: SimpleNamespace, X: np.ndarray) -> np.ndarray:
    scores = X @ model.coef_.T + model.intercept_
    if len(model.classes_) == 2:
        return model.classes_[(scores[:, 0] > 0).astype(int)]
    return model.classes_[np.argmax(scores, axis=1)]


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 5), told=st.booleans())
def test_labels_are_those_of_the_machine(seed: int, n_classes: int, told: bool) -> None:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    model, X = machine(rng, n_classes, d), rng.normal(size=(30, d))
    points = MovingPoints(model)
    ids = rng.permutation(1000)[:30]
    points.update(ids, X)
    speed = 10.0 ** rng.uniform(-3, 0)
    for turn in range(8):
        step = speed * rng.normal(size=X.shape) * (rng.random((30, 1)) < 0.7)
        moved = np.linalg.norm(step, axis=1) * (1.0 + 1e-12)
        X = X + step
        if turn % 3 == 2:
            model = nudged(model, rng, speed)
            known = np.setdiff1d(ids, points.change_model(model), assume_unique=True)
            # Labels that still stand are right before anything is read, at the distances so far.
            before = X - step
            at = np.searchsorted(ids, known, sorter=np.argsort(ids))
            rows = np.argsort(ids)[at]
            assert np.array_equal(points.labels(known), labels_of(model, before[rows]))
        found = points.update(ids, X, moved if told else None)
        assert np.array_equal(found.labels, labels_of(model, X))
        assert np.array_equal(points.labels(ids), found.labels)
    assert points.asked == 270
    assert points.examined >= 30


def test_points_far_from_the_boundary_are_not_read() -> None:
    rng = np.random.default_rng(0)
    model = machine(rng, 2, 20)
    X = rng.normal(size=(500, 20))
    points = MovingPoints(model, keep_rows=False)
    wanted: list[np.ndarray] = []

    def read(ids: np.ndarray) -> np.ndarray:
        wanted.append(ids)
        return X[ids]

    everyone = np.arange(500)
    assert points.update(everyone, read, moved=0.0).examined.all()
    for _ in range(20):
        X = X + 0.002 * rng.normal(size=X.shape)
        reach = 0.002 * 10.0
        found = points.update(everyone, read, moved=reach)
        assert np.array_equal(found.labels, labels_of(model, X))
    assert sum(len(ids) for ids in wanted) == points.examined
    assert points.saved == points.asked - points.examined
    assert points.saved > 0.8 * 20 * 500


def test_the_combined_bound_is_with_the_new_weights() -> None:
    # Under w' the point scores 1; it moves by 1 and w grows to 3: the margin can fall by
    # ||w - w'|| ||x'|| + ||w|| ||x - x'|| = 2 + 3, not by 2 + 1.
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update([0], [[1.0]])
    points.change_model(Point(np.array([3.0]), 0.0))
    points.update([0], [[-1.0]], moved=2.0)
    assert points.labels([0]) == [-1]
    assert points.examined == 2


def test_a_change_of_the_intercept_alone_is_exact() -> None:
    points = MovingPoints(Point(np.array([1.0, 0.0]), 0.0))
    points.update([0, 1], [[1.0, 100.0], [-3.0, 0.0]])
    assert len(points.change_model(Point(np.array([1.0, 0.0]), 2.5))) == 0
    assert points.labels([0, 1]).tolist() == [1, -1]
    assert points.change_model(Point(np.array([1.0, 0.0]), 3.5)).tolist() == [1]


def test_a_label_that_is_open_is_not_given() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update(["near", "far"], [[0.1], [50.0]])
    opened = points.change_model(Point(np.array([1.5]), -0.2))
    assert opened.tolist() == ["near"]
    assert points.labels(["far"]).tolist() == [1]
    with pytest.raises(InvalidDataError, match="'near' has been unknown since the machine changed"):
        points.labels(["near"])
    assert points.update(["near"], [[0.1]]).labels.tolist() == [-1]
    assert points.labels(["near", "far"]).tolist() == [-1, 1]


def test_ties_follow_predict() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    assert points.update([1], [[0.0]]).labels.tolist() == [-1]
    three = SimpleNamespace(coef_=np.zeros((3, 1)), intercept_=np.zeros(3), classes_=np.arange(3))
    assert MovingPoints(three).update([1], [[5.0]]).labels.tolist() == [0]


def test_what_changed_and_what_is_new() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    assert points.update([3, 4], [[1.0], [2.0]]).changed.tolist() == [True, True]
    found = points.update([4, 3, 9], [[-2.0], [1.1], [5.0]])
    assert found.labels.tolist() == [-1, 1, 1]
    assert found.changed.tolist() == [True, False, True]
    assert len(points) == 3
    points.forget([3, 77])
    assert len(points) == 2
    with pytest.raises(InvalidDataError, match="point 3 is not tracked"):
        points.labels([3])
    assert points.labels([4, 9]).tolist() == [-1, 1]
    assert points.update([9], [[4.9]]).examined.tolist() == [False]


def test_sparse_rows_when_the_distance_is_told() -> None:
    rng = np.random.default_rng(1)
    model = machine(rng, 4, 12)
    X = sp.random_array((40, 12), density=0.3, rng=rng, format="csr")
    points = MovingPoints(model)
    found = points.update(np.arange(40), X, moved=0.0)
    assert np.array_equal(found.labels, labels_of(model, X.toarray()))
    moved = X * 1.001
    found = points.update(np.arange(40), moved, moved=0.01)
    assert np.array_equal(found.labels, labels_of(model, moved.toarray()))
    assert np.count_nonzero(~found.examined) > 0


def test_a_point_read_from_sparse_rows_is_read_again_where_distances_are_measured() -> None:
    points = MovingPoints(Point(np.array([1.0, 0.0]), 0.0))
    points.update([1], sp.csr_array([[3.0, 0.0]]), moved=0.0)
    found = points.update([1, 2], [[-1.0, 0.0], [7.0, 0.0]])
    assert found.labels.tolist() == [-1, 1]
    assert found.examined.tolist() == [True, True]
    # From here on both rows are kept, until a sparse one takes the place of the second.
    assert points.update([1, 2], [[-1.1, 0.0], [7.1, 0.0]]).examined.tolist() == [False, False]
    points.update([2], sp.csr_array([[-7.0, 0.0]]), moved=15.0)
    found = points.update([1, 2], [[-1.1, 0.0], [7.0, 0.0]])
    assert found.labels.tolist() == [-1, 1]
    assert found.examined.tolist() == [False, True]


def test_a_point_that_may_be_anywhere_is_read() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update([1], [[3.0]])
    assert points.update([1], [[-3.0]], moved=np.inf).labels.tolist() == [-1]


def test_a_failed_update_changes_nothing() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update([0], [[0.5]])
    before = pickle.dumps(vars(points._points))

    def fails(_: np.ndarray) -> np.ndarray:
        message = "no answer"
        raise TimeoutError(message)

    with pytest.raises(TimeoutError):
        points.update([0, 1], fails, moved=9.0)
    with pytest.raises(InvalidDataError, match="contains NaN"):
        points.update([0], [[np.nan]], moved=9.0)
    assert pickle.dumps(vars(points._points)) == before
    assert points.asked == points.examined == 1


@pytest.mark.parametrize("first", [np.int64, np.uint64, np.int8])
@pytest.mark.parametrize("second", [np.int64, np.uint64, np.uint32])
def test_ids_may_be_integers_of_any_type(first: type, second: type) -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    large = int(np.iinfo(second).max) // 2  # no float64 if it has 64 bits
    points.update(np.array([1], dtype=first), [[3.0]])
    points.update(np.array([large, large - 1], dtype=second), [[-3.0], [4.0]])
    assert points.labels(np.array([1, large, large - 1], dtype=np.int64)).tolist() == [1, -1, 1]
    assert points.update([1], [[-3.0]]).labels.tolist() == [-1]
    assert len(points) == 3


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (np.array([3, 2**63], dtype=np.uint64), r"below 2\*\*63; got 9223372036854775808"),
        (np.array([b"b"]), "ids must be of one kind; .*<U1.*S1"),
        ([7], "ids must be of one kind; .*<U1.*int64"),
    ],
)
def test_ids_that_are_refused_change_nothing(ids: object, message: str) -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update(["a"], [[3.0]])
    before = pickle.dumps(vars(points._points))
    with pytest.raises(InvalidParameterError, match=message):
        points.update(ids, [[-3.0]] * len(ids))
    assert pickle.dumps(vars(points._points)) == before
    assert points.labels(["a"]).tolist() == [1]


def test_it_pickles() -> None:
    rng = np.random.default_rng(2)
    model, X = machine(rng, 3, 4), rng.normal(size=(20, 4))
    points = MovingPoints(model)
    points.update(np.arange(20), X)
    again = pickle.loads(pickle.dumps(points))
    X = X + 0.01
    ours, theirs = (each.update(np.arange(20), X) for each in (points, again))
    assert np.array_equal(ours.labels, theirs.labels)
    assert np.array_equal(ours.examined, theirs.examined)


def test_machines_that_no_point_needs_are_forgotten() -> None:
    rng = np.random.default_rng(3)
    model, X = machine(rng, 2, 3), rng.normal(size=(10, 3))
    points = MovingPoints(model)
    points.update(np.arange(10), X)
    for _ in range(50):
        model = nudged(model, rng, 0.3)
        points.change_model(model)
        found = points.update(np.arange(10), X, moved=0.0)
        assert np.array_equal(found.labels, labels_of(model, X))
    assert len(points._models) <= 11


@pytest.mark.parametrize(
    ("ids", "X", "moved", "message"),
    [
        ([[1]], [[1.0]], None, r"ids must be a vector of integers or words.*shape \(1, 1\)"),
        ([0.5], [[1.0]], None, "type float64"),
        ([1, 2, 1], [[1.0]] * 3, None, "all be different; got 1 more than once"),
        (["a"], [[1.0]], None, "ids must be of one kind; .*int64.*<U1"),
        ([1], [[1.0]], [1.0, 2.0], r"each of the 1 points; got an array of shape \(2,\)"),
        ([1], [[1.0]], -0.5, "moved must not be negative or NaN; got -0.5"),
        ([1], [[1.0]], np.nan, "got nan"),
        ([1], sp.csr_array([[1.0]]), None, "moved=None measures"),
        ([1], lambda _: [[1.0]], None, "pass moved="),
    ],
)
def test_what_is_refused(ids: object, X: object, moved: object, message: str) -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    points.update([5], [[1.0]])
    with pytest.raises(InvalidParameterError, match=message):
        points.update(ids, X, moved)


def test_rows_of_a_wrong_shape_are_refused() -> None:
    points = MovingPoints(Point(np.array([1.0, 2.0]), 0.0))
    with pytest.raises(InvalidDataError, match=r"2 points and 2 features; got shape \(2, 1\)"):
        points.update([1, 2], [[1.0], [2.0]])
    with pytest.raises(InvalidDataError, match=r"got shape \(1, 2\)"):
        points.update([1, 2], lambda _: [[1.0, 2.0]], moved=0.0)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SimpleNamespace(), "must be a fitted linear machine.*got SimpleNamespace"),
        (Point(np.array([np.nan]), 0.0), "weights that are not finite"),
        (
            SimpleNamespace(coef_=np.ones((2, 3)), intercept_=np.zeros(2), classes_=[1, 2, 3]),
            r"3 classes, weights of shape \(2, 3\)",
        ),
    ],
)
def test_what_is_no_machine(model: object, message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        MovingPoints(model)


def test_another_kind_of_machine_is_refused() -> None:
    points = MovingPoints(Point(np.array([1.0]), 0.0))
    with pytest.raises(InvalidParameterError, match="must have the classes and features"):
        points.change_model(Point(np.array([1.0, 2.0]), 0.0))
