"""Sound files of every sort, small enough to load thousands of times a second."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

import hinge
from hinge.anytime import AnytimePredictor
from hinge.anytime.form import FormStage
from hinge.estimators.accelerate import accelerate
from hinge.estimators.anytime_classifier import AnytimeClassifier
from hinge.estimators.svc import SVC
from hinge.kernels import RBF, Normalised, Polynomial, Precomputed
from hinge.models import Checkpoint, save, save_checkpoint

LABELS: list[list[object]] = [[0, 1], ["a", "b", "c"], [True, False], [2.0, 3.0, 5.0]]
OPTIONS: list[dict[str, object]] = [
    {},
    {"intercept": "free", "loss": "hinge", "class_weight": "balanced"},
    {"fit_intercept": False, "loss": "huber", "max_iter": 1, "tol": 1e-12},
]


KERNELS: dict[str, dict[str, object]] = {
    "rbf": {"probability": True},
    "poly": {"kernel": "poly", "coef0": 1.0, "loss": "squared_hinge"},
    "sparse": {"kernel": "sigmoid", "class_weight": "balanced"},
    "precomputed": {"kernel": "precomputed"},
    "object": {"kernel": Normalised(Polynomial(2, 0.5, 1.0)), "max_iter": 1},
    "none": {"kernel": "laplacian", "max_iter": 0},
    "chi2": {"kernel": "chi2", "gamma": 0.5},
    "psd": {"kernel": Precomputed(psd=True), "class_weight": {"a": 2.0}},
    "wide": {"kernel": "linear", "probability": True},
}
MACHINES = [
    (LABELS[0], "rbf", True),
    (LABELS[1], "rbf", False),
    (LABELS[2], "poly", True),
    (LABELS[1], "sparse", True),
    (LABELS[3], "sparse", False),
    (LABELS[0], "precomputed", True),
    (LABELS[1], "object", True),
    (LABELS[0], "none", True),
    (LABELS[2], "chi2", False),
    (LABELS[1], "psd", True),
    (LABELS[0], "wide", True),
]


def data(labels: list[object], n_rows: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels, the same every time."""
    rng = np.random.default_rng(2)
    codes = np.arange(n_rows) % len(labels)
    return rng.normal(size=(n_rows, 3)) + codes[:, None], np.asarray(labels)[codes]


def model_files() -> list[bytes]:
    """Return model files: every kind of label and objective, with proof and without."""
    files = []
    for number, labels in enumerate(LABELS):
        for options in OPTIONS:
            X, y = data(labels)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = hinge.LinearSVC(**options).fit(X, y)
            if number % 2:
                model.feature_names_in_ = np.array(["x", "é", "z"], dtype=object)
            files += [_saved(lambda path, m=model, p=proof: save(m, path, p)) for proof in (1, 0)]
    files.append(_long_lists())
    files += [_chosen(labels, proof) for labels in LABELS[:2] for proof in (True, False)]
    files += [_machine(labels, kernel, proof) for labels, kernel, proof in MACHINES]
    files += [_chosen_machine(), _chosen_machine(gammas=None, kernel="linear")]
    files += predictor_files()
    return files


def predictor_files() -> list[bytes]:
    """Return files of predictors and of classifiers with stages, every stage in use."""
    files = []
    for labels, kernel, _ in MACHINES:
        if kernel in ("rbf", "poly", "sparse", "precomputed", "object", "none"):
            fast = with_every_stage(accelerate(_fitted(labels, kernel)))
            files.append(_saved(lambda path, m=fast: save(m, path)))
    X, y = data(LABELS[1], 40)
    several = accelerate((X, np.eye(3)[np.arange(40) % 3].T, np.zeros(3), RBF(0.5)))
    one_class = accelerate(OneClassSVM(nu=0.5).fit(X))
    quadratic = accelerate(SVC(kernel="poly", degree=2).fit(X, y))
    for fast in map(with_every_stage, (several, one_class, quadratic)):
        write = lambda path, m=fast: save(m, path)  # noqa: E731
        files.append(_saved(write))
    chosen = hinge.SVCCV([0.1, 1.0], gammas=[0.5, 1.0], cv=2)
    for inner in (None, SVC(kernel="linear"), chosen):
        model = AnytimeClassifier(inner, n_points=20).fit(X, y)
        model.predictor_ = with_every_stage(model.predictor_)
        files.append(_saved(lambda path, m=model: save(m, path)))
    return files


