"""ONNX graphs of kernel machines give their labels, and decision values up to rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.models.machines import LIBSVM_KERNELS, machine, rounding
from tests.models.test_onnx_export import run

from hinge.errors import UnsupportedError
from hinge.estimators.svc import SVC
from hinge.models import onnx_export, write_onnx


@pytest.mark.parametrize("form", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kernel", LIBSVM_KERNELS)
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


def test_kernels_that_have_no_graph_are_refused(tmp_path: Path) -> None:
    for kernel in ("laplacian", "chi2", "normalised"):
        with pytest.raises(UnsupportedError, match=rf"a {kernel} kernel cannot be written as ONNX"):
            write_onnx(machine(kernel).model, tmp_path / "m.onnx")
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx_export, "_MOST_BYTES", 100)
    with pytest.raises(UnsupportedError, match=r"bytes of weights; a file of ONNX holds 100"):
        write_onnx(machine().model, tmp_path / "m.onnx")
