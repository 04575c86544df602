"""ONNX graphs of kernel machines give their labels, and decision values up to rounding."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.machines import LIBSVM_KERNELS, machine, rounding
from tests.models.test_onnx_export import run

from hinge.errors import UnsupportedError
from hinge.estimators.svc import SVC
from hinge.kernels import (
    RBF,
    CallableKernel,
    Kernel,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Sigmoid,
)
from hinge.models import onnx_export, write_onnx
from hinge.models.fitted_machine import fitted_machine
from hinge.models.onnx_kernels import add_kernel
from hinge.models.onnx_parts import GraphParts

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", [*LIBSVM_KERNELS, "laplacian", "chi2", "normalised"])
def test_the_same_machine(
    kernel: str, n_classes: int, shape: str, form: str, tmp_path: Path
) -> None:
    made = machine(kernel, n_classes, form, decision_function_shape=shape)
    dtype = np.float32 if form == "float32" else np.float64
    write_onnx(made.model, tmp_path / "m.onnx", dtype=dtype)
    X: Any = made.X.toarray() if form == "sparse" else made.X
    found, values = run(tmp_path / "m.onnx", np.ascontiguousarray(X, dtype=dtype))
    wanted = made.model.decision_function(X)
    assert (values.dtype, values.shape) == (np.float64, wanted.shape)
    assert np.abs(values - wanted).max() <= rounding(made.model, made.X)
    np.testing.assert_array_equal(found, made.model.predict(X))


def test_distances_stay_right_far_from_the_origin(tmp_path: Path) -> None:
    made = machine(n_classes=4)
    X = made.X + 1e6
    model = SVC(gamma=0.5).fit(X, made.y)
    write_onnx(model, tmp_path / "m.onnx")
    labels, values = run(tmp_path / "m.onnx", X)
    np.testing.assert_array_equal(labels, model.predict(X))
    assert np.abs(values - model.decision_function(X)).max() < 1e-9


@pytest.mark.parametrize(
    "core",
    [Linear(), Polynomial(3, 0.2, 0.5), Sigmoid(0.1, 0.25), RBF(0.3), Laplacian(0.2)],
    ids=lambda core: core.name,
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_normalised_kernels(core: Kernel, n_classes: int, tmp_path: Path) -> None:
    made = machine("linear", n_classes)
    X = made.X.copy()
    X[0] = 0.0  # an image without length, where the kernel has no constant
    model = SVC(kernel=Normalised(core)).fit(X, made.y)
    write_onnx(model, tmp_path / "m.onnx")
    labels, values = run(tmp_path / "m.onnx", X)
    assert np.abs(values - model.decision_function(X)).max() <= rounding(model, X)
    np.testing.assert_array_equal(labels, model.predict(X))


def test_a_loop_over_features_takes_any_number_of_rows(tmp_path: Path) -> None:
    made = machine("chi2", 4)
    write_onnx(made.model, tmp_path / "m.onnx")
    for count in (1, 2, 60):
        labels, values = run(tmp_path / "m.onnx", made.X[:count])
        assert values.shape == (count, 4)
        np.testing.assert_array_equal(labels, made.model.predict(made.X[:count]))


def test_kernels_that_have_no_graph_are_refused() -> None:
    function = CallableKernel(np.dot)
    for kernel in (function, Normalised(function)):
        made = replace(fitted_machine(machine().model), kernel=kernel)
        with pytest.raises(UnsupportedError, match=r"kernel cannot be written as ONNX; linear, po"):
            add_kernel(GraphParts(onnx), made)


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "_MOST_BYTES", 100)
    with pytest.raises(UnsupportedError, match=r"bytes of weights; a file of ONNX holds 100"):
        write_onnx(machine().model, tmp_path / "m.onnx")
