"""What verify says of kernel machines: true ones, false ones, and those of other programs."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import NuSVC
from tests.models.machines import KERNELS, machine

from hinge.estimators.svc import SVC
from hinge.kernels import Precomputed
from hinge.models import Optimality, from_sklearn, load, read_libsvm, save, verify, write_libsvm
from hinge.models.definiteness import negative_curvature
from hinge.result import Status
from hinge.rows import Rows

UNPROVEN = ("sigmoid", "precomputed")  # no gap without a kernel known to be positive semidefinite


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_true_machines_are_confirmed(
    kernel: str, n_classes: int, form: str, tmp_path: Path
) -> None:
    made = machine(kernel, n_classes, form)
    for proof in (True, False):
        save(made.model, tmp_path / "m", proof)
        found = verify(load(tmp_path / "m"), made.X, made.y)
        assert found.truthful, str(found)
        assert found.same_data is (True if proof else None)
        assert found.violation <= made.model.tol
        assert found.primal == pytest.approx(sum(c.primal for c in made.model.certificates_))
        if kernel in UNPROVEN:
            assert found.optimality is Optimality.UNPROVEN
            assert "There is no gap certificate: the kernel is not (known to be)" in str(found)
        else:
            assert found.relative_gap == pytest.approx(made.model.certificate_.relative_gap)


def test_weights_count(tmp_path: Path) -> None:
    made = machine(n_classes=4)
    weights = np.where(np.arange(len(made.y)) % 5 == 0, 0.0, 1.5)
    model = SVC(class_weight="balanced").fit(made.X, made.y, weights)
    save(model, tmp_path / "m")
    found = verify(load(tmp_path / "m"), made.X, made.y, weights)
    assert found.truthful, str(found)
    assert found.relative_gap < 1e-3
    assert not verify(model, made.X, made.y).truthful


def test_rows_in_another_order_prove_it_as_well() -> None:
    made = machine(n_classes=4)
    found = verify(made.model, made.X[::-1], made.y[::-1])
    assert found.truthful
    assert found.same_data is False
    assert found.relative_gap == pytest.approx(made.model.certificate_.relative_gap)


def test_rows_that_are_there_twice_are_told_apart() -> None:
    made = machine()
    X, y = np.vstack([made.X, made.X]), np.concatenate([made.y, made.y])
    model = SVC(C=0.1).fit(X, y)
    del model.support_
    found = verify(model, X, y)
    assert found.truthful, str(found)
    assert found.relative_gap < 1e-3


@pytest.mark.parametrize("n_classes", [2, 4])
def test_other_labels_are_not_confirmed(n_classes: int) -> None:
    made = machine(n_classes=n_classes)
    found = verify(made.model, made.X, np.roll(made.y, 1))
    assert not found.truthful
    assert found.same_data is False
    assert "Some support vectors are not rows of these data" in str(found)
    assert ("Classes -1 and 3: the stated objective" in str(found)) is (n_classes == 4)


def test_false_claims_are_found() -> None:
    made = machine(n_classes=4)
    true = made.model.certificates_[2]
    for change, sentence in [
        ({"primal": true.primal - 1.0}, "the stated objective is"),
        ({"dual": true.dual + 1.0}, "the stated dual value is"),
        ({"gap": 0.0}, "the stated gap is 0"),
        ({"kkt": 0.0}, "the stated violation of the optimality conditions is 0"),
    ]:
        made.model.certificates_[2] = replace(true, **change)
        found = verify(made.model, made.X, made.y)
        assert [problem.truthful for problem in found.problems].count(False) == 1
        assert f"Classes -1 and 20: {sentence}" in str(found)


def test_what_is_called_solved_must_be() -> None:
    made = machine(max_iter=2)
    found = verify(made.model, made.X, made.y)
    assert found.truthful, str(found)
    solution = replace(made.model.solutions_[0], status=Status.SOLVED)
    made.model.solutions_ = [solution]
    found = verify(made.model, made.X, made.y)
    assert "the stated status is solved; the recomputed violation is above tol" in str(found)


def test_support_vectors_that_are_not_the_rows_they_are_said_to_be() -> None:
    made = machine()
    made.model.support_vectors_ = made.model.support_vectors_ + 0.5
    found = verify(made.model, made.X, made.y)
    assert not found.truthful
    assert "the support vectors are not rows of these data." in str(found)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_machines_of_scikit_learn_are_proven(n_classes: int) -> None:
    made = machine(n_classes=n_classes)
    found = verify(from_sklearn(ScikitSVC(C=3.0).fit(made.X, made.y)), made.X, made.y)
    assert found.truthful
    assert found.relative_gap < 1e-3


def test_a_nu_machine_of_two_classes_is_proven() -> None:
    made = machine()
    found = verify(from_sklearn(NuSVC(nu=0.3).fit(made.X, made.y)), made.X, made.y)
    assert found.relative_gap < 1e-2


def test_eight_digits_are_enough_to_find_the_rows(tmp_path: Path) -> None:
    made = machine(n_classes=4)
    write_libsvm(made.model, tmp_path / "m")
    header, _, body = (tmp_path / "m").read_text().partition("SV\n")
    lines = []
    for line in body.splitlines():
        words = [word.split(":") for word in line.split()]
        lines.append(" ".join(w[0] if len(w) == 1 else f"{w[0]}:{float(w[1]):.8g}" for w in words))
    (tmp_path / "m").write_text(header + "SV\n" + "\n".join(lines) + "\n")
    model = read_libsvm(tmp_path / "m")
    assert not np.array_equal(model.support_vectors_.toarray(), made.model.support_vectors_)
    found = verify(model, made.X, made.y)
    assert found.truthful
    assert found.relative_gap < 1e-3


def test_the_objective_without_the_rows_is_that_of_the_machine() -> None:
    made = machine("linear", n_classes=4)
    model = made.model
    model.support_vectors_ = model.support_vectors_ * (1.0 + 1e-6)
    del model.support_, model.data_fingerprint_
    found = verify(model, made.X, made.y)
    assert found.optimality is Optimality.UNPROVEN
    stated = sum(certificate.primal for certificate in model.certificates_)
    assert found.primal == pytest.approx(stated, rel=1e-4)


def test_sparse_rows_of_a_dense_machine() -> None:
    made = machine(n_classes=4)
    found = verify(made.model, sp.csr_array(made.X), made.y)
    assert found.truthful, str(found)
    assert found.relative_gap < 1e-3


def _with_eight_digits(path: Path) -> None:
    """Round the features of a text model as LIBSVM writes them."""
    header, _, body = path.read_text().partition("SV\n")
    lines = []
    for line in body.splitlines():
        coefficient, *pairs = line.split()
        rounded = [f"{k}:{float(v):.8g}" for k, v in (pair.split(":") for pair in pairs)]
        lines.append(" ".join([coefficient, *rounded]) + "\n")
    path.write_text(f"{header}SV\n{''.join(lines)}")


@pytest.mark.parametrize(("offset", "is_near"), [(0.0, True), (1e8, False)])
def test_rounded_support_vectors_are_judged_as_they_are(
    offset: float, is_near: bool, tmp_path: Path
) -> None:
    made = machine()
    X = made.X + offset
    model = SVC(gamma=0.5).fit(X, made.y)
    write_libsvm(model, tmp_path / "m")
    _with_eight_digits(tmp_path / "m")
    rounded = read_libsvm(tmp_path / "m", C=1.0)
    found = verify(rounded, X, made.y)
    vectors, coef = rounded.support_vectors_.toarray(), rounded.dual_coef_[0]
    among, at_rows = (
        np.exp(-0.5 * np.square(A[:, None] - vectors).sum(axis=2)) @ coef for A in (vectors, X)
    )
    signs = np.where(made.y == model.classes_[1], 1.0, -1.0)
    losses = np.maximum(1.0 - signs * (at_rows + rounded.intercept_[0]), 0.0)
    own = 0.5 * coef @ among + losses.sum()
    best = model.certificate_.dual
    assert found.primal == pytest.approx(own, rel=1e-9)
    assert found.problems[0].recomputed.gap >= own - model.certificate_.primal
    assert found.problems[0].recomputed.dual <= model.certificate_.primal
    assert (found.relative_gap < 1e-3) is is_near
    assert bool(own - best < 1e-3 * own) is is_near
    assert bool(found.violation <= 2e-3) is is_near


def test_the_objective_on_other_rows_needs_no_matrix_of_all_support_vectors() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3))
    y = rng.integers(0, 2, 2000)
    model = SVC(C=1e-3).fit(X, y)
    tracemalloc.start()
    try:
        found = verify(model, X + 1.0, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.optimality is Optimality.UNPROVEN
    assert peak < 8 * len(model.support_) ** 2


def test_a_matrix_that_is_called_positive_semidefinite_and_is_not() -> None:
    made = machine("psd")
    found = verify(made.model, made.X, made.y)
    assert found.truthful
    assert "That rests on the model's word that the kernel matrix is positive semi" in str(found)
    indefinite = made.X - 3.0 * np.eye(len(made.y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel=Precomputed(psd=True), max_iter=1000).fit(indefinite, made.y)
    found = verify(model, indefinite, made.y)
    assert not found.truthful
    assert "has an eigenvalue of at most -3, so that no gap proves anything" in str(found)


def test_negative_curvature_is_found_in_large_matrices_and_not_in_rounding() -> None:
    X = np.random.default_rng(3).normal(size=(700, 4))
    for dtype in (np.float32, np.float64):
        for form in (np.asarray, sp.csr_array):
            assert negative_curvature(Rows(form((X @ X.T).astype(dtype)))) is None
    shifted = negative_curvature(Rows(X @ X.T - 0.25 * np.eye(700)))
    assert shifted == pytest.approx(-0.25)
