"""Benchmarks of kernel machines: what a machine is worth, who runs how long, what is kept."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.kernel import command, page
from benchmarks.kernel.contest import Limits, contest, reaches
from benchmarks.kernel.data import DESCRIPTIONS, scale_gamma
from benchmarks.kernel.floor import floor_seconds
from benchmarks.kernel.judge import judge, needed_values
from benchmarks.kernel.method import Machine
from benchmarks.kernel.methods.class_order import in_sorted_order
from benchmarks.kernel.methods.scikit_learn import machine_of
from benchmarks.kernel.record import Record
from benchmarks.kernel.registry import METHODS, OURS
from benchmarks.kernel.run import Job
from benchmarks.kernel.task import QUICK_TASKS, SMALL_TASKS, TASKS, KernelTask
from benchmarks.kernel.verdicts import verdicts
from benchmarks.suite.report import new_report
from sklearn.svm import SVC

import hinge

TASK = KernelTask("usps", None, 10.0, 0.5)


def _data(n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    noise = 0.5 * rng.normal(size=(90, n_classes))
    return X, np.argmax(X @ rng.normal(size=(3, n_classes)) + noise, axis=1)


def test_every_task_says_what_its_rows_are() -> None:
    tasks = (*TASKS, *SMALL_TASKS, *QUICK_TASKS)
    assert {task.dataset for task in tasks} <= set(DESCRIPTIONS)
    assert len({task.title for task in tasks}) == len(tasks)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_objective_of_another_librarys_machine(n_classes: int) -> None:
    X, y = _data(n_classes)
    model = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    worth = judge(X, y, 2.0, 0.5, machine_of(model, {}))
    # A wrong sign or a wrong pair of classes would leave a gap of the size of the objective.
    assert worth.primal - worth.optimum_at_least <= 1e-6 * worth.primal
    assert worth.kkt <= 1e-6
    assert worth.support_vectors == len(model.support_)
    assert json.dumps(worth.to_json())


def test_a_machine_that_proves_nothing_has_no_bound() -> None:
    X, y = _data(2)
    dual = np.full((1, 3), math.nan)
    worth = judge(X, y, 2.0, 0.5, Machine(np.arange(3), dual, np.zeros(1)))
    assert worth.to_json()["optimum_at_least"] is None
    assert not reaches({"primal": worth.to_json()["primal"]}, 1.0)


def test_classes_against_the_rest_are_worth_what_their_certificates_say() -> None:
    X, y = _data(3)
    model = hinge.SVC(C=2.0, gamma=0.5, multiclass="ovr").fit(X, y)
    worth = judge(X, y, 2.0, 0.5, machine_of(model, {}))
    assert worth.primal == pytest.approx(sum(c.primal for c in model.certificates_), rel=1e-9)
    assert worth.kkt == pytest.approx(max(c.kkt for c in model.certificates_), rel=1e-3)
    assert worth.support_vectors == len(model.support_)


def test_classes_in_another_order_are_the_same_machine() -> None:
    X, y = _data(4)
    model = SVC(C=2.0, gamma=0.5, tol=1e-8).fit(X, y)
    expected = machine_of(model, {})
    # The same machine as a library would number it that meets the classes in this order.
    labels = [2, 0, 3, 1]
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    owners = [labels.index(label) for label in y[model.support_]]
    dual = np.zeros_like(model.dual_coef_)
    for s, mine in enumerate(owners):
        for other in set(range(4)) - {mine}:
            i, j = labels[mine], labels[other]
            value = model.dual_coef_[j - 1 if i < j else j, s]
            dual[other - 1 if mine < other else other, s] = value
    values = []
    for first, second in pairs:
        i, j = sorted((labels[first], labels[second]))
        value = model.intercept_[pairs.index((i, j))]
        values.append(value if labels[first] < labels[second] else -value)
    found = in_sorted_order(model.support_, dual, values, labels, owners)
    assert np.array_equal(found.dual_coef, expected.dual_coef)
    assert np.allclose(found.intercept, expected.intercept)


def test_kernel_values_that_the_gradient_needs() -> None:
    counts = np.array([10, 20, 30])
    owners = np.array([0, 0, 2])
    # Rows of coefficients: for the first class those of pairs with the second and the third; for
    # the last those of pairs with the first and the second.
    dual = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    assert needed_values(owners, dual, counts) == (10 + 20) + (10 + 20 + 30) + (30 + 20)
    assert needed_values(np.array([0, 1]), np.array([[1.0, -1.0]]), np.array([4, 6])) == 20


def test_scale_is_scikit_learns() -> None:
    X, y = _data(2)
    assert scale_gamma(X) == pytest.approx(SVC(gamma="scale").fit(X, y)._gamma)


def test_the_floor() -> None:
    speed = {"operations": 1e9, "exponentials": 1e8}
    assert floor_seconds(10**6, 50, speed) == pytest.approx(0.1 + 0.01)


def _row(job: Job, primal: float, fit: float, certificate: float = 0.0) -> dict[str, Any]:
    """Return a row as a finished run leaves it."""
    return {
        "task": job.task.title,
        "method": job.method,
        "threads": job.threads,
        "tol": job.tol,
        "outcome": "finished",
        "n_rows": 100,
        "n_features": 5,
        "fit_seconds": [fit + 1.0, fit],
        "certificate_seconds": [certificate] * 2,
        "fit_processor_seconds": [fit + 1.0, fit],
        "predict_seconds": [fit],
        "predict_processor_seconds": [fit],
        "primal": primal,
        "optimum_at_least": 9.0,
        "kkt": 1e-4,
        "support_vectors": 10,
        "kernel_values": 1000,
        "right": 9,
        "test_rows": 10,
        "peak_bytes_beyond_arrays": 10**6,
        "intercept_kind": "free",
        "claims": {},
    }


class _Runner:
    """Stands for the runs: notes what it is asked, and returns what was agreed upon."""

    def __init__(self, primals: dict[tuple[str, float], float]) -> None:
        self.primals = primals
        self.asked: list[tuple[str, int, float]] = []
        self.limits: dict[str, float] = {}

    def __call__(self, job: Job, method: Any, limit: float) -> dict[str, Any]:
        self.asked.append((method.name, job.threads, job.tol))
        self.limits[method.name] = limit
        fit = 2.0 if method.name in OURS else 5.0
        certificate = 0.5 if method.name in OURS else 0.0
        return _row(job, self.primals.get((method.name, job.tol), 10.0), fit, certificate)


def _everything(_task: str, _method: str) -> bool:
    return True


def _run_all(record: Record, runner: _Runner) -> None:
    for _ in contest(TASK, record, Limits(1000.0, 30.0), _everything, runner):
        pass


def test_tolerances_are_tightened_until_the_objective_is_reached(tmp_path: Path) -> None:
    worse = {("intelex SVC float32", 1e-3): 10.1, ("ThunderSVM", 1e-3): 10.1}
    runner = _Runner(worse | {("intelex SVC float32", 5e-4): 10.0 * (1.0 + 5e-7)})
    _run_all(Record(tmp_path / "kernel.json"), runner)
    tolerances = [tol for name, threads, tol in runner.asked if (name, threads) == (_INTELEX, 1)]
    assert tolerances == [1e-3, 5e-4]
    assert runner.asked.count(("ThunderSVM", 1, 1e-3)) == 1
    assert runner.asked[0][0] == "scikit-learn SVC"


_INTELEX = "intelex SVC float32"


def test_others_are_limited_by_the_time_of_hinge(tmp_path: Path) -> None:
    runner = _Runner({})
    _run_all(Record(tmp_path / "kernel.json"), runner)
    assert runner.limits["scikit-learn SVC"] == runner.limits[OURS[0]] == 1000.0
    assert runner.limits["LIBSVM"] == pytest.approx(30.0 * 1.5)  # without its certificate


def test_a_record_goes_on_where_it_was_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    first, again = _Runner({}), _Runner({})
    _run_all(Record(path), first)
    stored = json.loads(path.read_text())
    lost = f"{TASK.title} | LIBSVM | 1 | 0.001"
    failed = f"{TASK.title} | ThunderSVM | 2 | 0.001"
    stopped = f"{TASK.title} | ThunderSVM | 1 | 0.001"
    del stored[lost]
    stored[failed] |= {"outcome": "failed"}
    stored[stopped] |= {"outcome": "time limit"}
    path.write_text(json.dumps(stored))
    _run_all(Record(path), again)
    assert again.asked == [("ThunderSVM", 2, 1e-3), ("LIBSVM", 1, 1e-3)]


def test_rows_are_renewed_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "kernel.json"
    record = Record(path)
    for name in ("a", "b"):
        record.get(name, lambda: {"outcome": "finished", "age": 1})
    again = Record(path, renewed=lambda name: name == "b")
    assert again.get("a", dict)["age"] == 1
    # Until the new row is there, the old one is kept.
    with pytest.raises(KeyboardInterrupt):
        again.get("b", _interrupted)
    assert json.loads(path.read_text())["b"]["age"] == 1
    assert again.get("b", lambda: {"outcome": "finished", "age": 2})["age"] == 2
    assert json.loads(path.read_text())["b"]["age"] == 2
    assert Record(path, fresh=True).rows == {}


def _interrupted() -> dict[str, Any]:
    raise KeyboardInterrupt


def test_promises_are_judged_without_the_certificate(tmp_path: Path) -> None:
    record = Record(tmp_path / "kernel.json")
    _run_all(record, _Runner({}))
    found = {verdict.what: verdict for verdict in verdicts(record, TASK.title)}
    fit = found["fit / intelex float32, default tol"]
    assert (fit.ours, fit.theirs, fit.kept) == (1.5, 5.0, "yes")
    assert found["fit / scikit-learn, same objective"].kept == "NO"
    assert found["fit, two threads / one, float64"].kept == "NO"
    assert verdicts(record, "another task")[0].kept == "not measured"


def test_the_page_tells_who_was_stopped(tmp_path: Path) -> None:
    record = Record(tmp_path / "kernel.json")
    _run_all(record, _Runner({("intelex SVC float64", 1e-3): 10.1}))
    stopped = {"outcome": "time limit", "reason": "stopped after 60 s"}
    record.rows[f"{TASK.title} | LIBSVM | 1 | 0.001"] |= stopped
    record.rows["speed | 1"] = {"operations": 1e9, "exponentials": 1e8, "threads": 1}
    text = page.page(new_report("Kernel machines", ["kernel"]), record, (TASK,))
    assert "| LIBSVM | 1 | 0.001 | time limit: stopped after 60 s | - |" in text
    assert "| intelex SVC float64 | 1 | 0.001 | 5 | - | 5 | 10.1 | no | 1.1e-01 |" in text
    floor = floor_seconds(1000, 5, record.rows["speed | 1"])
    assert f"| hinge SVC float64 | 1 | 1e+03 | {floor:.3g} | 1.5 | {1.5 / floor:.2f} | - |" in text


def test_only_chooses_tasks_and_methods() -> None:
    titles = [task.title for task in TASKS]
    names = [method.name for method in METHODS]
    chosen = command.chooser(["a9a", "covtype", "LIBSVM"], titles, names)
    assert chosen(titles[1], "LIBSVM")
    assert not chosen(titles[1], "ThunderSVM")
    assert not chosen(titles[0], "LIBSVM")
    assert chosen.row(f"{titles[1]} | LIBSVM | 1 | 0.001")
    assert command.chooser([], titles, names)(titles[0], "ThunderSVM")
    with pytest.raises(SystemExit, match="no task or method has 'iris'"):
        command.chooser(["iris"], titles, names)


def test_names_of_rows_are_distinct() -> None:
    titles = [task.title for task in TASKS]
    names = [method.name for method in METHODS]
    assert len(set(titles)) == len(titles)
    assert len(set(names)) == len(names)
