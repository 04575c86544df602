"""Whatever is typed, the answer is a known exit code and a sentence, never an accident."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.running import classes_apart

from hinge.cli._run import run

COMMANDS = ["train", "predict", "evaluate", "inspect", "verify", "convert", "import-model"]
COMMANDS += ["path", "export", "svm-train", "liblinear-train", "svm-predict"]
FILES = ["rows.svm", "m", "text.model", "new", "new.svm", "new.hingedata", "new.onnx", "bad.svm"]
FILES += ["missing", "folder", "folder/x", "table.csv", "empty", "", "\x1b[31m"]
OPTIONS = ["--json", "-q", "--C", "--tol", "--loss", "--intercept", "--class-weight", "--label"]
OPTIONS += ["--format", "--index-base", "--max-iter", "--seed", "--threads", "--scores", "-o"]
OPTIONS += ["--unlabelled", "--no-proof", "--to", "--dtype", "--checkpoint", "--resume", "--force"]
OPTIONS += ["-s", "-t", "-c", "-B", "-R", "-e", "-v", "-w1", "-b", "--help", "--", "--nonsense"]
OPTIONS += ["--Cs", "--cv", "--plot"]
VALUES = ["0", "1", "2", "-1", "1e-3", "nan", "inf", "1e999", "x", "hinge", "free", "none", "csv"]
VALUES += ["1=2", "balanced", "=", "label", "liblinear", "onnx", "shards", "libsvm", "float32"]
VALUES += ["0.1,1", "1e-2:1:3", "new.png"]


@pytest.fixture(scope="module", autouse=True)
def _files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Work in a folder with files of many kinds."""
    folder = tmp_path_factory.mktemp("words")
    with contextlib.chdir(folder):
        classes_apart(Path("rows.svm"), n_rows=12)
        assert _run(["train", "rows.svm", "m", "-q"])[0] == 0
        assert _run(["export", "m", "text.model"])[0] == 0
        Path("bad.svm").write_text("1 1:1\n2 2:x\n")
        Path("table.csv").write_text("a,b,label\n1,2,x\n2,1,y\n")
        Path("empty").touch()
        Path("folder").mkdir()
        yield


def _run(words: list[str]) -> tuple[int, str]:
    stream = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(stream):
        code = run(words)
    return code, stream.getvalue()


words = st.lists(
    st.one_of(st.sampled_from(FILES), st.sampled_from(OPTIONS), st.sampled_from(VALUES)), max_size=7
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(command=st.sampled_from(COMMANDS), rest=words)
def test_nothing_is_an_accident(command: str, rest: list[str]) -> None:
    code, err = _run([command, *rest])
    assert code in (0, 1, 2, 3), err
    assert "Traceback" not in err
    assert "something went wrong inside hinge" not in err
    assert "\x1b" not in err
    if code in (1, 2) and command != "verify":
        assert err.splitlines()[-1].startswith("hinge: error: ")
