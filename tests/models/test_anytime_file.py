"""Predictors in files: the same labels by the same plan, which no forged file can change."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from fuzz.model_file.judge import check_memory
from fuzz.model_file.parts import Parts, join, split
from fuzz.model_file.seeds import with_every_stage
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC as ScikitSVC  # noqa: N811
from sklearn.svm import OneClassSVM

import hinge
from hinge.anytime import AnytimePredictor, Costs, Plan, kept_points, rebuilt
from hinge.anytime import Parts as PredictorParts
from hinge.kernels import RBF, Normalised, Polynomial
from hinge.models import anytime_content, anytime_plan, inspect, load, save, verify
from hinge.models.anytime_plan import put_plan, take_plan
from hinge.rows import Rows

RNG = np.random.default_rng(17)
X = RNG.normal(size=(160, 4))
Y2 = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
Y4 = (X[:, 0] > 0).astype(int) + 2 * (X[:, 1] > 0)
NEW = RNG.normal(size=(300, 4))
PATTERN = RNG.random((160, 4)) < 0.6


def predictors() -> dict[str, AnytimePredictor]:
    """Return a predictor of every kind of machine, rule and storage."""
    narrow, sparse = X.astype(np.float32), sp.csr_array(X * PATTERN)
    made: dict[str, Any] = {
        "two classes": hinge.SVC(gamma=0.1).fit(X, Y2),
        "four classes": hinge.SVC(gamma=0.2).fit(X, Y4),
        "float32": hinge.SVC(gamma=0.2).fit(narrow, Y2),
        "sparse": hinge.SVC(kernel="poly", coef0=1.0).fit(sparse, Y4),
        "normalised": hinge.SVC(kernel=Normalised(Polynomial(2, 0.5, 1.0))).fit(X, Y2),
        "sigmoid": hinge.SVC(kernel="sigmoid", gamma=0.05).fit(X, Y2),
        "laplacian": hinge.SVC(kernel="laplacian").fit(X, Y2),
        "one class": OneClassSVM(nu=0.3).fit(X),
        "one against the rest": OneVsRestClassifier(ScikitSVC()).fit(X, Y4),
        "arrays": (X, RNG.normal(size=(3, 160)), np.zeros(3), RBF(0.2)),
    }
    return {name: hinge.accelerate(model) for name, model in made.items()}


NAMES = (
    *("two classes", "four classes", "float32", "sparse", "normalised", "sigmoid", "laplacian"),
    *("one class", "one against the rest", "arrays"),
)


@pytest.fixture(scope="module")
def made() -> dict[str, AnytimePredictor]:
    """Return the predictors, none of which outlives the tests."""
    return predictors()


def counts(fast: AnytimePredictor) -> list[int]:
    """Return after how many points a predictor looks."""
    embedding = fast.parts.embedding
    return [embedding.exits[k].count for k in fast.parts.plan.exits] if embedding else []


def same(a: AnytimePredictor, b: AnytimePredictor) -> None:
    """Assert that two predictors do the same."""
    for rows in (NEW, sp.csr_array(NEW)):
        first, second = a.predict_certified(rows), b.predict_certified(rows)
        np.testing.assert_array_equal(first.labels, second.labels)
        np.testing.assert_array_equal(first.terms, second.terms)
        assert first.labels.dtype == second.labels.dtype
    assert counts(a) == counts(b)
    assert a.parts.plan == b.parts.plan
    assert a.explain() == b.explain()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("forced", [False, True], ids=["measured", "every stage"])
def test_a_loaded_predictor_does_what_the_saved_one_did(name, forced, made, tmp_path: Path) -> None:
    fast = with_every_stage(made[name]) if forced else made[name]
    save(fast, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, AnytimePredictor)
    same(fast, again)
    np.testing.assert_array_equal(fast.decision_function(NEW), again.decision_function(NEW))
    save(again, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_matrix_of_kernel_values(tmp_path: Path) -> None:
    model = hinge.SVC(kernel="precomputed").fit(X @ X.T, Y2)
    save(hinge.accelerate(model), tmp_path / "a")
    np.testing.assert_array_equal(load(tmp_path / "a").predict(NEW @ X.T), model.predict(NEW @ X.T))


def test_a_machine_without_support_vectors(made, tmp_path: Path) -> None:
    fast = made["arrays"]
    empty = AnytimePredictor(
        dataclasses.replace(fast.machine, support=None, coefficients=np.zeros((0, 3))),
        *(fast.rule, fast.classes, fast.n_features),
        PredictorParts(Plan(), reason="the machine has no support vectors"),
    )
    save(empty, tmp_path / "a")
    again = load(tmp_path / "a")
    assert set(again.predict(NEW)) == {0}
    assert again.explain() == empty.explain()


@pytest.mark.parametrize(
    "inner", [None, hinge.SVC(gamma=0.1), hinge.SVCCV([0.1, 1.0], cv=2, gamma=0.1)]
)
def test_a_classifier_keeps_its_certificates(inner: Any, tmp_path: Path) -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = hinge.AnytimeClassifier(inner, n_points=40, random_state=3).fit(frame, Y2)
    save(model, tmp_path / "a")
    again = load(tmp_path / "a")
    assert isinstance(again, hinge.AnytimeClassifier)
    assert repr(again) == repr(model)
    assert again.feature_names_in_.tolist() == list("abcd")
    same(model.predictor_, again.predictor_)
    values = pd.DataFrame(NEW, columns=list("abcd"))
    np.testing.assert_array_equal(again.predict(values), model.predict(values))
    np.testing.assert_array_equal(again.decision_function(values), model.decision_function(values))
    assert verify(again, frame, Y2).truthful
    found = inspect(tmp_path / "a")
    assert found.kind.startswith("anytime-")
    assert found.has_proof
    assert found.anytime == tuple(model.explain().splitlines())


def test_a_predictor_describes_itself(made, tmp_path: Path) -> None:
    save(made["two classes"], tmp_path / "a")
    found = inspect(tmp_path / "a")
    assert (found.kind, found.classes, found.n_features) == ("anytime-predictor", ("no", "yes"), 4)
    assert found.kernel == {"name": "rbf", "gamma": 0.1}
    assert sum(found.n_support) == len(made["two classes"].machine.coefficients)
    assert found.anytime == tuple(made["two classes"].explain().splitlines())
    assert not found.has_proof
    assert found.problem == found.certificate == {}


def test_what_cannot_be_saved_is_told(made, tmp_path: Path) -> None:
    foreign = hinge.AnytimeClassifier(ScikitSVC()).fit(X, Y2)
    with pytest.raises(hinge.UnsupportedError, match="save its predictor_, which has all"):
        save(foreign, tmp_path / "a")
    save(foreign.predictor_, tmp_path / "a")
    np.testing.assert_array_equal(load(tmp_path / "a").predict(NEW), foreign.predict(NEW))
    coded = hinge.accelerate(hinge.SVC(kernel=lambda a, b: a @ b.T).fit(X, Y2))
    with pytest.raises(hinge.UnsupportedError, match="function"):
        save(coded, tmp_path / "a")
    changed = hinge.AnytimeClassifier().fit(X, Y2)
    changed.predictor_ = made["two classes"]
    with pytest.raises(hinge.InvalidParameterError, match="estimator_ was changed after"):
        save(changed, tmp_path / "a")


def test_every_part_of_a_predictor_is_saved_or_made_again() -> None:
    # Who adds a part also says in hinge.anytime.rebuild how a file gets it back.
    known = {"plan", "functions", "embedding", "sides", "reason"}
    assert {field.name for field in dataclasses.fields(PredictorParts)} == known


def test_every_field_of_a_plan_comes_back() -> None:
    costs = Costs(**{field.name: 0.5 for field in dataclasses.fields(Costs)})
    plan = Plan((0, 2), 8, True, costs, {"8 points": 0.25}, 0.5)
    assert take_plan(json.loads(json.dumps(put_plan(plan)))) == plan
    assert take_plan({}) == Plan()


def test_plans_may_gain_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclasses.dataclass(frozen=True)
    class Larger(Plan):
        guess: int | None = None
        uses_more: bool = False

    monkeypatch.setattr(anytime_plan, "Plan", Larger)
    for plan in (Larger(guess=3, uses_more=True), Larger((1,))):
        assert take_plan(json.loads(json.dumps(put_plan(plan)))) == plan
    fast = with_every_stage(hinge.accelerate(hinge.SVC(gamma=0.1).fit(X, Y2)))
    embedding = fast.parts.embedding
    basis, found = kept_points(dataclasses.replace(fast.parts, plan=Larger((0,), guess=2)))
    assert found == tuple(one.count for one in embedding.exits[:3])
    assert basis.n_rows == found[-1]
    again = rebuilt(fast.machine, basis.take(np.arange(8)), found[:1], Larger((0,), guess=2))
    assert again.plan == Larger((0,))


@pytest.fixture
def parts(made, tmp_path: Path) -> Parts:
    save(with_every_stage(made["two classes"]), tmp_path / "sound")
    return split((tmp_path / "sound").read_bytes())


def written(parts: Parts, folder: Path) -> Path:
    """Write parts with a digest that fits."""
    path = folder / "forged"
    path.write_bytes(join(parts, repair=True))
    return path


FIELDS = [
    (("rule",), "largest", "makes it float64 of shape (2,)"),
    (("rule",), "votes", "the rule 'votes' cannot be of 2 classes"),
    (("rule",), "eval", "rule must be one of 'sign'"),
    (("kernel", "gamma"), "scale", "must have numbers, not rules"),
    (("kernel",), {"name": "precomputed", "psd": True, "asymmetry": 0.0}, "other support vectors"),
    (("n_features",), 3, "the rest of the file makes it"),
    (("anytime", "counts"), [8, 8, 16], "anytime.counts must rise to the"),
    (("anytime", "counts"), [], "anytime.counts must rise to the"),
    (("anytime", "counts"), [-1, 4], "anytime.counts must rise to the"),
    (("anytime", "counts"), [True], "must be a list of at most 64 numbers"),
    (("anytime", "counts"), list(range(1, 70)), "must be a list of at most 64 numbers"),
    (("anytime", "points"), None, "its tensors are not those of a anytime-predictor"),
    (("anytime", "points", "form"), "rows", "its tensors are not those of"),
    (("anytime", "points", "count"), 7, "the rest of the file makes it"),
    (("anytime", "plan", "n_coordinates"), -1, "n_coordinates must be a whole number from 0"),
    (("anytime", "plan", "uses_single"), 1, "uses_single must be true or false"),
    (("anytime", "plan", "expected"), "nan", "expected must be a finite number of at least 0"),
    (("anytime", "plan", "costs"), [], "anytime.plan.costs must be an object"),
    (("anytime", "plan", "costs", "full"), -1.0, "full must be a finite number of at least 0"),
    (("anytime", "plan", "shares"), {"x" * 60: 0.5}, "shares must be numbers with short names"),
    (("anytime", "plan", "shares"), {"8 points": None}, "shares must be a finite number"),
    (("anytime", "plan", "exits"), [99], "must be different positions in anytime.counts"),
    (("anytime", "plan", "exits"), [1, 1], "must be different positions in anytime.counts"),
    (("anytime", "plan", "exits"), [-1], "exits must be a short list of whole numbers"),
    (("anytime", "plan", "surprise"), 1, "fields that this format does not know: 'surprise'"),
    (("anytime", "surprise"), 1, "fields that this format does not know: 'surprise'"),
]


@pytest.mark.parametrize(("place", "value", "message"), FIELDS)
def test_forged_fields(place, value, message: str, parts: Parts, tmp_path: Path) -> None:
    target = parts.description
    for name in place[:-1]:
        target = target[name]
    target[place[-1]] = value
    with pytest.raises(hinge.ModelFileError) as error:
        load(written(parts, tmp_path))
    assert message in str(error.value)


def change(parts: Parts, name: str, make: Any) -> None:
    """Put other float64 numbers into a tensor."""
    start, stop = parts.header[name]["data_offsets"]
    values = np.frombuffer(parts.data[start:stop]).reshape(parts.header[name]["shape"])
    content = np.ascontiguousarray(make(values.copy()), dtype=np.float64).tobytes()
    assert len(content) == stop - start
    parts.data = parts.data[:start] + content + parts.data[stop:]


def _one(value: float) -> Any:
    def make(values: Any) -> Any:
        values.ravel()[0] = value
        return values

    return make


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("basis_points", _one(np.nan), "'basis_points' holds a number that is not finite"),
        ("basis_points", _one(1e200), "a basis point has a squared norm beyond floating point"),
        ("coefficients", _one(np.inf), "'coefficients' holds a number that is not finite"),
        ("intercept", _one(np.nan), "'intercept' holds a number that is not finite"),
        ("support_vectors", _one(-1e200), "a support vector has a squared norm beyond floating"),
    ],
)
def test_forged_tensors(name, make, message: str, parts: Parts, tmp_path: Path) -> None:
    change(parts, name, make)
    with pytest.raises(hinge.ModelFileError, match=message):
        load(written(parts, tmp_path))


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("basis_points", np.zeros_like),
        ("basis_points", lambda values: values[::-1]),
        ("basis_points", lambda values: 1e150 * values),
        ("basis_points", lambda values: np.repeat(values[:1], len(values), axis=0)),
        ("coefficients", lambda values: 1e100 * values),
        ("coefficients", np.zeros_like),
        ("intercept", lambda values: values + 3.0),
    ],
)
def test_whatever_the_points_are_labels_are_those_of_the_machine(
    name, make, parts: Parts, tmp_path: Path
) -> None:
    change(parts, name, make)
    fast = load(written(parts, tmp_path))
    found = fast.predict_certified(NEW)
    assert found.decided.all()
    full = fast.rule.codes(fast.machine.values(Rows(NEW)))
    np.testing.assert_array_equal(found.labels, fast.classes[full])


def test_points_of_another_storage_are_refused(made, tmp_path: Path) -> None:
    save(with_every_stage(made["float32"]), tmp_path / "a")
    parts = split((tmp_path / "a").read_bytes())
    entry = parts.header["basis_points"]
    start, stop = entry["data_offsets"]
    n_points = (stop - start) // 8 // 4
    entry["dtype"], entry["shape"] = "F64", [n_points, 4]
    parts.description["tensors"]["basis_points"] = ["F64", [n_points, 4]]
    parts.description["anytime"]["points"]["count"] = n_points
    parts.description["anytime"]["counts"] = [n_points]
    parts.description["anytime"]["plan"]["exits"] = [0]
    with pytest.raises(hinge.ModelFileError, match="are not stored as the support vectors are"):
        load(written(parts, tmp_path))


def test_more_points_than_the_file_pays_for_are_refused(tmp_path: Path) -> None:
    lines = np.linspace(0.0, 40.0, 1250)[:, None]
    fast = hinge.accelerate((lines, np.ones(1250), 0.0, RBF(5e4)), n_points=1250)
    with pytest.raises(hinge.UnsupportedError, match="1250 basis points: in memory that would be"):
        save(with_every_stage(fast), tmp_path / "a")
    small = hinge.accelerate((lines, np.ones(1250), 0.0, RBF(5e4)), n_points=900)
    save(with_every_stage(small), tmp_path / "a")
    check_memory(tmp_path / "a")


def test_more_support_vectors_than_can_be_proven_again_are_refused(monkeypatch, parts, tmp_path):
    monkeypatch.setattr(anytime_content, "_MOST_PAIRS", 100)
    with pytest.raises(hinge.ModelFileError, match="too many for bounds that are proven when"):
        load(written(parts, tmp_path))
