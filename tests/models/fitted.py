"""Fitted models of every sort that a file must hold."""

import warnings
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import hinge

LABELS = {
    "int": [3, -7, 12],
    "uint64": np.array([2**64 - 1, 5, 2**63], dtype=np.uint64),
    "float": [2.0, -1.0, 30.0],
    "float16": np.array([2.0, -1.0, 30.0], dtype=np.float16),
    "bool": [True, False],
    "text": ["b", "a", "c"],
    "hostile": ["'; DROP TABLE", "__import__('os').system('true')", '\x00"\\\n\ud800\U0001f600'],
    "object": np.array(["long text" * 50, "", "x\x00"], dtype=object),
    "date": np.array(["2001-05-05", "1999-01-01"], dtype="M8[D]"),
    "duration": np.array([5, 3], dtype="m8[ms]"),
    "two": ["no", "yes"],
}
OPTIONS = {
    "default": {},
    "free": {"intercept": "free", "loss": "hinge"},
    "none": {"fit_intercept": False, "loss": "huber", "C": 0.3},
    "scaled": {"intercept_scaling": 7, "class_weight": "balanced", "tol": 1e-2},
    "unsolved": {"max_iter": 1, "tol": 1e-9, "loss": "hinge", "solver": "dual-coordinate"},
}


@cache
def data(kind: str = "text", n_rows: int = 120, n_features: int = 4):
    """Return X and y that every class is part of."""
    labels = np.asarray(LABELS[kind])
    rng = np.random.default_rng(5)
    codes = rng.permutation(np.arange(n_rows) % len(labels))
    X = rng.normal(size=(n_rows, n_features)) + codes[:, None] * np.linspace(-1, 1, n_features)
    return X, labels[codes]


def fit(X, y, sample_weight=None, **options) -> hinge.LinearSVC:
    """Return a fitted model, converged or not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return hinge.LinearSVC(**options).fit(X, y, sample_weight)


def same_certificates(a: hinge.LinearSVC, b: hinge.LinearSVC) -> bool:
    """Return whether two models have the same certificates to the bit, NaN equal to NaN."""
    names = ("primal", "dual", "gap", "relative_gap", "rounding", "kkt")

    def table(model):
        return [[getattr(c, name) for name in names] for c in model.certificates_]

    notes = [[c.notes for c in model.certificates_] for model in (a, b)]
    return notes[0] == notes[1] and np.array_equal(table(a), table(b), equal_nan=True)
