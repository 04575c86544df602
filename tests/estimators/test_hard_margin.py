"""LinearSVC with C infinite: fits, refuses with a proof, and goes through files and commands."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC
from tests.solvers.separable import INTERCEPTS, XOR, apart

import hinge
from hinge import LinearSVC, Status
from hinge.errors import NotSeparableError
from hinge.models import verify


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
@pytest.mark.parametrize("intercept", [None, "free", "none"])
def test_every_row_on_its_side(loss: str, intercept: str | None) -> None:
    X, y = apart(n=100)
    model = LinearSVC(loss=loss, C=math.inf, intercept=intercept, tol=1e-8).fit(X, y)
    assert model.solution_.status is Status.SOLVED
    assert model.score(X, y) == 1.0
    margins = (2 * y - 1) * model.decision_function(X)
    assert margins.min() == pytest.approx(1.5 if loss == "huber" else 1.0, rel=1e-6)


def test_agrees_with_a_kernel_machine_of_large_C() -> None:
    X, y = apart(n=60, width=0.5)
    model = LinearSVC(C=math.inf, intercept="free", tol=1e-9).fit(X, y)
    peer = SVC(kernel="linear", C=1e6, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-4, atol=1e-4)


def test_refuses_with_a_proof() -> None:
    model = LinearSVC(C=math.inf)
    with pytest.raises(NotSeparableError) as caught:
        model.fit(XOR[0], np.where(XOR[1], "yes", "no"))
    message = str(caught.value)
    assert message.startswith("C=inf asks for a hyperplane with class 'yes' on one side and class")
    assert "'no' on the other, and there is none. Proof: not separable:" in message
    assert message.endswith("Use a finite C, for example C=1000.")
    assert caught.value.solution.status is Status.NOT_SEPARABLE
    assert isinstance(caught.value, ValueError)
    assert not hasattr(model, "coef_")


def test_claims_no_more_than_rounding_allows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 3)), np.arange(100) % 2
    with pytest.raises(NotSeparableError) as caught:
        LinearSVC(C=math.inf).fit(X, y)
    message = str(caught.value)
    assert "and class 0 on the other. None was found: not separable beyond rounding:" in message
    assert "there is none" not in message


def test_an_offset_is_no_proof() -> None:
    X, y = 1e15 + np.arange(4.0)[:, None], [0, 0, 1, 1]
    with pytest.warns(match="LinearSVC stopped because more work no longer narrowed the gap"):
        LinearSVC(C=math.inf, intercept="free").fit(X, y)


def test_names_the_class_that_cannot_be_separated_from_the_rest() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotSeparableError, match="class 1 on one side and the rest on the other"):
        LinearSVC(C=math.inf).fit(X, y)


def test_several_classes() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = 0.1 * rng.normal(size=(90, 3)) + np.eye(3)[y]
    model = LinearSVC(C=math.inf, n_jobs=2).fit(X, y)
    assert model.score(X, y) == 1.0
    assert [solution.solver for solution in model.solutions_] == ["hard-margin"] * 3


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_saved_loaded_verified(tmp_path: Path, intercept: str) -> None:
    X, y = apart()
    chosen = {"augmented": None}.get(intercept, intercept)
    model = LinearSVC(C=np.float32(np.inf), intercept=chosen).fit(X, y)
    hinge.save(model, tmp_path / "m.hinge")
    again = hinge.load(tmp_path / "m.hinge")
    assert math.inf == again.C
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert verify(again, X, y).truthful
    assert verify(again, X, y).optimality == "proven"
    assert not verify(again, X, 1 - y).truthful


def test_compared_with_another() -> None:
    X, y = apart()
    rough, fine = (LinearSVC(C=math.inf, tol=tol).fit(X, y) for tol in (0.9, 1e-9))
    report = hinge.compare(rough, fine, X, y)
    assert "C=inf" in str(report)


def test_warm_start_keeps_going() -> None:
    X, y = apart(n=500)
    model = LinearSVC(C=math.inf, warm_start=True, tol=1e-8).fit(X, y)
    first = model.coef_.copy()
    np.testing.assert_allclose(model.fit(X, y).coef_, first, rtol=1e-6, atol=1e-9)


def test_a_limit_warns() -> None:
    X, y = apart(n=2000, d=30, width=0.01)
    with pytest.warns(match=r"stopped at max_iter=1 .* limit is low for C=inf"):
        LinearSVC(C=math.inf, max_iter=1).fit(X, y)
