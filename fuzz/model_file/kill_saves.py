"""Kill a process at random instants of saving a model; what is left must be the old or the new.

Usage: python -m fuzz.model_file.kill_saves [--kills 1000] [--seed 0]

A child saves two models in turn to the same path, without a pause, until it is killed with
SIGKILL. Then the file must be one of the two, byte for byte, and load; and after the next save
there must be nothing else in the folder.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np

import hinge
from hinge.models import load, save


def models() -> list[hinge.LinearSVC]:
    """Return two models that are told apart by a bit."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    fitted = []
    for C in (1.0, 2.0):
        model = hinge.LinearSVC(C=C).fit(X, y)
        model.feature_names_in_ = np.array([f"{'name' * 10_000}{k}" for k in range(4)], object)
        fitted.append(model)
    return fitted


def save_for_ever(path: Path, fitted: list[hinge.LinearSVC], ready: int) -> None:
    """Save in turn until somebody puts an end to it."""
    os.write(ready, b"!")
    while True:
        for model in fitted:
            save(model, path)


def kill_once(path: Path, fitted: list[hinge.LinearSVC], delay: float) -> None:
    """Start a child that saves, and kill it so long after it began."""
    listen, ready = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(listen)
            save_for_ever(path, fitted, ready)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)  # never back into the loop of the parent
    os.close(ready)  # so that a child that dies before it is ready ends the wait
    is_ready = os.read(listen, 1) == b"!"
    os.close(listen)
    if is_ready:
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        message = f"the child ended by itself, with exit status {os.WEXITSTATUS(status)}"
        raise RuntimeError(message)


def main() -> int:
    """Kill as often as asked, and say what was left."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = random.Random(given.seed)
    fitted = models()
    left, partial, broken = [0, 0], 0, 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("HINGE_KILL_FOLDER")) as folder:
        path = Path(folder, "model.hinge")
        wanted = []
        for model in fitted:
            save(model, path)
            wanted.append(path.read_bytes())
        began = time.perf_counter()
        save(fitted[0], path)
        one_save = time.perf_counter() - began
        for _ in range(given.kills):
            kill_once(path, fitted, rng.uniform(0.0, 4.0 * one_save))
            content = path.read_bytes()
            load(path)
            if content in wanted:
                left[wanted.index(content)] += 1
            else:
                broken += 1
            partial += len(list(Path(folder).iterdir())) > 1
            save(fitted[rng.randrange(2)], path)
            if [entry.name for entry in Path(folder).iterdir()] != ["model.hinge"]:
                broken += 1
    print(f"{given.kills} kills; one save takes {1e3 * one_save:.1f} ms, a file {len(wanted[0])} B")
    print(f"the first model was left {left[0]} times, the second {left[1]} times")
    print(f"a partial file was left {partial} times, and gone after the next save every time")
    print(f"broken promises: {broken}")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
