"""Models of classes against the rest: files, proofs, comparisons and other programs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.estimators.data import three_classes
from tests.models.test_onnx_export import run

import hinge
from hinge import SVC, InvalidParameterError, LinearSVC, ModelFileError, UnsupportedError
from hinge.models import files, kernel_file, verify, write_libsvm, write_onnx
from hinge.models.kernel_machine import wrong_sign


@pytest.fixture
def fitted() -> tuple[SVC, np.ndarray, np.ndarray]:
    X, y = three_classes()
    return SVC(multiclass="ovr", C=2.0).fit(X, y), X, y


@pytest.mark.parametrize("proof", [True, False])
def test_a_file_holds_the_same_machine(fitted: tuple, proof: bool, tmp_path: Path) -> None:
    model, X, y = fitted
    hinge.save(model, tmp_path / "m.hinge", proof=proof)
    again = hinge.load(tmp_path / "m.hinge")
    assert again.multiclass == "ovr"
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_.kkt == model.certificate_.kkt
    assert len(again.solutions_) == 3
    found = verify(again, X, y)
    assert found.truthful
    assert [problem.label for problem in found.problems] == [0, 1, 2]


def test_proofs_are_told_from_other_numbers(fitted: tuple) -> None:
    model, X, y = fitted
    assert verify(model, X, y).truthful
    model.intercept_ = model.intercept_ + 0.1
    assert not verify(model, X, y).truthful


def test_what_was_changed_after_the_fit_is_not_saved(fitted: tuple, tmp_path: Path) -> None:
    model = fitted[0]
    model.set_params(multiclass="ovo")
    with pytest.raises(InvalidParameterError, match=r"multiclass='ovo' was set after the fit"):
        hinge.save(model, tmp_path / "m.hinge")
    model.set_params(multiclass="ovr")
    model.dual_coef_ = 0.5 * model.dual_coef_
    with pytest.raises(InvalidParameterError, match=r"changed after the fit"):
        hinge.save(model, tmp_path / "m.hinge")


def test_a_file_with_the_parameters_of_pairs_is_refused(
    fitted: tuple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _, _ = fitted
    put = kernel_file.plain_parameters
    monkeypatch.setattr(
        kernel_file, "plain_parameters", lambda *given: {**put(*given), "multiclass": "ovo"}
    )
    monkeypatch.setattr(files, "_confirm", lambda *_: None)
    hinge.save(model, tmp_path / "m.hinge")
    with pytest.raises(ModelFileError, match=r"'dual_coef' is float64 of shape \(3, "):
        hinge.load(tmp_path / "m.hinge")


def test_signs_of_coefficients() -> None:
    counts = np.array([1, 1, 1])
    good = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])
    assert wrong_sign(counts, good) is None
    good[1, 0] = 1.0
    assert wrong_sign(counts, good) == (0, 0, 1)


def test_other_programs(fitted: tuple, tmp_path: Path) -> None:
    model, X, _ = fitted
    with pytest.raises(UnsupportedError, match=r"LIBSVM has a machine for every pair of classes"):
        write_libsvm(model, tmp_path / "m.txt")
    write_onnx(model, tmp_path / "m.onnx")
    labels, values = run(tmp_path / "m.onnx", X)
    np.testing.assert_array_equal(labels, model.predict(X))
    np.testing.assert_allclose(values, model.decision_function(X), atol=1e-12)


def test_a_linear_kernel_is_compared_with_linear_machines() -> None:
    X, y = three_classes()
    machine = SVC(multiclass="ovr", kernel="linear", tol=1e-6).fit(X, y)
    linear = LinearSVC(loss="hinge", intercept="free", tol=1e-6).fit(X, y)
    found = hinge.compare(machine, linear, X, y)
    for one in (found.a, found.b):
        assert one.relative_gap < 1e-4
    with pytest.raises(UnsupportedError, match=r"or with multiclass='ovr', minimises"):
        hinge.compare(SVC(kernel="linear").fit(X, y), linear, X, y)
