"""Limits, what a fit says when it stops short, and what it does not say otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import LinearSVC, Status


def warning_of(model: LinearSVC, X: object, y: object) -> str:
    with pytest.warns(ConvergenceWarning) as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    return str(caught[0].message)


def test_solved_fits_do_not_warn() -> None:
    X, y = cancer()
    model = LinearSVC().fit(X, y)
    assert model.solution_.status is Status.SOLVED
    assert model.certificate_.relative_gap <= 1e-4
    assert 1 <= model.n_iter_ <= 1000


def test_warning_gives_gap_meaning_cause_and_cure() -> None:
    X, y = cancer()
    model = LinearSVC(tol=1e-12, max_iter=30, solver="dual-coordinate")
    text = warning_of(model, X, y)
    gap = model.certificate_.relative_gap
    assert text.startswith(
        f"LinearSVC stopped at max_iter=30 with a relative duality gap of {gap:.2g}"
    )
    share = 100 * model.certificate_.gap / model.certificate_.dual
    assert f"within {share:.2g} % of the optimum" in text
    changeable = int(np.count_nonzero(~model.settled(X)))
    assert f"labels of at most {changeable} of 569 training rows could still change" in text
    assert "Likely cause: the tolerance or the limit is low for C=1." in text
    assert "raise max_iter, or loosen tol" in text
    assert model.solution_.status is Status.ITERATION_LIMIT


def test_warning_names_uneven_features() -> None:
    X, y = cancer(scaled=False)
    text = warning_of(LinearSVC(C=100, max_iter=5, solver="dual-coordinate"), X, y)
    assert "features of uneven scale, column 23 being 2.3e+05 times as large as column 19" in text
    assert "StandardScaler" in text


def test_warning_names_a_large_cost() -> None:
    X, y = two_classes()
    text = warning_of(LinearSVC(C=1e7, loss="hinge", max_iter=3), X, y)
    assert "Likely cause: C=1e+07 is large for rows whose squared norm is" in text


def test_warning_without_any_proof() -> None:
    X, y = cancer(scaled=False)
    text = warning_of(LinearSVC(C=1e6, max_iter=0), X, y)
    assert "Nothing is proven yet about how close the objective is to the optimum" in text


def test_warning_names_the_worst_class() -> None:
    X, y = three_classes()
    model = LinearSVC(tol=1e-12, max_iter=2)
    text = warning_of(model, X, np.array(["ant", "bee", "cat"])[y])
    gaps = [certificate.relative_gap for certificate in model.certificates_]
    worst = ["ant", "bee", "cat"][int(np.argmax(gaps))]
    assert f"for 3 of 3 classes, class {worst} being the worst," in text
    assert model.certificate_ is model.certificates_[int(np.argmax(gaps))]
    assert model.solution_ is model.solutions_[int(np.argmax(gaps))]


@pytest.mark.parametrize("data", [cancer, three_classes])
def test_time_limit(data: Any) -> None:
    X, y = data()
    model = LinearSVC(time_limit=1e-9)
    text = warning_of(model, X, y)
    assert "stopped at the time limit after" in text
    assert "raise time_limit" in text
    assert {solution.status for solution in model.solutions_} == {Status.TIME_LIMIT}
    assert all(np.isfinite(certificate.primal) for certificate in model.certificates_)
    assert model.predict(X).shape == y.shape


def test_rounding_is_the_end() -> None:
    X, y = cancer()
    text = warning_of(LinearSVC(tol=1e-17, max_iter=10**6), X, y)
    assert "Rounding is all that is left of it" in text


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "huber"])
def test_a_tolerance_of_zero_means_rounding_and_no_warning(loss: str) -> None:
    X, y = two_classes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(loss=loss, tol=0, max_iter=10**6).fit(X, y)
    assert model.solution_.status in (Status.STALLED, Status.SOLVED)
    assert model.certificate_.relative_gap < 1e-9


def test_no_steps_at_all() -> None:
    X, y = two_classes()
    with pytest.warns(ConvergenceWarning, match="max_iter=0"):
        model = LinearSVC(max_iter=0).fit(X, y)
    assert model.n_iter_ == 0
    assert model.predict(X).shape == (60,)


def test_without_a_tolerance_only_an_end_that_is_none_is_warned_of() -> None:
    X, y = cancer(scaled=False)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=20 .* \(tol=0\)"):
        LinearSVC(tol=0, C=1e6, loss="hinge", max_iter=20).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LinearSVC(tol=0, max_iter=10**6).fit(*two_classes())
    assert model.certificate_.relative_gap < 1e-10
