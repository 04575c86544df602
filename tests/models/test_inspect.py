"""A description of a file is plain data that agrees with the model in it."""

import json
from dataclasses import asdict

import pandas as pd
import pytest
from tests.models.fitted import data, fit

import hinge
from hinge.models import inspect, save


def test_a_file_describes_itself(tmp_path):
    X, y = data("int")
    model = fit(pd.DataFrame(X, columns=list("abcd")), y, C=0.5)
    save(model, tmp_path / "model")
    found = inspect(tmp_path / "model")
    assert found.kind == "linear-classifier"
    assert found.format_version == 1
    assert found.hinge_version == hinge.__version__
    assert found.classes == (-7, 3, 12)
    assert found.n_features == 4
    assert found.feature_names == ("a", "b", "c", "d")
    assert found.problem["C"] == found.parameters["C"] == 0.5
    assert found.certificate["gap"] == model.certificate_.gap
    assert found.statuses == ("solved",) * 3
    assert found.solvers == ("primal-newton",) * 3
    assert found.has_proof
    assert found.n_rows == 120
    assert found.fingerprint == model.data_fingerprint_
    assert found.size == (tmp_path / "model").stat().st_size
    assert len(found.digest) == 64
    assert json.loads(json.dumps(asdict(found)))["n_features"] == 4


def test_a_file_without_proof_says_so(tmp_path):
    save(fit(*data()), tmp_path / "model", proof=False)
    found = inspect(tmp_path / "model")
    assert not found.has_proof
    assert found.fingerprint is None
    assert found.feature_names is None


def test_a_damaged_file_is_not_described(tmp_path):
    save(fit(*data()), tmp_path / "model")
    content = bytearray((tmp_path / "model").read_bytes())
    content[-1] ^= 1
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(hinge.ModelFileError, match="digest"):
        inspect(tmp_path / "model")
