"""Mutated files in every run of the suite; the campaigns do the same a hundred thousand times."""

import random
from pathlib import Path

import pytest
from fuzz.model_file.judge import Outcome, judge_checkpoint, judge_model
from fuzz.model_file.mutations import PLAIN, STRUCTURED, deep_nesting, many_tensors, mutate
from fuzz.model_file.parts import join, split
from fuzz.model_file.seeds import checkpoint_files, model_files
from tests.meta.repository import ROOT

REGRESSIONS = sorted((ROOT / "fuzz/model_file/regressions").glob("*.hinge"))
SLOW = (many_tensors, deep_nesting)
MODELS = model_files()
CHECKPOINTS = checkpoint_files()


@pytest.fixture(autouse=True)
def without_waiting_for_the_disk(monkeypatch):
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.name)
def test_what_was_found_once_stays_found(path: Path, tmp_path: Path):
    copy = tmp_path / "mutated"
    copy.write_bytes(path.read_bytes())
    judge_model(copy, b"", repaired=True)
    judge_checkpoint(copy, CHECKPOINTS[0][0], b"", repaired=True)


@pytest.mark.parametrize("mutation", [*PLAIN, *STRUCTURED], ids=lambda m: m.__name__)
def test_mutations_of_models_are_refused_or_sound(mutation, tmp_path):
    rng = random.Random(mutation.__name__)
    path = tmp_path / "mutated"
    for _ in range(5 if mutation in SLOW else 30):
        sound = rng.choice(MODELS)
        for repair in (False, True) if mutation in STRUCTURED else (False,):
            options = (repair,) if mutation in STRUCTURED else ()
            path.write_bytes(mutation(rng, sound, *options))
            verdict = judge_model(path, sound, repair)
            assert repair or verdict.outcome is not Outcome.DIFFERENT


def test_mutations_of_checkpoints_are_refused_or_sound(tmp_path):
    rng = random.Random(0)
    path = tmp_path / "mutated"
    outcomes = set()
    for _ in range(300):
        problem, sound = rng.choice(CHECKPOINTS)
        _, repaired, content = mutate(rng, sound)
        path.write_bytes(content)
        outcomes.add(judge_checkpoint(path, problem, sound, repaired).outcome)
    assert outcomes == set(Outcome)


def test_taking_a_file_apart_and_joining_it_keeps_it(tmp_path):
    for sound in MODELS:
        path = tmp_path / "joined"
        path.write_bytes(join(split(sound), repair=True))
        assert judge_model(path, sound, repaired=False).outcome is Outcome.SAME
