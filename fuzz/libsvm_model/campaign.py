"""Damage LIBSVM text models and read them: a valid machine, or an error that says where.

``python -m fuzz.libsvm_model.campaign 100000`` prints what became of them, and ends with an error
if anything but these two happened. A file that breaks the reader is kept in ``regressions``, which
the tests replay.
"""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from fuzz.liblinear_text.campaign import Outcome, run_campaign
from fuzz.liblinear_text.campaign import report as told
from fuzz.libsvm_model.mutations import SEEDS, mutated
from fuzz.libsvm_model.plain_reader import PlainModel, plain_model

from hinge.errors import HingeError, ModelFileError
from hinge.estimators.svc import SVC
from hinge.models import load, read_libsvm, save

REGRESSIONS = Path(__file__).parent / "regressions"
_MOST_CHECKED = 1000  # features of rows that are predicted


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
        model = read_libsvm(path)
    except ModelFileError as error:
        if not str(error).startswith(str(path)):
            raise
        return "refused"
    _check(model, plain_model(content))
    saved = path.with_suffix(".hinge")
    save(model, saved)
    again = load(saved)
    assert np.array_equal(again.intercept_, model.intercept_)
    assert np.array_equal(_dense(again.dual_coef_), _dense(model.dual_coef_))
    return "accepted, same" if content == original else "accepted, other"


def _check(model: SVC, plain: PlainModel) -> None:
    """Compare a machine with what a second reader finds, and use it."""
    assert model.classes_.tolist() == sorted(plain.labels)
    count = len(plain.vectors)
    assert int(model.n_support_.sum()) == count == _dense(model.dual_coef_).shape[1]
    assert np.isfinite(_dense(model.dual_coef_)).all()
    assert np.isfinite(model.intercept_).all()
    assert len(model.solutions_) == len(model.intercept_) == len(plain.rho)
    if model.n_features_in_ > _MOST_CHECKED:
        return
    model.decision_function_shape = "ovo"
    rows = np.vstack([np.zeros((1, model.n_features_in_)), np.eye(model.n_features_in_)[:4]])
    base = getattr(model, "index_base_", 1)
    with np.errstate(all="ignore"):
        try:
            values = model.decision_function(rows).reshape(len(rows), -1)
            labels = model.predict(rows)
        except HingeError:
            return  # decision values beyond the range of floating point
    assert set(labels.tolist()) <= set(plain.labels)
    sign = -1.0 if len(plain.labels) == 2 else 1.0
    for row, found in zip(rows, values, strict=True):
        features = {k + base: float(value) for k, value in enumerate(row) if value}
        pairs = itertools.combinations(model.classes_.tolist(), 2)
        for (first, second), value in zip(pairs, sign * found, strict=True):
            _compare(plain, first, second, features, float(value))


def _compare(
    plain: PlainModel, first: int, second: int, row: dict[int, float], value: float
) -> None:
    """Compare a decision value, where the plain one can be computed."""
    try:
        wanted = plain.decision(first, second, row)
    except OverflowError:
        return
    scale = sum(
        abs(c) * max(1.0, abs(plain._kernel(features, row)))
        for _, coefficients, features in plain.vectors
        for c in coefficients.values()
    ) + max(map(abs, plain.rho.values()))
    if math.isfinite(wanted) and scale < 1e280:
        assert abs(value - wanted) <= 1e-7 * scale, (value, wanted)


def _dense(array: object) -> np.ndarray:
    return array.toarray() if sp.issparse(array) else np.asarray(array)


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


def main(arguments: list[str]) -> int:
    """Run a campaign, report it, and keep what broke the reader."""
    count = int(arguments[0]) if arguments else 100_000
    seed = int(arguments[1]) if len(arguments) > 1 else 0
    return told(lambda: campaign(count, seed), REGRESSIONS, seed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
