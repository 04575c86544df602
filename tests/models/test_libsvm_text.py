"""LIBSVM text models: what is read, and what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from tests.models.libsvm_files import BINARY, PRECOMPUTED, THREE
from tests.models.machines import LIBSVM_KERNELS, machine, pair_values, rounding

from hinge import LinearSVC
from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators.svc import SVC
from hinge.kernels import RBF, Linear, Polynomial, Precomputed, Sigmoid
from hinge.models import load, read_libsvm, save, write_libsvm
from hinge.result import Status


def read(text: str, folder: Path, **options: Any) -> SVC:
    """Return what is read from a text."""
    (folder / "model.txt").write_text(text)
    return read_libsvm(folder / "model.txt", **options)


def test_two_classes(tmp_path: Path) -> None:
    model = read(BINARY, tmp_path)
    assert model.kernel_ == RBF(0.5)
    assert model.classes_.tolist() == [-1, 1]
    assert model.n_support_.tolist() == [2, 1]
    assert model.dual_coef_.tolist() == [[-0.5, -0.25, 0.75]]  # the second class is positive
    assert model.intercept_.tolist() == [0.25]
    assert model.support_vectors_.toarray().tolist() == [[0.25, 0, -1], [0, 0.001, 0], [2, 3, 4]]
    assert (model.C, model.gamma, model.n_features_in_, model.index_base_) == (0.75, 0.5, 3, 1)
    assert model.solution_.status is Status.IMPORTED
    assert model.certificate_.relative_gap == np.inf
    row = [[0.25, 0.0, -1.0]]
    near = np.exp(-0.5 * (0.25**2 + 1e-6 + 1.0))
    far = np.exp(-0.5 * (1.75**2 + 9.0 + 25.0))
    wanted = -(0.5 + 0.25 * near - 0.75 * far - 0.25)
    assert model.decision_function(row) == pytest.approx([wanted], rel=1e-14)
    assert model.predict(row).tolist() == [-1]


def test_the_larger_label_first(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    model, turned = read(BINARY, tmp_path), read(BINARY.replace("-1 1", "1 -1"), tmp_path)
    values = model.decision_function(X)
    np.testing.assert_allclose(turned.decision_function(X), -values, rtol=1e-13, atol=1e-15)
    assert turned.n_support_.tolist() == [1, 2]
    assert turned.support_vectors_.toarray()[0].tolist() == [2, 3, 4]


def test_three_classes_in_an_order_of_their_own(tmp_path: Path) -> None:
    model = read(THREE, tmp_path)
    assert model.kernel_ == Linear()
    assert model.classes_.tolist() == [-2, 3, 7]
    values = pair_values(model, np.eye(3))
    # In the file the pairs are 7 and -2, 7 and 3, -2 and 3.
    wanted = {
        (7, -2): np.array([10, -10, 0]) - 1.0,
        (7, 3): np.array([20, 0, -20]) - 2.0,
        (-2, 3): np.array([0, 30, -30]) - 3.0,
    }
    assert values[:, 0].tolist() == wanted[-2, 3].tolist()
    assert values[:, 1].tolist() == (-wanted[7, -2]).tolist()
    assert values[:, 2].tolist() == (-wanted[7, 3]).tolist()
    assert model.predict(np.eye(3)).tolist() == [7, -2, 3]


def test_a_precomputed_kernel(tmp_path: Path) -> None:
    model = read(PRECOMPUTED, tmp_path, n_features=4)
    assert model.kernel_ == Precomputed()
    assert model.classes_.tolist() == [0, 1]
    assert model.support_.tolist() == [0, 2]
    values = model.decision_function([[1.0, 2.0, 4.0, 8.0]])
    assert values.tolist() == [4.0 - 1.0 - 1.0]
    assert not hasattr(model, "index_base_")
    assert read(PRECOMPUTED, tmp_path).n_features_in_ == 3


@pytest.mark.parametrize(
    ("lines", "kernel"),
    [
        ("polynomial\ndegree 4\ngamma -0.5\ncoef0 2", Polynomial(4, -0.5, 2.0)),
        ("sigmoid\ngamma -1\ncoef0 0", Sigmoid(-1.0, 0.0)),
        ("rbf\ngamma 0", RBF(0.0)),
    ],
)
def test_kernels(lines: str, kernel: object, tmp_path: Path) -> None:
    model = read(BINARY.replace("rbf\ngamma 0.5", lines), tmp_path)
    assert model.kernel_ == kernel
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").kernel_ == kernel


def test_features_counted_from_zero(tmp_path: Path) -> None:
    model = read(BINARY.replace("2:1e-3", "0:1e-3"), tmp_path)
    assert (model.index_base_, model.n_features_in_) == (0, 4)
    assert model.support_vectors_.toarray()[1].tolist() == [0.001, 0, 0, 0]


def test_what_the_file_does_not_say(tmp_path: Path) -> None:
    model = read(BINARY, tmp_path, C=9.0, n_features=7)
    assert (model.C, model.n_features_in_, model.support_vectors_.shape) == (9.0, 7, (3, 7))
    with pytest.raises(ModelFileError, match=r"a support vector has feature 3; n_features is 2"):
        read(BINARY, tmp_path, n_features=2)
    with pytest.raises(ModelFileError, match=r"a support vector has training row 3; n_features"):
        read(PRECOMPUTED, tmp_path, n_features=2)
    with pytest.raises(InvalidParameterError, match="C must be"):
        read(BINARY, tmp_path, C=0.0)
    with pytest.raises(InvalidParameterError, match="n_features must be"):
        read(BINARY, tmp_path, n_features=1.5)


def test_support_vectors_without_features(tmp_path: Path) -> None:
    model = read(THREE.replace(" 1:1", "").replace(" 2:1", "").replace(" 3:1", ""), tmp_path)
    assert model.n_features_in_ == 1
    assert pair_values(model, np.ones((1, 1))).tolist() == [[-3.0, 1.0, 2.0]]


def test_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "m").write_bytes(BINARY.replace("\n", "\r\n").encode())
    found, plain = read_libsvm(tmp_path / "m"), read(BINARY, tmp_path)
    np.testing.assert_array_equal(found.dual_coef_, plain.dual_coef_)


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", LIBSVM_KERNELS)
def test_round_trip(kernel: str, n_classes: int, form: str, tmp_path: Path) -> None:
    made = machine(kernel, n_classes, form)
    write_libsvm(made.model, tmp_path / "m")
    found = read_libsvm(tmp_path / "m", n_features=made.X.shape[1])
    assert found.kernel_ == made.model.kernel_
    np.testing.assert_array_equal(found.predict(made.X), made.model.predict(made.X))
    difference = np.abs(pair_values(found, made.X) - pair_values(made.model, made.X)).max()
    assert difference <= rounding(made.model, made.X)
    vectors = made.model.support_vectors_
    if kernel != "precomputed":  # every bit of the numbers
        dense = vectors.toarray() if sp.issparse(vectors) else vectors
        np.testing.assert_array_equal(found.support_vectors_.toarray(), dense)
    dual = made.model.dual_coef_
    np.testing.assert_array_equal(found.dual_coef_, dual.toarray() if sp.issparse(dual) else dual)
    np.testing.assert_array_equal(found.intercept_, made.model.intercept_)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_go_with_it(n_classes: int, tmp_path: Path) -> None:
    made = machine(n_classes=n_classes, probability=True)
    write_libsvm(made.model, tmp_path / "m")
    found = read_libsvm(tmp_path / "m")
    wanted = made.model.predict_proba(made.X)
    np.testing.assert_allclose(found.predict_proba(made.X), wanted, rtol=0, atol=1e-12)
    turned = (tmp_path / "m").read_text().replace("label -1 3", "label 3 -1")
    if n_classes == 2:
        found = read(turned, tmp_path)
        np.testing.assert_allclose(found.predict_proba(made.X), wanted[:, ::-1], rtol=0, atol=1e-9)


def test_indices_are_counted_as_in_the_training_data(tmp_path: Path) -> None:
    made = machine()
    made.model.index_base_ = 0
    write_libsvm(made.model, tmp_path / "m")
    found = read_libsvm(tmp_path / "m")
    assert found.index_base_ == 0
    np.testing.assert_array_equal(found.support_vectors_.toarray(), made.model.support_vectors_)


def test_labels_must_be_whole_numbers(tmp_path: Path) -> None:
    made = machine()
    made.model.classes_ = np.array(["no", "yes"])
    with pytest.raises(InvalidParameterError, match=r"LIBSVM's labels are whole numbers of 32"):
        write_libsvm(made.model, tmp_path / "m")
    write_libsvm(made.model, tmp_path / "m", labels=[5, 2])
    found = read_libsvm(tmp_path / "m")
    assert found.classes_.tolist() == [2, 5]
    names = np.where(found.predict(made.X) == 5, "no", "yes")
    np.testing.assert_array_equal(names, made.model.predict(made.X))


def test_what_libsvm_does_not_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match=r"LIBSVM has no laplacian kernel; it has linear"):
        write_libsvm(machine("laplacian").model, tmp_path / "m")
    with pytest.raises(UnsupportedError, match=r"LIBSVM has no normalised kernel"):
        write_libsvm(machine("normalised").model, tmp_path / "m")
    with pytest.raises(UnsupportedError, match=r"the model has no support vectors"):
        write_libsvm(machine(max_iter=0).model, tmp_path / "m")
    with pytest.raises(InvalidParameterError, match=r"must be a fitted hinge.SVC; got LinearSVC"):
        write_libsvm(LinearSVC(), tmp_path / "m")  # type: ignore[arg-type]
    broken = machine(probability=True).model
    broken.probA_ = np.zeros(3)
    with pytest.raises(InvalidParameterError, match=r"probA_ and probB_ must hold 1 numbers each"):
        write_libsvm(broken, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
