"""Training from shards: rows stay in the file, and memory within what the guide states."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from tests.measured_memory import needs_true_memory

import hinge
from hinge import Point, Problem, Stop
from hinge.data import Dataset, open_shards, write_shards

pytestmark = needs_true_memory

ROWS, FEATURES = 60_000, 300
BYTES = ROWS * FEATURES * 8

# Bytes for a row, a feature and a pair of features, as docs/user_guide/data.md has them.
STATED = {"interior-point": (100, 128, 160), "newton": (144, 160, 72)}
BLOCKS = 4_000_000
FREE_INTERCEPT = 3_000_000
SAMPLE = BYTES // 8


def bound(solver: str) -> int:
    """Return what a fit may take beyond the rows, a sample of them apart."""
    a_row, a_feature, a_pair = STATED[solver]
    matrix = FEATURES * a_feature + FEATURES**2 * a_pair
    return ROWS * (a_row + 8) + matrix + BLOCKS + FREE_INTERCEPT


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of shards of 144 MB, written block by block."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=FEATURES)

    def blocks():
        for _ in range(12):
            X = rng.normal(size=(ROWS // 12, FEATURES))
            noise = 5.0 * rng.normal(size=len(X))
            yield Dataset(X, (X @ direction + noise > 0).astype(np.float64))

    target = tmp_path_factory.mktemp("shards") / "rows.hingedata"
    write_shards(target, blocks())
    return target


def fit(path: Path, solver: str, is_warm: bool) -> hinge.Solution:
    """Train from the file; few steps need as much memory as many."""
    shards = open_shards(path)
    problem = Problem(shards.X, shards.y, "squared_hinge", C=1e-4, intercept="free")
    start = Point(np.zeros(FEATURES), 0.0, np.zeros(ROWS)) if is_warm else None
    return hinge.solve(problem, solver, Stop(gap=1e-2, steps=4), warm=start)


@pytest.mark.parametrize("solver", STATED)
@pytest.mark.parametrize("is_warm", [True, False])
def test_arrays_are_within_the_stated_bound(path: Path, solver: str, is_warm: bool) -> None:
    allowed = bound(solver) + (0 if is_warm else SAMPLE)
    assert (5 if is_warm else 3) * allowed < BYTES
    tracemalloc.start()
    try:
        solution = fit(path, solver, is_warm)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert solution.steps > 0
    assert np.isfinite(solution.certificate.gap)
    assert peak <= allowed


LIMITED = """
import resource, sys
from pathlib import Path
import numpy as np
import hinge
from tests.solvers.test_shard_memory import fit

X = np.random.default_rng(0).normal(size=(2000, 300))
problem = hinge.Problem(X, X[:, 0] > 0, "squared_hinge", intercept="free")
hinge.solve(problem, sys.argv[2], hinge.Stop(steps=4))  # what is loaded and kept for good
status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
limit = int(status["VmData"].split()[0]) * 1024 + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
if sys.argv[4:]:
    np.asarray(hinge.data.open_shards(sys.argv[1]).X) + 0.0  # all rows, loaded
print(fit(Path(sys.argv[1]), sys.argv[2], True).steps)
"""


def limited(path: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Train in a process whose own memory may grow by no more than some bytes."""
    command = [sys.executable, "-c", LIMITED, str(path), *map(str, words)]
    root = Path(__file__).parents[2]
    return subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="limits on a process's own memory are Linux's")
@pytest.mark.parametrize("solver", STATED)
def test_a_process_that_may_not_grow_beyond_it_trains_all_the_same(path: Path, solver: str) -> None:
    allowed = bound(solver)
    done = limited(path, solver, allowed)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    # The limit is a limit: a copy of the rows does not fit.
    loaded = limited(path, solver, allowed, "load")
    assert loaded.returncode != 0
    assert "MemoryError" in loaded.stderr
