"""Kernel machines go to files and come back; files whose parts disagree are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from fuzz.model_file.parts import Parts, join, split
from tests.models.machines import KERNELS, machine, rows

from hinge.errors import InvalidParameterError, ModelFileError, UnsupportedError
from hinge.estimators.svc import SVC
from hinge.kernels import Normalised
from hinge.models import inspect, load, save
from hinge.result import Status

FORMS = ("dense", "sparse", "float32")


def saved(path: Path, model: SVC, proof: bool = True) -> SVC:
    """Return what a file makes of a model."""
    save(model, path, proof)
    found = load(path)
    assert isinstance(found, SVC)
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_round_trip(kernel: str, n_classes: int, form: str, tmp_path: Path) -> None:
    made = machine(kernel, n_classes, form)
    model, X = made.model, made.X
    for proof in (True, False):
        found = saved(tmp_path / "m", model, proof)
        np.testing.assert_array_equal(found.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(found.predict(X), model.predict(X))
        assert found.kernel_ == model.kernel_
        assert found.get_params() == model.get_params()
        assert found.certificate_ == replace(model.certificate_, region=None)
        assert [s.status for s in found.solutions_] == [s.status for s in model.solutions_]
        for name in ("n_support_", "intercept_", "classes_", "class_weight_", "n_iter_"):
            np.testing.assert_array_equal(getattr(found, name), getattr(model, name))
        assert found.shape_fit_ == model.shape_fit_
        assert found.fit_status_ == model.fit_status_
        assert sp.issparse(found.dual_coef_) == sp.issparse(model.dual_coef_)
        assert type(found.support_vectors_) is type(model.support_vectors_)
        assert found.support_vectors_.dtype == model.support_vectors_.dtype
        keeps_rows = proof or kernel in ("precomputed", "psd")
        assert hasattr(found, "support_") is keeps_rows
        assert hasattr(found, "data_fingerprint_") is proof
        content = (tmp_path / "m").read_bytes()
        save(found, tmp_path / "again", proof)
        assert (tmp_path / "again").read_bytes() == content


def test_everything_else_that_a_model_has(tmp_path: Path) -> None:
    model = machine(n_classes=4, probability=True, class_weight={3: 2.0, -1: 1.0}).model
    model.feature_names_in_ = np.array(["a", "b", "ç", "d", "e"], dtype=object)
    model.index_base_ = 0
    found = saved(tmp_path / "m", model)
    del model.feature_names_in_
    assert found.feature_names_in_.tolist() == ["a", "b", "ç", "d", "e"]
    assert found.index_base_ == 0
    del found.feature_names_in_
    X = rows("rbf", "dense")
    np.testing.assert_array_equal(found.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(found.class_weight_, model.class_weight_)


def test_a_loaded_model_can_be_fitted_again(tmp_path: Path) -> None:
    made = machine(warm_start=True)
    found = saved(tmp_path / "m", made.model)
    found.fit(made.X, made.y)
    assert found.certificate_.kkt <= found.tol


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_model_without_support_vectors(n_classes: int, tmp_path: Path) -> None:
    made = machine(n_classes=n_classes, max_iter=0)
    assert made.model.n_support_.sum() == 0
    for proof in (True, False):
        found = saved(tmp_path / "m", made.model, proof)
        np.testing.assert_array_equal(found.predict(made.X), made.model.predict(made.X))
        assert found.solution_.status is Status.ITERATION_LIMIT
    sparse = machine(form="sparse", max_iter=0)
    found = saved(tmp_path / "m", sparse.model)
    np.testing.assert_array_equal(found.predict(sparse.X), sparse.model.predict(sparse.X))


def test_support_vectors_without_any_value(tmp_path: Path) -> None:
    X = sp.csr_array(np.zeros((6, 3)))
    model = SVC(kernel="linear").fit(X, [0, 1] * 3)
    found = saved(tmp_path / "m", model)
    np.testing.assert_array_equal(found.predict(X), model.predict(X))


def test_functions_are_refused(tmp_path: Path) -> None:
    X = rows("rbf", "dense")
    y = np.arange(len(X)) % 2
    model = SVC(kernel=lambda a, b: a @ b.T).fit(X, y)
    with pytest.raises(UnsupportedError, match=r"has a function as its kernel, and code goes"):
        save(model, tmp_path / "m")
    model.kernel_ = Normalised(model.kernel_)
    with pytest.raises(UnsupportedError, match=r"has a function as its kernel"):
        save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("dual_coef_", lambda values: values * 2.0),
        ("intercept_", lambda values: values + 1.0),
        ("solutions_", lambda values: values[:0]),
    ],
)
def test_what_was_changed_after_the_fit_is_refused(
    name: str, change: Any, n_classes: int, tmp_path: Path
) -> None:
    model = machine(n_classes=n_classes).model
    setattr(model, name, change(getattr(model, name)))
    with pytest.raises(InvalidParameterError, match=r"were changed after the fit"):
        save(model, tmp_path / "m")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_support_", np.array([1, 2, 3]), "n_support_ must hold 2 whole numbers"),
        ("n_support_", np.array([-1, 2]), "n_support_ must hold 2 whole numbers"),
        ("dual_coef_", np.zeros((2, 3)), "dual_coef_ is float64 of shape"),
        ("support_vectors_", np.zeros((1, 1)), "support_vectors_ is float64 of shape"),
        ("intercept_", np.array([np.nan]), "intercept_ must hold 1 finite numbers"),
        ("support_", np.array([0, 0]), "support_ must be the"),
        ("classes_", np.array([2, 1]), "classes_ must be in ascending order"),
        ("n_features_in_", 0, "n_features_in_ must be a whole number of at least 1"),
    ],
)
def test_attributes_that_contradict_each_other(
    name: str, value: Any, message: str, tmp_path: Path
) -> None:
    model = machine().model
    setattr(model, name, value)
    with pytest.raises(InvalidParameterError, match=message):
        save(model, tmp_path / "m")


def test_signs_of_the_other_class_are_refused(tmp_path: Path) -> None:
    model = machine().model
    model.dual_coef_ = -model.dual_coef_
    with pytest.raises(InvalidParameterError, match=r"with the sign of class"):
        save(model, tmp_path / "m")


def test_inspect(tmp_path: Path) -> None:
    model = machine(n_classes=4).model
    save(model, tmp_path / "m")
    found = inspect(tmp_path / "m")
    assert found.kind == "kernel-classifier"
    assert found.kernel == {"name": "rbf", "gamma": model.kernel_.gamma}
    assert found.n_support == tuple(model.n_support_.tolist())
    assert (found.has_proof, found.n_rows) == (True, 60)
    save(model, tmp_path / "m", proof=False)
    assert (inspect(tmp_path / "m").has_proof, inspect(tmp_path / "m").n_rows) == (False, None)


def refusal(parts: Parts, folder: Path) -> str:
    """Return why a file of these parts is refused, its digest being right."""
    path = folder / "forged"
    path.write_bytes(join(parts, repair=True))
    with pytest.raises(ModelFileError) as caught:
        load(path)
    return str(caught.value)


def forged(folder: Path, form: str = "dense", kernel: str = "rbf", n_classes: int = 2) -> Parts:
    """Return the parts of a sound file."""
    save(machine(kernel, n_classes, form).model, folder / "sound")
    return split((folder / "sound").read_bytes())


def tensor(parts: Parts, name: str) -> Any:
    """Return a tensor of the parts as an array that shares no memory with them."""
    entry = parts.header[name]
    dtype = {"F64": "<f8", "I64": "<i8", "I32": "<i4"}[entry["dtype"]]
    start, stop = entry["data_offsets"]
    return np.frombuffer(parts.data[start:stop], dtype).reshape(entry["shape"]).copy()


def put(parts: Parts, name: str, values: Any) -> None:
    """Replace a tensor by another of the same size."""
    start, stop = parts.header[name]["data_offsets"]
    content = np.ascontiguousarray(values).tobytes()
    assert len(content) == stop - start
    parts.data = parts.data[:start] + content + parts.data[stop:]


def _negative(values: Any) -> Any:
    return -values


def _first(value: Any) -> Any:
    def change(values: Any) -> Any:
        values.ravel()[0] = value
        return values

    return change


TENSORS = [
    ("dense", "dual_coef", _negative, "a coefficient has the sign of the other class of its pair"),
    ("dense", "dual_coef", _first(np.nan), "tensor 'dual_coef' holds a number that is not finite"),
    ("dense", "intercept", _first(np.inf), "tensor 'intercept' holds a number that is not finite"),
    ("dense", "support_vectors", _first(np.nan), "'support_vectors' holds a number that is not"),
    ("dense", "n_support", _first(-1), "n_support must add up to the"),
    ("dense", "n_support", _first(2**62), "n_support must add up to the"),
    ("dense", "n_support", lambda v: v + np.array([1, -1]), "has the sign of the other class"),
    ("dense", "support", _first(-1), "'support' does not hold different rows of the training"),
    ("dense", "support", _first(60), "'support' does not hold different rows of the training"),
    ("dense", "support", np.zeros_like, "'support' does not hold different rows"),
    ("dense", "class_weight", _first(0.0), "'class_weight' holds a weight that is not above 0"),
    ("dense", "class_weight", _first(2.0), "'class_weight' is not what the parameters say"),
    ("dense", "support_vectors", _first(1e200), "a squared norm beyond floating point"),
    ("sparse", "support_vectors.values", _first(-1e200), "a squared norm beyond floating point"),
    ("sparse", "support_vectors.starts", _first(1), "does not divide"),
    ("sparse", "support_vectors.starts", lambda v: v[::-1], "does not divide"),
    ("sparse", "support_vectors.starts", _first(-(2**31)), "does not divide"),
    ("sparse", "support_vectors.columns", _first(-1), "names a feature beyond the 5 of the model"),
    ("sparse", "support_vectors.columns", _first(5), "names a feature beyond the 5 of the model"),
    ("sparse", "support_vectors.columns", lambda v: v * 0, "do not rise within a support vector"),
    ("sparse", "support_vectors.values", _first(np.inf), "holds a number that is not finite"),
]


@pytest.mark.parametrize(("form", "name", "change", "message"), TENSORS)
def test_forged_tensors(form: str, name: str, change: Any, message: str, tmp_path: Path) -> None:
    parts = forged(tmp_path, form)
    put(parts, name, change(tensor(parts, name)))
    assert message in refusal(parts, tmp_path)


FIELDS = [
    (("kernel", "gamma"), "nan", "kernel cannot be: gamma must be one of"),
    (("kernel", "gamma"), None, "kernel.gamma must be what such a kernel can have; got None"),
    (("kernel", "gamma"), -1.0, "kernel cannot be: gamma must not be negative"),
    (("kernel", "gamma"), "scale", "the kernel is not the one that the parameters stand for"),
    (("kernel", "gamma"), True, "kernel.gamma must be"),
    (("kernel", "name"), "os.system", "kernel.name must be one of"),
    (("kernel", "degree"), 3, "kernel has fields that this format does not know: 'degree'"),
    (("kernel",), {"name": "linear"}, "the kernel is not the one that the parameters stand for"),
    (("kernel",), {"name": "normalised", "kernel": 3}, "kernel.kernel must be an object"),
    (("parameters", "kernel"), "linear", "the kernel is not the one that the parameters"),
    (("parameters", "kernel"), "unheard of", "the parameters are not those of a fitted model"),
    (("parameters", "gamma"), 0.7, "the kernel is not the one that the parameters stand for"),
    (("parameters", "gamma"), "auto", "the kernel is not the one that the parameters stand for"),
    (("parameters", "cache_size"), -1.0, "the parameters are not those of a fitted model"),
    (("parameters", "C"), 2.0, "the problem is not the one that the parameters stand for"),
    (("parameters", "tol"), 1e-12, "a problem is called solved; its violation of"),
    (("problem", "C"), 2.0, "the problem is not the one that the parameters stand for"),
    (("n_features",), 4, "tensor 'support_vectors' is float64 of shape"),
    (("n_rows",), 3, "tensor 'support' does not hold different rows"),
    (("n_rows",), -1, "n_rows must be a whole number"),
    (("support", "count"), 7, "the rest of the file makes it"),
    (("support", "count"), 2**62, "the rest of the file makes it"),
    (("support", "form"), "sparse", "its tensors are not those of a kernel-classifier"),
    (("support", "form"), "rows", "its tensors are not those of a kernel-classifier"),
    (("support", "stored"), 5, "support.stored must be 0"),
    (("classes", "count"), 3, "classes has 2 labels; its count is 3"),
    (("proof",), {"fingerprint": "xyz"}, "the fingerprint of the training data is none"),
    (("proof",), None, "its tensors are not those of a kernel-classifier"),
    (("certificate", "kkt"), 0.5, "the certificate of the description is not that of the worst"),
    (("is_sparse",), 1, "is_sparse must be true or false"),
    (("index_base",), 2, "index_base must be a whole number"),
    (("surprise",), 2, "fields that this format does not know: 'surprise'"),
]


@pytest.mark.parametrize(("place", "value", "message"), FIELDS)
def test_forged_fields(place: tuple[str, ...], value: Any, message: str, tmp_path: Path) -> None:
    parts = forged(tmp_path)
    target = parts.description
    for name in place[:-1]:
        target = target[name]
    target[place[-1]] = value
    assert message in refusal(parts, tmp_path)


def test_rows_beyond_32_bits_keep_their_numbers(tmp_path: Path) -> None:
    parts = forged(tmp_path)
    rows = tensor(parts, "support") + 2**31
    put(parts, "support", rows)
    parts.description["n_rows"] = 2**32
    (tmp_path / "far").write_bytes(join(parts, repair=True))
    np.testing.assert_array_equal(load(tmp_path / "far").support_, rows)


def test_weights_of_classes_are_what_the_parameters_say(tmp_path: Path) -> None:
    for class_weight in (None, {3: 2.0}, "balanced"):
        model = machine(class_weight=class_weight).model
        found = saved(tmp_path / "m", model)
        np.testing.assert_array_equal(found.class_weight_, model.class_weight_)


def test_a_matrix_of_other_rows_is_refused(tmp_path: Path) -> None:
    parts = forged(tmp_path, kernel="precomputed")
    parts.description["n_rows"] = 61
    assert "a kernel matrix of 61 rows has as many features" in refusal(parts, tmp_path)
    parts = forged(tmp_path, kernel="precomputed")
    parts.description["n_features"] = 3
    parts.description["n_rows"] = None
    assert "names a row beyond those of the kernel matrix" in refusal(parts, tmp_path)


def test_claims_of_dual_coefficients_are_refused(tmp_path: Path) -> None:
    parts = forged(tmp_path)
    table = tensor(parts, "solutions")
    table[:, -2] = 1.0
    put(parts, "solutions", table)
    assert "have no dual coefficients of their own" in refusal(parts, tmp_path)


def test_an_incomplete_pair_of_sigmoids_is_refused(tmp_path: Path) -> None:
    model = machine(probability=True).model
    save(model, tmp_path / "sound")
    parts = split((tmp_path / "sound").read_bytes())
    entry = parts.header.pop("probB")
    parts.header["probC"] = entry
    parts.description["tensors"]["probC"] = parts.description["tensors"].pop("probB")
    assert "its tensors are not those of a kernel-classifier" in refusal(parts, tmp_path)


def test_every_truncation_is_refused(tmp_path: Path) -> None:
    save(machine(n_classes=4, form="sparse").model, tmp_path / "sound")
    content = (tmp_path / "sound").read_bytes()
    for length in range(0, len(content), 7):
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(ModelFileError):
            load(tmp_path / "cut")
