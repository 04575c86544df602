"""What fuzzing has found, and every text of the tests: rows or a typed error, nothing else."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.data.libsvm_cases import seeds
from tests.meta.repository import ROOT

from hinge.data import read_libsvm
from hinge.errors import DataFileError

REGRESSIONS = sorted((ROOT / "fuzz" / "libsvm_text" / "regressions").glob("*.bin"))
MODES = [(False, np.float64), (True, np.float64), (False, np.float32), (True, np.float32)]


def rows_or_error(path: Path) -> None:
    for multilabel, dtype in MODES:
        with contextlib.suppress(DataFileError):
            X, y = read_libsvm(path, multilabel=multilabel, dtype=dtype)
            X.check_format(full_check=True)
            assert np.isfinite(X.data).all()
            assert len(y) == X.shape[0]


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_findings_stay_mended(tmp_path: Path, path: Path) -> None:
    text = tmp_path / "rows.svm"
    text.write_bytes(path.read_bytes()[1:])  # the first byte is the fuzzer's choice of mode
    rows_or_error(text)


def test_there_are_findings() -> None:
    assert REGRESSIONS


some_words = ["1", "-1", "+2.5", "1:1", "2:0.5", "qid:3", "nan", "e9", ":", ","]
breaks = ["#", "\n", "\r\n", "\t", "\0"]
words = st.sampled_from(some_words + breaks)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.binary(max_size=60), st.lists(words).map(lambda ws: " ".join(ws).encode())))
@example(b"1e" + b"9" * 40)
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.svm"
    path.write_bytes(content)
    rows_or_error(path)


@pytest.mark.parametrize("name", seeds())
def test_every_cut_of_a_text(tmp_path: Path, name: str) -> None:
    text = seeds()[name]
    path = tmp_path / "rows.svm"
    for length in range(min(len(text), 60)):
        path.write_bytes(text[:length])
        rows_or_error(path)
