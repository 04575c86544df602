"""Limits, what a fit says when it stops short, and what it does not say otherwise."""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.estimators.data import cancer, three_classes, two_classes

from hinge import SVC, LinearSVC, Status
from hinge.estimators._convergence import convergence_message
from hinge.estimators._division import division_of
from hinge.estimators._kernel_convergence import kernel_convergence_message
from hinge.estimators._kernel_options import kernel_options
from hinge.estimators._options import linear_options
from hinge.multiclass import Labels
from hinge.rows import Rows


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


@pytest.mark.parametrize("kind", [LinearSVC, SVC])
@pytest.mark.parametrize("data", [cancer, three_classes])
def test_a_limit_that_leaves_no_time_has_no_cause_in_the_data(kind: Any, data: Any) -> None:
    X, y = data()
    text = warning_of(kind(time_limit=1e-9), 10.0 ** np.arange(X.shape[1]) * X, y)
    assert "Likely cause" not in text
    assert text.endswith("before training had begun in earnest: raise time_limit.")


@pytest.mark.parametrize("kind", [LinearSVC, SVC])
def test_several_classes_are_told_the_time_of_the_whole_fit(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = three_classes()
    module = sys.modules[kind.__module__]
    # Before any time that the clock of a run shows, also on a machine that has just been started.
    times = iter([-1002.5, -1000.0])
    clock = SimpleNamespace(perf_counter=lambda: next(times, -1000.0))
    monkeypatch.setattr(module, "time", clock)
    text = warning_of(kind(time_limit=1e-9), X, y)
    assert "stopped at the time limit after 2.5 s for 3 of 3" in text


def test_what_is_not_known_is_not_shown_as_infinite() -> None:
    X, y = three_classes()
    with pytest.warns(ConvergenceWarning):
        linear, kernel = (kind(time_limit=1e-9).fit(X, y) for kind in (LinearSVC, SVC))
    rows, labels = Rows(X), Labels(np.unique(y), y, None, None)
    for model in (linear, kernel):
        unknown = replace(model.certificate_, kkt=np.inf, gap=np.inf, relative_gap=np.inf)
        model.solutions_ = [replace(s, certificate=unknown) for s in model.solutions_]
    options = linear_options(linear)
    text = convergence_message(
        linear.solutions_, (rows, labels), options.objective, options.stop, lambda: None, 1.0
    )
    assert "being the worst, before a duality gap was known (tol=0.0001)." in str(text)
    division, options = division_of(kernel, labels), kernel_options(kernel)
    text = kernel_convergence_message(kernel.solutions_, rows, division, options, 1.0)
    assert "before the violation of the optimality conditions was known (tol=0.001)." in str(text)


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