def with_every_stage(fast: AnytimePredictor) -> AnytimePredictor:
    """Return a predictor with every stage that it can have, whatever was measured."""
    parts = fast.parts
    if parts.reason:
        return fast
    exits = () if parts.embedding is None else tuple(range(len(parts.embedding.exits)))
    has_form = parts.functions is not None and FormStage.of(parts.functions, 1) is not None
    form = 1 if has_form else None
    plan = replace(parts.plan, exits=exits, n_coordinates=8, uses_single=True, form=form)
    parts = replace(parts, plan=plan)
    return AnytimePredictor(fast.machine, fast.rule, fast.classes, fast.n_features, parts)


def checkpoint_files() -> list[tuple[list[hinge.Problem], bytes]]:
    """Return checkpoint files with their problems: both solvers, at several stages of a run."""
    files = [_several_classes()]
    X, y = data([0, 1], 40)
    for loss, intercept in (("hinge", "free"), ("squared_hinge", "augmented")):
        problem = hinge.Problem(X, y, loss=loss, intercept=intercept, C=3.0)
        for solver in ("dual-coordinate", "primal-newton"):
            for steps in (0, 1, 5):
                stop = hinge.Stop(gap=1e-9, steps=steps)
                begun = hinge.solve(problem, solver, stop)
                write = lambda path, s=begun, p=problem: save_checkpoint(path, p, s)  # noqa: E731
                files.append(([problem], _saved(write)))
    return files


def _several_classes() -> tuple[list[hinge.Problem], bytes]:
    """Return the checkpoint of a fit of which two problems are done and one is under way."""
    X, y = data([0, 1, 2], 40)
    problems = [hinge.Problem(X, y == k, intercept="augmented") for k in range(3)]

    def write(path: Path) -> None:
        keeper = Checkpoint(path)
        for number, problem in enumerate(problems):
            stop = hinge.Stop(gap=1e-6, steps=2 if number == 1 else None)
            keeper.on_end(number, hinge.solve(problem, stop=stop))
        keeper.write()

    return problems, _saved(write)


def _saved(write) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        write(path)
        return path.read_bytes()


def _chosen(labels: list[object], proof: bool) -> bytes:
    """Return the file of a model whose C was chosen by cross-validation."""
    model = hinge.LinearSVCCV(3, cv=2, scoring="accuracy", tol=1e-2).fit(*data(labels))
    return _saved(lambda path: save(model, path, proof))


def _machine(labels: list[object], kernel: str, proof: bool) -> bytes:
    """Return the file of a kernel machine."""
    model = _fitted(labels, kernel)
    return _saved(lambda path: save(model, path, proof))


def _fitted(labels: list[object], kernel: str) -> SVC:
    """Return a kernel machine."""
    X, y = data(labels)
    forms = {"sparse": sp.csr_array(X * (X > 0.5)), "precomputed": X @ X.T, "psd": X @ X.T}
    forms |= {"chi2": np.abs(X).astype(np.float32), "wide": _wide(X)}
    rows = forms.get(kernel, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FutureWarning)
        return SVC(**KERNELS[kernel]).fit(rows, y)


def _wide(X: np.ndarray) -> sp.csr_array:
    """Return rows that have few of very many features."""
    few = sp.csr_array(X)
    return sp.csr_array((few.data, few.indices * 2**28, few.indptr), shape=(len(X), 2**30))


def _chosen_machine(**options: object) -> bytes:
    """Return the file of a kernel machine whose C and gamma were chosen by cross-validation."""
    chosen = {"gammas": [0.5, 1.0], "cv": 2, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        model = hinge.SVCCV([0.1, 1.0], **chosen).fit(*data(LABELS[1]))
    return _saved(lambda path: save(model, path))


def _long_lists() -> bytes:
    """Return a file whose labels and names are tensors."""
    labels = [f"{k:03} {'label' * 60}" for k in range(40)]
    X, y = data(labels, 80)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = hinge.LinearSVC(max_iter=0).fit(X, y)
    model.feature_names_in_ = np.array(["n" * 5000, "", "é" * 5000], dtype=object)
    return _saved(lambda path: save(model, path, proof=False))
