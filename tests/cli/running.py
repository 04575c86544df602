"""Running commands: in this process, or as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hinge.cli._run import run

PROGRAM = [sys.executable, "-m", "hinge.cli"]


@dataclass(frozen=True)
class Run:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What ``--json`` wrote."""
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs commands in this process."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *words: object) -> Run:
        self.capture.readouterr()
        code = run([str(word) for word in words])
        out, err = self.capture.readouterr()
        return Run(code, out, err)


def as_process(*words: object, **options: Any) -> Run:
    """Run a command as a process of its own."""
    command = [*PROGRAM, *(str(word) for word in words)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120, **options)
    return Run(done.returncode, _text(done.stdout), _text(done.stderr))


def _text(output: bytes | str) -> str:
    return output if isinstance(output, str) else output.decode()


def write_rows(path: Path, rows: Iterable[str]) -> Path:
    """Write lines of LIBSVM text."""
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def classes_apart(path: Path, n_rows: int = 60, n_classes: int = 2, seed: int = 0) -> Path:
    """Write rows of classes that a linear machine tells apart well, labelled 1, 2, ..."""
    random = np.random.default_rng(seed)
    labels = 1 + np.arange(n_rows) % n_classes
    X = random.normal(scale=0.3, size=(n_rows, n_classes + 1))
    X[np.arange(n_rows), labels - 1] += 1.0
    lines = (
        " ".join([str(label), *(f"{k + 1}:{value!r}" for k, value in enumerate(row.tolist()))])
        for label, row in zip(labels, X, strict=True)
    )
    return write_rows(path, lines)


def hard_rows(path: Path, n_rows: int = 4000, n_features: int = 300) -> Path:
    """Write rows that no linear machine tells apart, to be trained on for long."""
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, n_features))
    np.savez(path, X=X, y=random.integers(0, 2, n_rows))
    return path
