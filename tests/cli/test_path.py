"""``hinge path``: a table of C, gap, seconds and error, as text, JSON and picture."""

from __future__ import annotations

import builtins
import contextlib
import io
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress
from sklearn.datasets import make_classification
from tests.cli.running import Shell, classes_apart

from hinge import LinearSVCCV
from hinge.cli import path as command
from hinge.cli._console import Output
from hinge.cli._errors import UsageError
from hinge.cli._path_display import PathDisplay, path_display
from hinge.cli.path import read_values
from hinge.estimators import _folds, _options
from hinge.solvers import path_walk


@pytest.fixture(autouse=True)
def _rows(folder: Path) -> None:
    del folder
    classes_apart(Path("rows.svm"), n_rows=90, n_classes=3)


def test_the_table(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "0.01,0.1,1", "--cv", "3", "--quiet")
    assert (run.code, run.err) == (0, "")
    lines = run.out.splitlines()
    assert lines[0].split() == ["C", "gap", "seconds", "error"]
    assert [line.split()[0] for line in lines[2:5]] == ["0.01", "0.1", "1"]
    assert lines[-1].startswith("Least error on 3 folds: 0.")


def test_json_agrees_with_the_estimator(shell: Shell) -> None:
    words = ("path", "rows.svm", "--Cs", "1e-2:1:3", "--cv", "3", "--tol", "1e-5", "--json")
    run = shell(*words)
    assert run.code == 0
    X = np.loadtxt("rows.svm", converters=lambda word: float(word.split(":")[-1]))
    model = LinearSVCCV([0.01, 0.1, 1.0], cv=3, tol=1e-5).fit(X[:, 1:], X[:, 0])
    assert run.data["best_C"] == pytest.approx(model.C_)
    assert (run.data["folds"], run.data["tolerance"], run.data["exit_code"]) == (3, 1e-5, 0)
    errors = [point["errors"] for point in run.data["points"]]
    np.testing.assert_allclose(errors, 1.0 - model.scores_.T)
    assert all(point["relative_gap"] <= 1e-5 for point in run.data["points"])


def test_without_folds_the_error_is_that_of_training(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "1", "--quiet")
    assert run.out.splitlines()[0].split() == ["C", "gap", "seconds", "training", "error"]
    assert "Least error on the training rows" in run.out
    assert run.err == ""
    assert "--cv 5 finds the C with the least error on" in shell("path", "rows.svm").err
    assert "--cv 5" not in shell("path", "rows.svm", "--cv", "2").err


@pytest.mark.parametrize(
    ("suffix", "head", "folds"),
    [(".png", b"\x89PNG", 3), (".svg", b"<?xml", 0), (".PDF", b"%PDF", 0)],
)
def test_the_picture(shell: Shell, suffix: str, head: bytes, folds: int) -> None:
    name = f"curve{suffix}"
    run = shell("path", "rows.svm", "--Cs", "0.1,1", "--cv", folds, "--plot", name)
    assert run.code == 0
    assert f"drew the curve in {name}." in run.err
    assert Path(name).read_bytes().startswith(head)


def test_a_picture_replaces_nothing_without_force(shell: Shell) -> None:
    Path("curve.svg").write_text("mine")
    words = ("path", "rows.svm", "--Cs", "1", "--plot", "curve.svg")
    run = shell(*words)
    assert (run.code, Path("curve.svg").read_text()) == (1, "mine")
    assert "exists already; pass --force to replace it." in run.err
    assert shell(*words, "--force").code == 0
    assert Path("curve.svg").read_text().startswith("<?xml")


def test_a_picture_of_another_kind_is_refused_at_once(shell: Shell) -> None:
    run = shell("path", "missing.svm", "--plot", "curve.bmp")
    assert run.code == 2
    assert "--plot writes .png, .svg, .pdf; got 'curve.bmp'." in run.err


