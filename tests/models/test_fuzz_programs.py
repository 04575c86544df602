"""The programs that look for broken promises find one when there is one, and never hang."""

import os
from types import SimpleNamespace

import numpy as np
import pytest
from fuzz.model_file import campaign, judge, kill_saves
from tests.models.fitted import data, fit

from hinge.models import save


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process")
def test_a_child_that_dies_before_it_saves_is_told(tmp_path, monkeypatch, capfd):
    def die(*_):
        message = "dead"
        raise RuntimeError(message)

    monkeypatch.setattr(kill_saves, "save_for_ever", die)
    with pytest.raises(RuntimeError, match="the child ended by itself, with exit status 1"):
        kill_saves.kill_once(tmp_path / "model", [], delay=0.0)
    assert "RuntimeError: dead" in capfd.readouterr().err


def test_memory_beyond_the_promise_is_found(tmp_path, monkeypatch):
    path = tmp_path / "model"
    save(fit(*data()), path)
    assert judge.check_memory(path) > path.stat().st_size // 2
    monkeypatch.setattr(judge, "SPARE_BYTES", -4 * path.stat().st_size)
    with pytest.raises(judge.BrokenPromiseError, match=r"loading took \d+ bytes of memory; 0 are"):
        judge.check_memory(path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_found(value):
    model = SimpleNamespace(
        n_features_in_=2,
        classes_=np.array([0, 1]),
        predict=lambda X: np.zeros(len(X)),
        decision_function=lambda X: np.full(len(X), value),
        settled=lambda X: np.zeros(len(X), dtype=bool),
    )
    with pytest.raises(judge.BrokenPromiseError, match="decision values that are not finite"):
        judge._predict(model)


@pytest.mark.parametrize(("seconds", "findings"), [((9.0, 0.1), 0), ((9.0, 9.0, 9.0), 1)])
def test_a_file_hangs_if_it_takes_long_every_time(tmp_path, monkeypatch, seconds, findings):
    monkeypatch.setattr(campaign, "FINDINGS", tmp_path / "findings")
    times = iter(seconds)
    counts = campaign.Campaign(tmp_path)
    counts.count("any", b"x", lambda _: judge.Verdict(judge.Outcome.REJECTED, next(times)))
    assert len(counts.findings) == findings
    assert next(times, None) is None
