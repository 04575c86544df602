"""Whether a model tells the truth is decided by the data, whatever the file says."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.models.fitted import LABELS, OPTIONS, data, fit

import hinge
from hinge.models import Optimality, load, save, verify


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", LABELS)
def test_a_saved_model_is_confirmed_and_proven_again(tmp_path, kind, options):
    X, y = data(kind)
    model = fit(X, y, **options)
    save(model, tmp_path / "model")
    result = verify(load(tmp_path / "model"), X, y)
    assert result.truthful
    assert result.same_data is True
    assert result.optimality is Optimality.PROVEN
    assert result.relative_gap == model.certificate_.relative_gap
    assert len(result.problems) == len(model.solutions_)
    assert str(result).startswith("Confirmed: ")


def test_without_proof_the_objective_is_confirmed_and_optimality_unproven(tmp_path):
    X, y = data()
    model = fit(X, y)
    save(model, tmp_path / "model", proof=False)
    result = verify(load(tmp_path / "model"), X, y)
    assert result.truthful
    assert result.same_data is None
    assert result.optimality is Optimality.UNPROVEN
    assert result.relative_gap == np.inf
    assert result.primal == sum(c.primal for c in model.certificates_)
    verdict, objective, fingerprint = result.sentences()
    assert verdict.startswith("Confirmed as far as it goes")
    assert "proof=True" in objective
    assert "no fingerprint" in fingerprint


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_way_the_data_are_stored_makes_no_difference(options):
    X, y = data()
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    model = fit(X, y, **options)
    for same in (X.astype(np.float64), sp.csr_array(X), sp.csc_matrix(X), np.asfortranarray(X)):
        result = verify(model, same, y)
        assert result.truthful, str(result)
        assert result.same_data is True


def test_sample_weights_are_part_of_the_data():
    X, y = data()
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    model = fit(X, y, weights)
    assert verify(model, X, y, weights).truthful
    assert verify(model, X, y, weights).same_data is True
    result = verify(model, X, y)
    assert not result.truthful
    assert result.same_data is False
    assert "not the training data" in str(result)


def test_weights_of_one_are_no_weights():
    X, y = data()
    model = fit(X, y)
    assert verify(model, X, y, np.ones(len(y))).same_data is True


@pytest.mark.parametrize("place", [(0, 0), (119, 3), (60, 1)])
def test_one_changed_value_is_noticed(place):
    X, y = data("two")
    model = fit(X, y, loss="hinge", C=10.0)
    other = X.copy()
    other[place] += 100.0
    result = verify(model, other, y)
    assert not result.truthful or result.same_data is False


def test_a_changed_label_is_noticed():
    X, y = data("two")
    model = fit(X, y)
    other = y.copy()
    other[7] = "no" if other[7] == "yes" else "yes"
    result = verify(model, X, other)
    assert not result.truthful
    assert result.same_data is False
    assert "NOT confirmed: the certificates of 1 of 1 problems" in str(result)


def forged(model: hinge.LinearSVC, **changes) -> hinge.LinearSVC:
    """Give every certificate of a model other numbers."""
    model.certificates_ = [replace(c, **changes) for c in model.certificates_]
    return model


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"primal": 1.0}, "the stated objective is 1; recomputed it is"),
        ({"dual": 1e9}, "the stated dual value is 1000000000; recomputed it is"),
        ({"gap": 0.0, "relative_gap": 0.0}, "the stated gap is 0 (0 relative); recomputed"),
    ],
    ids=["primal", "dual", "gap"],
)
def test_forged_numbers_are_found(changes, sentence):
    X, y = data()
    result = verify(forged(fit(X, y, solver="dual-coordinate"), **changes), X, y)
    assert not result.truthful
    assert all(len(problem.differences) == 1 for problem in result.problems)
    assert sentence in str(result)
    assert "Class 'a': the stated" in str(result)


def called_solved(model: hinge.LinearSVC) -> hinge.LinearSVC:
    """Say of every problem of a model that it is solved."""
    model.solutions_ = [replace(s, status=hinge.Status.SOLVED) for s in model.solutions_]
    return model


def test_a_forged_status_is_found():
    X, y = data()
    model = fit(X, y, max_iter=1, tol=1e-9, loss="hinge")
    assert verify(model, X, y).truthful
    result = verify(called_solved(model), X, y)
    assert not result.truthful
    assert "Class 'a': the stated status is solved; the recomputed gap is above tol" in str(result)
    model.tol = 1.0
    assert verify(model, X, y).truthful


def test_a_status_without_proof_is_not_called_a_lie():
    X, y = data()
    model = called_solved(fit(X, y, max_iter=1, tol=1e-9, loss="hinge"))
    points = [replace(s.point, dual_coef=None) for s in model.solutions_]
    model.solutions_ = [replace(s, point=p) for s, p in zip(model.solutions_, points, strict=True)]
    result = verify(model, X, y)
    assert result.truthful
    assert result.optimality is Optimality.UNPROVEN


def test_dual_coefficients_of_zero_prove_nothing():
    X, y = data()
    model = fit(X, y, max_iter=0)
    result = verify(model, X, y)
    assert result.truthful
    assert result.relative_gap >= 1.0
    assert result.optimality is Optimality.UNPROVEN
    verdict, objective, _ = result.sentences()
    assert verdict.startswith("Confirmed as far as it goes")
    assert "from 1 on it says nothing of the optimum. Train the model further." in objective


def test_a_forged_region_is_found():
    X, y = data()
    model = fit(X, y)
    region = replace(model.certificate_.region, radius=0.0)
    result = verify(forged(model, region=region), X, y)
    assert "the stated region of the optimum is smaller" in str(result)


def test_a_gap_that_is_too_large_is_no_lie():
    X, y = data()
    assert verify(forged(fit(X, y), gap=1e6), X, y).truthful


def test_the_proof_of_other_rows_proves_nothing():
    X, y = data()
    model = fit(X, y)
    result = verify(model, X[:-5], y[:-5])
    assert not result.truthful
    assert result.optimality is Optimality.UNPROVEN
    assert "the proof is for 120 rows of training data; these are 115." in str(result)


def test_changed_weights_are_found_through_the_objective():
    X, y = data()
    model = fit(X, y)
    model.coef_ = model.coef_ * 1.01
    assert "the stated objective" in str(verify(model, X, y))


def test_data_frames_are_met_by_their_names():
    X, y = data()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = fit(frame, y)
    assert verify(model, frame, y).truthful
    with pytest.raises(ValueError, match="feature names"):
        verify(model, frame.rename(columns={"a": "z"}), y)


def test_what_cannot_be_compared_is_refused():
    X, y = data()
    model = fit(X, y)
    with pytest.raises(hinge.InvalidParameterError, match=r"model must be a fitted hinge\.Lin"):
        verify("model", X, y)
    with pytest.raises(hinge.InvalidDataError, match="y has 119 labels; X has 120 rows"):
        verify(model, X, y[:-1])
    with pytest.raises(hinge.InvalidLabelsError, match="the model has 3 classes and y has 2"):
        verify(model, X, np.where(y == "a", "b", y))
    with pytest.raises(ValueError, match="3 features"):
        verify(model, X[:, :3], y)