def test_without_matplotlib_the_extra_is_named(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    run = shell("path", "rows.svm", "--Cs", "1", "--plot", "curve.png")
    assert run.code == 1
    assert "--plot needs matplotlib; install it with pip install 'hinge[viz]'." in run.err
    assert not Path("curve.png").exists()


def test_what_is_not_certified_has_its_exit_code(shell: Shell) -> None:
    words = ("--Cs", "1,1000", "--tol", "1e-12", "--max-iter", "1", "--loss", "hinge")
    run = shell("path", "rows.svm", *words)
    assert run.code == 3
    assert "fits have not reached --tol=1e-12" in run.err
    assert "LinearSVCCV" not in run.err
    assert "gaps_" not in run.err
    assert shell("path", "rows.svm", *words, "--json").data["exit_code"] == 3


def _sending(
    monkeypatch: pytest.MonkeyPatch, place: tuple[int, int], *sent: signal.Signals
) -> None:
    """Let signals come at the first step of a fold and a value of C."""

    @contextlib.contextmanager
    def display(*_: Any) -> Iterator[Any]:
        waiting = list(sent)

        def callback(event: Any) -> None:
            while waiting and (event.fold, event.number) == place:
                signal.raise_signal(waiting.pop())

        yield callback

    monkeypatch.setattr(command, "path_display", display)


pytestmark = pytest.mark.usefixtures("small_data_as_large")
WORDS = ("path", "rows.svm", "--Cs", "0.01,0.1,1", "--threads", "1")


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_shows_what_is_done(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, sent: signal.Signals
) -> None:
    classes_apart(Path("rows.svm"), n_rows=90)
    words = (*WORDS, "--tol", "1e-9")  # which takes more than the one step that is interrupted
    whole = shell(*words, "--cv", "3").out.splitlines()
    _sending(monkeypatch, (2, 1), sent)
    before = signal.getsignal(signal.SIGTERM)
    run = shell(*words, "--cv", "3", "--plot", "curve.png")
    assert run.code == 130
    assert "1 of 3 values of C were done by then in every fold, 7 of 9 fits in all." in run.err
    lines = run.out.splitlines()
    assert lines[0].split() == ["C", "gap", "seconds", "error", "folds"]
    assert [line.split()[-3:] for line in lines[2:5]] == [
        ["3", "of", "3"],
        ["2", "of", "3"],
        ["2", "of", "3"],
    ]
    assert lines[2].split()[:2] + lines[2].split()[3:4] == [
        *whole[2].split()[:2],
        whole[2].split()[3],
    ]
    assert "Least error on 3 folds" in lines[-1]
    assert lines[-1].endswith("at C = 0.01.")
    assert Path("curve.png").exists()
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_json_of_an_interrupted_path(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    _sending(monkeypatch, (1, 1), signal.SIGINT)
    run = shell(*WORDS, "--cv", "3", "--json", "--plot", "curve.svg")
    assert (run.code, run.data["exit_code"], run.data["interrupted"]) == (130, 130, True)
    assert run.data["best_C"] is None
    assert [point["C"] for point in run.data["points"]] == [0.01, 0.1, 1.0]
    assert run.data["points"][2]["errors"][1:] == [None, None]
    assert run.data["points"][2]["error"] == run.data["points"][2]["errors"][0]
    assert "0 of 3 values of C were done by then in every fold" in run.data["warnings"][0]
    assert Path("curve.svg").exists()


def test_a_path_without_folds_shows_the_small_values(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    classes_apart(Path("rows.svm"), n_rows=90)
    _sending(monkeypatch, (0, 2), signal.SIGINT)
    run = shell(*WORDS)
    assert run.code == 130
    assert "2 of 3 values of C were done by then." in run.err
    assert [line.split()[0] for line in run.out.splitlines()[2:4]] == ["0.01", "0.1"]
    assert "at C = " in run.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("place", "signals", "sentence"),
    [
        ((0, 0), [signal.SIGINT], "stopped by Ctrl-C before any value of C was done; nothing was"),
        ((0, 2), [signal.SIGINT, signal.SIGINT], "stopped by Ctrl-C; nothing was written."),
    ],
)
def test_what_stops_it(
    shell: Shell,
    monkeypatch: pytest.MonkeyPatch,
    place: tuple[int, int],
    signals: list[signal.Signals],
    sentence: str,
) -> None:
    _sending(monkeypatch, place, *signals)
    run = shell(*WORDS, "--plot", "curve.png")
    assert (run.code, run.out) == (130, "")
    assert sentence in run.err
    assert not Path("curve.png").exists()


def test_the_display_tells_fold_value_gap_and_time() -> None:
    console = Console(force_terminal=True, width=100, file=io.StringIO())
    output = Output(stderr=console)
    X, y = make_classification(300, n_features=8, random_state=0)
    with path_display(output, [0.1, 0.01], 3, 1e-3, time_limit=50.0) as callback:
        assert isinstance(callback, PathDisplay)
        LinearSVCCV([0.1, 0.01], cv=3, refit=False, callback=callback).fit(X, y)
        assert callback.done > 0.9
        assert callback.seconds_left(10.0) == pytest.approx(0.0, abs=1.0)
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "fold 1/3, C = 0.01 (1/2), " in drawn
    assert ", 50 s left" in drawn
    assert "inf" not in drawn  # a gap that is not known yet


def test_the_display_tells_the_gap_once_it_is_known() -> None:
    console = Console(force_terminal=True, width=100, file=io.StringIO())
    with path_display(Output(stderr=console), [1.0, 2.0], 1, 1e-3, time_limit=None) as callback:
        assert callback is not None
        callback(_event(fold=0, C=1.0, gap=0.25))
    drawn = console.file.getvalue()  # type: ignore[attr-defined]
    assert "fold 1/4, C = 1 (1/2), gap 2.5e-01 to 1e-03" in drawn


def test_time_left_is_told_once_a_path_is_done() -> None:
    display = PathDisplay(Progress(disable=True), [1.0, 2.0], 4, 1e-3, None)
    event = _event(fold=0, C=1.0, gap=1e-3)
    display(event)
    assert display.done == pytest.approx(1 / 8)
    assert display.seconds_left(10.0) is None
    display(_event(fold=0, C=2.0, gap=1e-4))
    assert display.done == pytest.approx(1 / 4)
    assert display.seconds_left(10.0) == pytest.approx(30.0)


def _event(fold: int, C: float, gap: float) -> Any:
    progress = SimpleNamespace(relative_gap=gap, work=1)
    return SimpleNamespace(
        fold=fold,
        n_folds=4,
        label=1,
        number=0,
        problem=SimpleNamespace(C=C),
        progress=progress,
        certificate=None,
    )


@pytest.mark.parametrize("cv", ["1", "-2"])
def test_a_number_of_folds_that_is_none(shell: Shell, cv: str) -> None:
    run = shell("path", "rows.svm", "--cv", cv)
    assert run.code == 2
    assert f"--cv must be 0 or at least 2; got {cv}." in run.err


def test_more_folds_than_rows_of_a_class(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--cv", "31")
    assert run.code == 2
    assert "--cv 31 is more than the 30 rows of the smallest class." in run.err


@pytest.mark.parametrize(("threads", "expected"), [("1", 1), ("3", 1), ("6", 2)])
def test_threads_are_used_without_folds(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, threads: str, expected: int
) -> None:
    seen = set()

    def solve_path(problem: Any, Cs: Any, solver: Any, settings: Any, *rest: Any) -> Any:
        seen.add(settings.threads)
        return path_walk.solve_path(problem, Cs, solver, settings, *rest)

    monkeypatch.setattr(_folds, "solve_path", solve_path)
    monkeypatch.setattr(_options, "thread_count", lambda jobs: jobs)
    assert shell("path", "rows.svm", "--Cs", "0.1,1", "--threads", threads).code == 0
    assert seen == {expected}


def test_values() -> None:
    assert read_values("3,0.5") == [3.0, 0.5]
    np.testing.assert_allclose(read_values("1e-3:1e1:5"), [1e-3, 1e-2, 1e-1, 1.0, 10.0])
    assert read_values("2:8:1") == [2.0]


@pytest.mark.parametrize(
    "text", ["", "a", "1,", "1:2", "1:2:0", "0:1:3", "1:inf:3", "1:2:x", "nan:1:2", "1:2:99999"]
)
def test_values_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"--Cs takes numbers such as 0\.01,0\.1,1 or FROM:TO"):
        read_values(text)


def test_a_hard_margin_is_another_command(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "1,inf")
    assert run.code == 2
    said = " ".join(run.err.split())
    assert "--Cs takes finite values of C; got '1,inf'." in said
    assert "with hinge train -C inf." in said


def test_a_value_that_is_no_C(shell: Shell) -> None:
    run = shell("path", "rows.svm", "--Cs", "1,-1")
    assert run.code == 2
    assert "must be greater than 0; got -1.0." in run.err
