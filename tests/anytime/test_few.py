"""A few queries in one call: the labels of the full evaluation, whatever the caller's rows are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.few_machines import few_predictor, few_queries
from tests.anytime.machines import random_machine

from hinge._native import core
from hinge.anytime import AnytimePredictor, Plan, SignRule, VoteRule, few, single
from hinge.anytime.build import Parts
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Sides
from hinge.anytime.rules import LargestRule, Rule
from hinge.anytime.tabled import TabledStage
from hinge.errors import InvalidDataError
from hinge.kernels import RBF
from hinge.machines import Machine
from hinge.rows import Rows

RULES: dict[str, Rule] = {
    "sign": SignRule(),
    "strict sign": SignRule(is_strict=True),
    "largest": LargestRule(),
    "votes": VoteRule(4),
}


@pytest.mark.parametrize("name", list(RULES))
def test_the_compiled_rules_are_those_of_python(name: str) -> None:
    rng = np.random.default_rng(0)
    functions = {"largest": 4, "votes": 6}.get(name, 1)
    middle = rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], size=(4000, functions))
    middle += rng.choice([0.0, 0.1], size=middle.shape) * rng.normal(size=middle.shape)
    width = rng.choice([0.0, 1e-9, 0.3, 2.0], size=middle.shape)
    lower, upper = middle - width, middle + width
    lower[::17, 0], upper[5::19, -1], lower[3::23] = -np.inf, np.inf, np.nan
    codes = np.empty(len(lower), dtype=np.int64)
    core.proven_codes(name, 4, lower, upper, codes)
    with np.errstate(invalid="ignore"):
        settled, want = RULES[name].settled(lower, upper)
    np.testing.assert_array_equal(codes, np.where(settled, want, -1))
    assert 400 < np.sum(settled) < 3900


def unlike(X: np.ndarray) -> dict[str, Any]:
    """Return the same rows as callers may have them."""
    read_only = X.copy()
    read_only.flags.writeable = False
    sparse = sp.csr_array(X)
    shuffled = sp.csr_array(X)
    for row in range(len(X)):
        part = slice(shuffled.indptr[row], shuffled.indptr[row + 1])
        shuffled.indices[part] = shuffled.indices[part][::-1].copy()
        shuffled.data[part] = shuffled.data[part][::-1].copy()
    shuffled.has_sorted_indices = False
    wide = sp.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    longer = sp.csr_array(X)
    longer.data = np.concatenate((longer.data, [np.nan]))
    longer.indices = np.concatenate((longer.indices, [99]))
    return {
        "array": X,
        "read only": read_only,
        "columns first": np.asfortranarray(X),
        "every other": np.repeat(X, 2, axis=1)[:, ::2],
        "other byte order": X.astype(">f8"),
        "list": X.tolist(),
        "csr array": sparse,
        "csr matrix": sp.csr_matrix(X),
        "csc": sp.csc_array(X),
        "not sorted": shuffled,
        "wide indices": wide,
        "more than its pointers say": longer,
    }


@pytest.mark.parametrize("size", [1, 5])
@pytest.mark.parametrize("kind", list(unlike(np.eye(2))))
def test_rows_of_all_kinds_have_the_same_labels(kind: str, size: int) -> None:
    machine, X = random_machine(RBF(0.3), seed=3, outputs=6)
    fast = few_predictor(machine, VoteRule(4), 4)
    X = X[:size].copy()
    X[0, 1] = 0.0
    want = VoteRule(4).codes(machine.values(Rows(X)))
    np.testing.assert_array_equal(fast.predict(unlike(X)[kind]), want)
    narrow = VoteRule(4).codes(machine.values(Rows(X.astype(np.float32))))
    np.testing.assert_array_equal(fast.predict(X.astype(np.float32)), narrow)


def broken(X: np.ndarray, how: str) -> Any:
    """Return rows that must be refused."""
    X = X.copy()
    sparse = sp.csr_array(X)
    if how == "not a number":
        X[0, 2] = np.nan
        return X
    if how == "infinite":
        X[0, 0] = np.inf
        return X
    if how == "squares overflow":
        X[0, 0] = 1e200
        return X
    if how == "sparse, not a number":
        sparse.data[1] = np.nan
    if how == "features":
        return X[:, :3].copy()
    if how == "one dimension":
        return X[0]
    if how == "no rows":
        return X[:0]
    if how == "column beyond":
        sparse.indices[0] = 4
    if how == "negative column":
        sparse.indices[0] = -1
    if how == "pointers beyond":
        sparse.indptr[-1] = 1000
    if how == "falling pointers":
        sparse.indptr[0] = 3
    if how == "objects":
        sparse.indices = sparse.indices.astype(object)
    if how == "two dimensions":
        sparse.data = sparse.data.reshape(1, -1)
    return sparse


@pytest.mark.parametrize(
    "how",
    [
        *("not a number", "infinite", "squares overflow", "sparse, not a number", "features"),
        *("one dimension", "no rows", "column beyond", "negative column", "pointers beyond"),
        *("falling pointers", "objects", "two dimensions"),
    ],
)
def test_rows_that_are_none_are_refused(how: str) -> None:
    machine, X = random_machine(RBF(0.3), seed=3)
    fast = few_predictor(machine)
    with pytest.raises(InvalidDataError):
        fast.predict(broken(X[:2], how))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_labels_by_a_table(is_sparse: bool) -> None:
    rng = np.random.default_rng(4)
    S, X = (rng.integers(0, 2, size=(n, 9)).astype(float) for n in (80, 60))
    X[7, 3], X[9, 2] = 0.5, 3.0  # no small whole number, and a large one
    machine = Machine(RBF(0.2), Rows(S), rng.normal(size=(80, 3)), np.zeros(3))
    machine.intercept[:] = -machine.values(Rows(X[:1]))[0]  # the first query is a tie
    functions = Functions.of(machine)
    assert TabledStage.of(functions) is not None
    parts = Parts(Plan(uses_table=True), functions, None, Sides(functions))
    for rule, classes in ((VoteRule(3), 3), (LargestRule(), 3)):
        fast = AnytimePredictor(machine, rule, np.arange(classes), 9, parts)
        queries = sp.csr_array(X) if is_sparse else X
        want = rule.codes(machine.values(Rows(queries)))
        for size in (1, 4):
            got = [fast.predict(queries[k : k + size]) for k in range(0, 60, size)]
            np.testing.assert_array_equal(np.concatenate(got), want)
        assert fast._few is not None
        found = fast._few.codes_at_once(queries[:8])
        assert found is not None
        np.testing.assert_array_equal(found[0][[0, 7]], [-1, -1])
        assert np.sum(found[0] >= 0) > 3


@pytest.mark.parametrize("is_sparse", [False, True])
def test_calls_of_large_machines_take_a_row_at_a_time(
    is_sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine, X = random_machine(RBF(0.3), seed=3)
    queries = sp.csr_array(X[:9]) if is_sparse else X[:9]
    whole = few_queries(machine).codes(Rows(queries))
    monkeypatch.setattr(few, "_VALUES_A_CALL", 1)
    pieces = few_queries(machine)
    assert pieces.codes_at_once(queries) is None
    assert pieces.codes_at_once(queries[:1]) is not None
    found = pieces.codes(Rows(queries))
    assert whole is not None
    assert found is not None
    np.testing.assert_array_equal(found[0], whole[0])
    assert found[1] == whole[1]


def test_rows_in_float32_are_few_only_if_they_are_very_few() -> None:
    machine, X = random_machine(RBF(0.3), seed=3)
    fast = few_predictor(machine)
    assert fast._few is not None
    assert fast._few.most(is_sparse=True) == fast._few.most(is_sparse=False) == few._MOST_IN_SINGLE
    whole = Machine(RBF(0.3), Rows(np.rint(4.0 * X)), np.ones((len(X), 1)), np.zeros(1))
    assert few_queries(whole).most(is_sparse=False) == few.MOST
    for size in (few._MOST_IN_SINGLE, few._MOST_IN_SINGLE + 1, few.MOST, few.MOST + 1):
        want = SignRule().codes(machine.values(Rows(X[:size])))
        np.testing.assert_array_equal(fast.predict(X[:size]), want)


def test_sparse_rows_of_many_values_are_left_open() -> None:
    rng = np.random.default_rng(6)
    S = sp.random_array((50, 2000), density=0.002, rng=rng, format="csr")
    machine = Machine(RBF(0.5), Rows(S), rng.normal(size=(50, 1)), np.array([0.3]))
    fast, limit = few_predictor(machine), 2 * Rows(S).longest_row + 64
    for count, is_open in ((limit, False), (limit + 1, True)):
        x = np.zeros((1, 2000))
        x[0, :count] = 0.01
        found = fast._few.codes_at_once(sp.csr_array(x))
        assert found is not None
        assert found[1] == is_open
        want = SignRule().codes(machine.values(Rows(sp.csr_array(x))))
        np.testing.assert_array_equal(fast.predict(sp.csr_array(x)), want)


def test_plans_and_memory_say_whether_a_few_take_the_shorter_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine, X = random_machine(RBF(0.3), seed=3)
    functions = Functions.of(machine)

    def made(plan: Plan) -> AnytimePredictor:
        parts = Parts(plan, functions, None, Sides(functions))
        return AnytimePredictor(machine, SignRule(), np.arange(2), 4, parts)

    assert made(Plan())._few is None
    assert made(Plan(shares={"float32": 0.9}))._few is None
    assert made(Plan(shares={"float32": 0.9}, uses_single=True))._few is not None
    fast = made(Plan(shares={"float32": 0.1}))
    assert fast._few is not None
    want = SignRule().codes(machine.values(Rows(X[:9])))
    np.testing.assert_array_equal(fast.predict(X[:9]), want)
    monkeypatch.setattr(single, "_BYTES", 1000)
    large = made(Plan(uses_single=True))
    assert large._few is None
    np.testing.assert_array_equal(large.predict(X[:9]), want)


def test_the_compiled_core_refuses_what_does_not_belong_together() -> None:
    machine, X = random_machine(RBF(0.3), seed=3)
    functions = Functions.of(machine)
    side = Sides(functions).get("terms", functions.terms, Rows(X), np.float32)
    kept = core.KeptTerms(side.rows, np.ascontiguousarray(functions.coef.T))
    whole = core.WholeTerms(np.ones((3, 2), dtype=np.int16), np.ones((1, 3)))
    one, two = np.zeros(1), np.zeros(2)

    def made(width: int = 4, rule: str = "sign", n: int = 1, centre: Any = None) -> Any:
        return core.FewQueries(width, 1.0, 1.0, width, one, np.zeros(n), centre, None, rule, 3)

    for arguments, message in (
        ({"rule": "other"}, "no rule is called other"),
        ({"rule": "votes"}, "every pair"),
        ({"n": 2}, "full has 1"),
        ({"n": 0}, "at least one function"),
        ({"centre": two}, "every feature"),
    ):
        with pytest.raises(ValueError, match=message):
            made(**arguments)
    for add in ("add_products", "add_differences", "add_wide"):
        with pytest.raises(ValueError, match="as many features"):
            getattr(made(3), add)(0, kept, 1.0, 0.0, 0.0, one)
        with pytest.raises(ValueError, match="fixed has 2"):
            getattr(made(), add)(0, kept, 1.0, 0.0, 0.0, two)
    with pytest.raises(ValueError, match="as many features"):
        made().add_whole(0, whole, 1.0, 1.0, 0.0, 0.0, 0.0, one)
    native = made()
    native.add_products(0, kept, 0.3, 0.0, 0.0, one)
    with pytest.raises(ValueError, match="no such step"):
        native.bounds(1, X[:1], None, None, np.empty((1, 1)), np.empty((1, 1)))
    with pytest.raises(ValueError, match="every row and function"):
        native.bounds(0, X[:1], None, None, np.empty((1, 1)), np.empty((1, 2)))
    codes = np.empty(2, dtype=np.int64)
    assert native.codes(X[:1], None, None, codes) == -1
    assert native.codes(X[:2].astype(int), None, None, codes) == -1
    assert native.codes(X[:2], None, np.array([0, 1, 2]), codes) == -1
