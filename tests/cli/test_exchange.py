"""``hinge import-model`` and ``hinge export``: models of other programs."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell

from hinge import SVC
from hinge.models import load, read_liblinear, save


def test_text_there_and_back(shell: Shell, trained: Path) -> None:
    run = shell("export", trained, "their.model")
    assert run.code == 0
    assert run.out.startswith("liblinear  their.model (")
    run = shell("import-model", "their.model", "--json")
    assert run.data == {"model": "their.model.hinge", "classes": [1, 2], "features": 3}
    imported = load(Path("their.model.hinge"))
    np.testing.assert_array_equal(imported.coef_, load(trained).coef_)
    assert read_liblinear("their.model").n_features_in_ == 3


def test_what_the_text_does_not_say_can_be_given(shell: Shell, trained: Path) -> None:
    assert shell("export", trained, "their.model").code == 0
    run = shell("import-model", "their.model", "m")
    assert run.err == (
        "hinge: note: their.model: C is not in the file; taken as 1. Give it with --C for verify.\n"
    )
    assert load(Path("m")).C == 1.0
    run = shell("import-model", "their.model", "m", "--C", "10", "--intercept", "free")
    assert (run.code, run.err) == (0, "")
    assert (load(Path("m")).C, load(Path("m")).intercept) == (10.0, "free")
    found = shell("verify", "m", "rows.svm", "--json").data["objective"]
    assert found > shell("verify", "their.model", "rows.svm", "--json").data["objective"]


def test_onnx(shell: Shell, trained: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    run = shell("export", trained, "m.onnx", "--json")
    assert run.data == {"target": "m.onnx", "format": "onnx"}
    onnx.checker.check_model(onnx.load("m.onnx"))


def test_onnx_loses_probabilities_and_says_so(shell: Shell) -> None:
    pytest.importorskip("onnx", reason="the extra onnx is not installed")
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    model = SVC(probability=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of scikit-learn's end of the parameter
        save(model.fit(X, y), "with.hinge")
    run = shell("export", "with.hinge", "m.onnx")
    assert run.code == 0
    assert run.err == (
        "hinge: note: the probabilities of the model are not in the graph: it gives labels and "
        "decision values.\n"
    )


def test_a_name_that_does_not_tell(shell: Shell, trained: Path) -> None:
    run = shell("export", trained, "their.txt")
    assert run.code == 2
    assert run.err == (
        "hinge: error: the name their.txt does not tell the format; pass --to liblinear, --to "
        "libsvm or --to onnx.\n"
    )
    assert shell("export", trained, "their.txt", "--to", "liblinear").code == 0


def test_what_is_there_stays(shell: Shell, trained: Path) -> None:
    Path("their.model").write_text("precious")
    assert shell("export", trained, "their.model").code == 1
    assert Path("their.model").read_text() == "precious"
    assert shell("export", trained, "their.model", "--force").code == 0


def test_a_pickle_is_never_opened(shell: Shell) -> None:
    Path("model.pkl").write_bytes(pickle.dumps([1]))
    run = shell("import-model", "model.pkl")
    assert run.code == 1
    assert "model.pkl looks like a pickle, which would run code when it is opened" in run.err
    assert "hinge.from_sklearn(model)" in run.err


def test_other_files_are_told_apart(shell: Shell, trained: Path) -> None:
    run = shell("import-model", trained, "m")
    assert "is a model file of hinge already; use it as it is." in run.err
    Path("cut.model").write_text("svm_type c_svc\nkernel_type rbf\n")
    run = shell("import-model", "cut.model")
    assert "cut.model, line 3: the file ends before its support vectors; it may be cut" in run.err
    run = shell("import-model", "rows.svm", "m")
    assert "is not a text model of LIBLINEAR or LIBSVM: its first word is neither" in run.err
    assert shell("import-model", "missing.model").code == 1
