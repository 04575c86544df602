"""Damage LIBLINEAR text models and read them: a valid model, or an error that says where.

``python -m fuzz.liblinear_text.campaign 100000`` prints what became of them, and ends with an
error if anything but these two happened. A file that breaks the reader is kept in
``regressions``, which the tests replay.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fuzz.liblinear_text.mutations import SEEDS, mutated
from fuzz.liblinear_text.plain_reader import decision_functions

from hinge.errors import ModelFileError
from hinge.models import read_liblinear

REGRESSIONS = Path(__file__).parent / "regressions"
_SLOW_SECONDS = 1.0


@dataclass
class Outcome:
    """What became of the files of a campaign.

    Parameters
    ----------
    counts : Counter of str
        How many were refused, are the same model as the original, or another valid one.
    failures : list of tuple
        Files that broke the reader, with the reason.
    slowest : float
        The longest time that one took, in seconds.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[bytes, str]] = field(default_factory=list)
    slowest: float = 0.0


def judged(content: bytes, path: Path, original: bytes | None = None) -> str:
    """Return what the reader makes of a file, after checking that it is one of two things.

    Parameters
    ----------
    content : bytes
        The file.
    path : Path
        Where to put it.
    original : bytes or None, default=None
        What it was made of.
    """
    path.write_bytes(content)
    try:
        model = read_liblinear(path)
    except ModelFileError as error:
        if not str(error).startswith(str(path)):
            raise
        return "refused"
    labels, coef, intercepts = decision_functions(content)
    assert model.classes_.tolist() == labels
    assert np.array_equal(model.coef_, coef)
    assert np.array_equal(np.broadcast_to(model.intercept_, len(coef)), intercepts)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert model.n_features_in_ == coef.shape[1] == model.coef_.shape[1]
    assert len(model.certificates_) == len(model.solutions_) == len(coef)
    rows = np.eye(min(coef.shape[1], 8), coef.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        assert set(model.predict(rows).tolist()) <= set(labels)
    return "accepted, same" if content == original else "accepted, other"


def run_campaign(
    count: int,
    seed: int,
    originals: Sequence[bytes],
    damage: Callable[[bytes, random.Random], bytes],
    judge: Callable[[bytes, Path, bytes], str],
) -> Outcome:
    """Damage that many files and have them judged.

    Parameters
    ----------
    count : int
        How many.
    seed : int
        Seed of the damage.
    originals : sequence of bytes
        Sound files.
    damage : callable
        Takes a file and where chance comes from, and returns another.
    judge : callable
        Takes a file, where to put it and what it was made of; raises if anything is wrong.
    """
    rng = random.Random(seed)
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.txt"
        for _ in range(count):
            original = rng.choice(originals)
            content = damage(original, rng)
            began = time.perf_counter()
            try:
                outcome.counts[judge(content, path, original)] += 1
            except Exception as error:  # whatever it is, it should not have been raised
                outcome.failures.append((content, f"{type(error).__name__}: {error}"))
            outcome.slowest = max(outcome.slowest, time.perf_counter() - began)
    return outcome


def campaign(count: int, seed: int = 0) -> Outcome:
    """Read that many damaged files.

    Parameters
    ----------
    count : int
        How many.
    seed : int, default=0
        Seed of the damage.
    """
    return run_campaign(count, seed, SEEDS, mutated, judged)


def report(run: Callable[[], Outcome], regressions: Path, seed: int) -> int:
    """Run a campaign, tell what came of it, and keep what broke the reader.

    Parameters
    ----------
    run : callable
        Runs the campaign.
    regressions : Path
        Where what broke the reader is kept.
    seed : int
        Seed of the damage, for the names of these files.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    outcome = run()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    lines = [f"{name:16} {number}" for name, number in sorted(outcome.counts.items())]
    lines += [
        f"{'failures':16} {len(outcome.failures)}",
        f"slowest file     {outcome.slowest:.3f} s",
    ]
    lines += [f"memory grew by   {grown:.1f} MB", *(reason for _, reason in outcome.failures[:10])]
    sys.stdout.write("\n".join(lines) + "\n")
    for number, (content, _) in enumerate(outcome.failures):
        regressions.mkdir(exist_ok=True)
        (regressions / f"found-{seed}-{number}.txt").write_bytes(content)
    return 1 if outcome.failures or outcome.slowest > _SLOW_SECONDS else 0


def main(arguments: list[str]) -> int:
    """Run a campaign, report it, and keep what broke the reader."""
    count = int(arguments[0]) if arguments else 100_000
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    return report(lambda: campaign(count, seed), REGRESSIONS, seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
