"""Mutate model files and checkpoints by the thousand, load each, and count what comes of it.

Usage: python -m fuzz.model_file.campaign [--count 100000] [--seed 0] [--checkpoints 0.2]

What was found before comes first, then every truncation of one file, then random mutations. A file
that breaks a promise is written to ``fuzz/model_file/findings`` and makes the exit status 1; once
it is understood, it belongs in ``fuzz/model_file/regressions``, which the test suite replays.
"""

from __future__ import annotations

import argparse
import collections
import hashlib
import os
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

from fuzz.model_file.judge import (
    HANG_SECONDS,
    Verdict,
    check_memory,
    judge_checkpoint,
    judge_model,
)
from fuzz.model_file.mutations import mutate
from fuzz.model_file.seeds import checkpoint_files, model_files

FINDINGS = Path(__file__).with_name("findings")
REGRESSIONS = Path(__file__).with_name("regressions")
SECOND_LOOKS = 2  # at a file that took long
MEASURE_EVERY = 50  # files; measuring memory takes several times as long as loading
MEMORY = Path("/dev/shm")  # a file system without a disk, where there is one


class Campaign:
    """Counts outcomes and keeps what breaks a promise."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "mutated"
        self.outcomes: collections.Counter[tuple[str, str]] = collections.Counter()
        self.findings: list[str] = []
        self.slowest = 0.0
        self.largest = 0
        self.measured = 0
        self.total = 0
        self.looked_again = 0

    def count(self, name: str, content: bytes, judge) -> None:
        """Judge one file."""
        self.path.write_bytes(content)
        self.total += 1
        try:
            verdict = self._judged(judge)
            if self.total % MEASURE_EVERY == 0:
                self.largest = max(self.largest, check_memory(self.path))
                self.measured += 1
        except Exception:
            self._keep(name, content, traceback.format_exc())
            return
        self.outcomes[name, verdict.outcome.value] += 1
        self.slowest = max(self.slowest, verdict.seconds)
        if verdict.seconds > HANG_SECONDS:
            self._keep(name, content, f"took {verdict.seconds:.1f} s")

    def _judged(self, judge) -> Verdict:
        """Return the verdict; one that took long is reached again, as other work may have waited.

        What hangs does so every time.
        """
        verdict: Verdict = judge(self.path)
        for _ in range(SECOND_LOOKS):
            if verdict.seconds <= HANG_SECONDS:
                break
            self.looked_again += 1
            verdict = judge(self.path)
        return verdict

    def _keep(self, name: str, content: bytes, reason: str) -> None:
        FINDINGS.mkdir(exist_ok=True)
        kept = FINDINGS / f"{name}-{hashlib.sha256(content).hexdigest()[:12]}"
        kept.write_bytes(content)
        self.findings.append(f"{kept}\n{reason}")


def run(count: int, seed: int, share: float, folder: Path) -> Campaign:
    """Run a campaign of so many files, of which a share are checkpoints."""
    rng = random.Random(seed)
    os.fsync = lambda _: None  # every model that is accepted is saved again; no need to wait
    campaign = Campaign(folder)
    models, checkpoints = model_files(), checkpoint_files()
    for path in sorted(REGRESSIONS.iterdir()):
        judge = lambda path: judge_model(path, b"", repaired=True)  # noqa: E731
        campaign.count("regression", path.read_bytes(), judge)
    sound = models[0]
    for length in range(min(len(sound), count)):
        judge = lambda path: judge_model(path, sound, repaired=False)  # noqa: E731
        campaign.count("truncation", sound[:length], judge)
    while campaign.total < count:
        if rng.random() < share:
            problem, sound = rng.choice(checkpoints)
            name, repaired, content = mutate(rng, sound)
            campaign.count(
                f"checkpoint {name}{' + digest' if repaired else ''}",
                content,
                lambda path, p=problem, s=sound, r=repaired: judge_checkpoint(path, p, s, r),
            )
        else:
            sound = rng.choice(models)
            name, repaired, content = mutate(rng, sound)
            campaign.count(
                f"{name}{' + digest' if repaired else ''}",
                content,
                lambda path, s=sound, r=repaired: judge_model(path, s, r),
            )
    return campaign


def main() -> int:
    """Run, print a table, and return whether there were findings."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoints", type=float, default=0.2)
    given = parser.parse_args()
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        campaign = run(given.count, given.seed, given.checkpoints, Path(folder))
    for (name, outcome), number in sorted(campaign.outcomes.items()):
        print(f"{name:45} {outcome:20} {number:8}")
    totals = collections.Counter()
    for (_, outcome), number in campaign.outcomes.items():
        totals[outcome] += number
    print(f"\n{campaign.total} files in {time.perf_counter() - began:.0f} s: {dict(totals)}")
    print(f"slowest load {campaign.slowest:.3f} s; loaded again for time: {campaign.looked_again}")
    print(
        f"largest of {campaign.measured} loads measured: {campaign.largest / 1e6:.1f} MB of memory"
    )
    print(f"findings: {len(campaign.findings)}")
    for finding in campaign.findings[:20]:
        print(finding, file=sys.stderr)
    return int(bool(campaign.findings))


if __name__ == "__main__":
    sys.exit(main())
