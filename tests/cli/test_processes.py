"""The program as a process: streams, pipes, signals, and what is not installed."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.cli.running import PROGRAM, as_process, classes_apart, hard_rows

from hinge.models import load

ENDLESS = ["--C", "10", "--loss", "hinge", "--tol", "1e-15", "--max-iter", "1000000000"]
ENDLESS += ["--solver", "dual-coordinate"]  # which crawls on these rows, and others do not
needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and terminals are POSIX ones")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a model; the rows that it was trained on are beside it as ``rows.svm``."""
    folder = tmp_path_factory.mktemp("trained")
    rows = classes_apart(folder / "rows.svm", n_rows=3000)
    done = as_process("train", rows.name, "m", cwd=folder)
    assert done.code == 0
    assert "\x1b" not in done.out + done.err
    assert done.err == (
        "hinge: note: rows.svm: Indices are counted from one: the file has no index 0.\n"
    )
    return folder / "m"


def test_labels_on_stdout_and_the_rest_on_stderr(model: Path) -> None:
    done = as_process("predict", model, "-", input=model.with_name("rows.svm").read_bytes())
    assert done.code == 0
    assert set(done.out.split("\n")) == {"1", "2", ""}
    assert done.out.count("\n") == 3000
    assert "accuracy" in done.err


@needs_posix
def test_a_reader_that_leaves_early_is_no_error(model: Path) -> None:
    many = model.with_name("many.svm")
    many.write_text(model.with_name("rows.svm").read_text() * 40)  # more than a pipe holds
    command = [*PROGRAM, "predict", str(model), str(many), "--scores"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait(timeout=60) == 141
    assert err == (
        f"hinge: note: {many}: Indices are counted from one, as in the training data of the "
        "model.\n"
    )


@needs_posix
def test_ctrl_c_saves_the_best_model(folder: Path) -> None:
    hard_rows(Path("hard.npz"))
    with Terminal("train", "hard.npz", "m", *ENDLESS) as terminal:
        shown = terminal.read_until(b" to 1e-15, ")
        assert b"gap " in shown
        assert b"gap inf" not in shown
        terminal.read_until(b"rows/s")
        terminal.process.send_signal(signal.SIGINT)
        rest = terminal.read_until(None)
        out = terminal.ended(with_code=130)
    assert b"training was interrupted after" in rest
    assert b"the best model found until then was saved as m." in rest
    assert b"interrupted after" in out
    assert load(folder / "m").coef_.any()
    assert sorted(path.name for path in folder.iterdir()) == ["hard.npz", "m"]


@needs_posix
def test_sigterm_saves_the_best_model_of_a_job_in_the_background(folder: Path) -> None:
    hard_rows(Path("hard.npz"))
    # What a shell does to a job that ends in &: such a job does not hear Ctrl-C.
    deaf = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    with Terminal("train", "hard.npz", "m", *ENDLESS, before=deaf) as terminal:
        terminal.read_until(b"rows/s")
        terminal.process.send_signal(signal.SIGTERM)
        terminal.process.wait(timeout=60)
        rest = terminal.read_until(None)
        terminal.ended(with_code=130)
    assert b"the best model found until then was saved as m." in rest
    assert load(folder / "m").coef_.any()


@needs_posix
def test_ctrl_c_before_training_writes_nothing(folder: Path) -> None:
    command = [*PROGRAM, "train", "-", "m"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"1 1:1\n" * 1_000_000)  # more than a pipe holds: it is reading now
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err == b"hinge: error: stopped by Ctrl-C; no model was written.\n"
    assert not (folder / "m").exists()


@pytest.mark.parametrize("module", ["typer", "hinge.cli._app", "hinge.cli._run"])
def test_ctrl_c_while_modules_are_loaded(module: str) -> None:
    script = (
        "import sys\n"
        "from hinge.cli import main\n"
        "class Stopped:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stopped())\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 130
    assert done.stderr.decode() == "hinge: error: stopped by Ctrl-C.\n"


def test_without_typer_one_sentence() -> None:
    script = "import sys; sys.modules['typer'] = None; from hinge.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.decode() == (
        "hinge: error: the command line needs the packages typer and rich, which are not "
        "installed; install them with: pip install 'hinge[cli]'\n"
    )


@needs_posix
def test_closed_streams_and_narrow_encodings(model: Path) -> None:
    rows = str(model.with_name("rows.svm"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = shlex.join([*PROGRAM, "evaluate", "missing-\u20ac", rows])
    run = subprocess.run(
        f"{command} >&-", shell=True, capture_output=True, check=False, env=environment
    )
    assert run.returncode == 1
    assert run.stderr.startswith(b"hinge: error: missing-\\u20ac: there is no such file")


def test_completion_knows_commands_and_options() -> None:
    script = {"_HINGE_COMPLETE": "complete_bash", "COMP_WORDS": "hinge ev", "COMP_CWORD": "1"}
    done = as_process(env={**os.environ, **script})
    assert done.out.split() == ["evaluate"]


class Terminal:
    """A command whose stderr is a terminal.

    Parameters
    ----------
    *words : str
        The command.
    before : sequence of str, default=()
        What starts the command.
    """

    def __init__(self, *words: str, before: Sequence[str] = ()) -> None:
        self._ours, theirs = os.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        self.process = subprocess.Popen(
            [*before, *PROGRAM, *words], stdout=subprocess.PIPE, stderr=theirs, env=environment
        )
        os.close(theirs)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._ours)
        self.process.kill()
        self.process.communicate()

    def read_until(self, wanted: bytes | None) -> bytes:
        """Return what the terminal shows until some text, or until the command ends."""
        shown = b""
        while wanted is None or wanted not in shown:
            try:
                piece = os.read(self._ours, 4096)
            except OSError:  # how Linux says that the other end is closed
                break
            if not piece:
                break
            shown += piece
        assert wanted is None or wanted in shown, shown
        return shown

    def ended(self, with_code: int) -> bytes:
        """Return what stands on stdout in the end."""
        out, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == with_code
        return out
