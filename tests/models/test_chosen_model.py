"""A model whose C was chosen by cross-validation is kept with its choice, or refused."""

import struct
import warnings

import numpy as np
import pytest
from fuzz.model_file.parts import Parts, join, split
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from tests.models.fitted import LABELS, data, same_certificates

import hinge
from hinge import LinearSVC, LinearSVCCV, ModelFileError
from hinge.models import compare, inspect, load, read_liblinear, save, verify, write_liblinear

CS = [0.01, 1.0, 0.1]


def fit(X, y, sample_weight=None, **options) -> LinearSVCCV:
    options = {"Cs": CS, "cv": 3, "tol": 1e-3, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LinearSVCCV(**options).fit(X, y, sample_weight)


def round_trip(model, folder, proof=True) -> LinearSVCCV:
    save(model, folder / "model.hinge", proof=proof)
    return load(folder / "model.hinge")


@pytest.mark.parametrize("proof", [True, False])
@pytest.mark.parametrize("kind", ["two", "int", "hostile", "date"])
def test_model_and_choice_come_back(tmp_path, kind, proof):
    assert kind in LABELS
    X, y = data(kind)
    model = fit(X, y, loss="hinge", intercept="free")
    loaded = round_trip(model, tmp_path, proof)
    assert isinstance(loaded, LinearSVCCV)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert loaded.get_params() == model.get_params()
    assert same_certificates(loaded, model)
    for name in ("Cs_", "scores_", "gaps_", "seconds_", "coef_", "intercept_"):
        assert np.array_equal(getattr(loaded, name), getattr(model, name)), name
    assert (loaded.C_, loaded.n_iter_) == (model.C_, model.n_iter_)
    assert isinstance(loaded.best_estimator_, LinearSVC)
    assert loaded.best_estimator_.C == loaded.C_
    assert hasattr(loaded, "data_fingerprint_") is proof
    save(loaded, tmp_path / "again", proof=proof)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model.hinge").read_bytes()


def test_a_loaded_choice_can_be_made_again(tmp_path):
    X, y = data()
    model = fit(X, y, Cs=4, cv=None, scoring="balanced_accuracy", class_weight="balanced")
    loaded = round_trip(model, tmp_path)
    assert loaded.score(X, y) == model.score(X, y)
    again = clone(loaded).fit(X, y)
    assert np.array_equal(again.scores_, model.scores_)
    assert np.array_equal(again.coef_, model.coef_)


def test_weights_that_were_made_sparse_come_back_so(tmp_path):
    X, y = data()
    model = fit(X, y).sparsify()
    loaded = round_trip(model, tmp_path)
    assert (loaded.coef_ != model.coef_).nnz == 0
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_parameters_are_those_that_the_estimator_has_now(tmp_path):
    model = fit(*data()).set_params(n_jobs=2)
    assert round_trip(model, tmp_path).n_jobs == 2


@pytest.mark.parametrize(
    ("cv", "kept"),
    [
        (3, 3),
        (np.int64(4), 4),
        (StratifiedKFold(5, shuffle=True, random_state=0), 5),
        (ShuffleSplit(1, random_state=0), None),
    ],
)
def test_a_splitter_becomes_the_number_of_its_splits(tmp_path, cv, kept):
    model = fit(*data(), cv=cv)
    loaded = round_trip(model, tmp_path)
    assert loaded.cv == kept
    assert np.array_equal(loaded.scores_, model.scores_)


def test_the_file_tells_its_kind(tmp_path):
    X, y = data()
    round_trip(fit(X, y), tmp_path)
    found = inspect(tmp_path / "model.hinge")
    assert (found.kind, found.n_rows) == ("chosen-linear-classifier", len(X))


def test_everything_that_takes_a_model_takes_this_one(tmp_path):
    X, y = data("int")
    model = round_trip(fit(X, y), tmp_path)
    assert verify(model, X, y).truthful
    judged = compare(model, model.best_estimator_, X, y)
    assert judged.a.objective == judged.b.objective
    write_liblinear(model, tmp_path / "text")
    assert np.array_equal(read_liblinear(tmp_path / "text").predict(X), model.predict(X))


def test_the_onnx_file_of_the_chosen_model(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = fit(*data("two"))
    hinge.models.write_onnx(model, tmp_path / "model.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "model.onnx"))


def test_values_that_another_machine_rounded_are_saved_again(tmp_path):
    model = fit(*data(), Cs=3)
    others = [place for place, C in enumerate(model.Cs_) if C != model.C_]
    model.Cs_ = model.Cs_.copy()
    model.Cs_[others] = np.nextafter(model.Cs_[others], np.inf)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    save(again, tmp_path / "again")
    np.testing.assert_array_equal(load(tmp_path / "again").Cs_, model.Cs_)


def test_what_cannot_be_saved_is_told(tmp_path):
    X, y = data()
    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        save(LinearSVCCV(), path)
    with pytest.raises(NotFittedError):
        verify(LinearSVCCV(), X, y)
    with pytest.raises(hinge.UnsupportedError, match="scoring is a function, which no file can ho"):
        save(fit(X, y, scoring=make_scorer(accuracy_score)), path)
    with pytest.raises(hinge.InvalidParameterError, match="Cs was changed after the fit"):
        save(fit(X, y).set_params(Cs=[1.0]), path)
    changed = fit(X, y)
    changed.coef_ = 2.0 * changed.coef_
    with pytest.raises(hinge.InvalidParameterError, match="were changed after the fit"):
        save(changed, path)
    changed = fit(X, y)
    changed.scores_ = changed.scores_[:, ::-1] * 0.0
    with pytest.raises(hinge.UnsupportedError, match="is not the one that the scores choose"):
        save(changed, path)
    with pytest.raises(hinge.InvalidParameterError, match=r"hinge\.SVC or hinge\.SVCCV; got"):
        save(X, path)
    assert not path.exists()


def ended_early(X, y, after: int, **options) -> LinearSVCCV:
    """Return an estimator whose cross-validation was ended after some calls of its callback."""
    calls = iter(range(10**6))
    model = LinearSVCCV(CS, cv=3, callback=lambda _: next(calls) >= after, **options)
    with pytest.raises(hinge.Interrupted):
        model.fit(X, y)
    return model


TAKERS = {
    "save": save,
    "write_liblinear": write_liblinear,
    "verify": lambda model, _: verify(model, *data()),
    "compare": lambda model, _: compare(model, model, *data()),
}


@pytest.mark.parametrize("taker", TAKERS)
def test_scores_without_a_model_are_told_from_each_other(tmp_path, taker):
    X, y = data()
    path = tmp_path / "model"
    without = fit(X, y, refit=False)
    sentence = rf"refit=False: it has scores, but no model\. Fit LinearSVC\(C={without.C_:g}\)"
    with pytest.raises(hinge.InvalidParameterError, match=sentence):
        TAKERS[taker](without, path)
    for options in ({}, {"refit": False}):
        ended = ended_early(X, y, after=0, **options)
        assert not hasattr(ended, "C_")
        with pytest.raises(hinge.InvalidParameterError, match=r"ended during cross-validation: it"):
            TAKERS[taker](ended, path)
    assert not path.exists()


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Parts:
    X, y = data()
    model = fit(X, y, Cs=3, scoring="accuracy")
    path = tmp_path_factory.mktemp("sound") / "model"
    save(model, path)
    return split(path.read_bytes())


def refuse(parts: Parts, folder, sentence: str) -> None:
    path = folder / "model"
    path.write_bytes(join(parts, repair=True))
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert sentence in str(caught.value)


DESCRIPTION = {
    ("selection", "Cs"): (4, "the 3 values of C are not those that Cs=4 stands for"),
    ("selection", "Cs "): (2**60, "the 3 values of C are not those that Cs=1152921504606846976"),
    ("selection", "Cs  "): (0, "selection.Cs must be a whole number from 1"),
    ("selection", "cv"): (1, "selection.cv must be a whole number from 2"),
    ("selection", "cv "): ("StratifiedKFold", "selection.cv must be a whole number from 2"),
    ("selection", "scoring"): ("os.system", "must be null or the name of a score of scikit-learn"),
    ("selection", "scoring "): (["f1"], "must be null or the name of a score of scikit-learn"),
    ("selection", "refit"): (1, "selection.refit must be true or false"),
    ("selection", "n_iter"): (-1, "selection.n_iter must be a whole number from"),
    ("selection", "extra"): (1, "selection has fields that this format does not know: 'extra'"),
    ("kind",): ("linear-classifier", "a linear-classifier: with 'selection.Cs'"),
    ("selection",): (None, "selection must be an object with named fields"),
}


@pytest.mark.parametrize("place", DESCRIPTION, ids="/".join)
def test_a_field_that_does_not_fit(sound, tmp_path, place):
    value, sentence = DESCRIPTION[place]
    parts = sound.copy()
    *way, last = place
    content = parts.description
    for name in way:
        content = content[name]
    content[last.strip()] = value
    refuse(parts, tmp_path, sentence)


@pytest.mark.parametrize("name", ["Cs", "cv", "scoring", "refit", "n_iter"])
def test_a_field_that_is_missing(sound, tmp_path, name):
    parts = sound.copy()
    del parts.description["selection"][name]
    refuse(parts, tmp_path, f"selection has no field {name!r}")


NUMBERS = {
    "selection.Cs": [(np.nan, "a value of C is not a number"), (0.0, "a value of C is not a num")],
    "selection.gaps": [(-1.0, "a gap or a time that cannot be"), (np.nan, "a gap or a time")],
    "selection.seconds": [(-1.0, "a gap or a time"), (np.inf, "a gap or a time")],
    "selection.scores": [(1e9, "is not the one that the scores choose")],
}


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [(name, *case) for name, cases in NUMBERS.items() for case in cases],
)
def test_a_number_that_cannot_be(sound, tmp_path, name, value, sentence):
    refuse(with_numbers(sound, name, [value]), tmp_path, sentence)


def test_scores_that_choose_nothing(sound, tmp_path):
    nothing = with_numbers(sound, "selection.scores", [np.nan] * 9)
    refuse(nothing, tmp_path, "is not the one that the scores choose")


def test_tables_of_another_shape(sound, tmp_path):
    parts = sound.copy()
    for entry in (parts.header["selection.gaps"], parts.description["tensors"]["selection.gaps"]):
        shape = entry["shape"] if isinstance(entry, dict) else entry[1]
        shape[:] = [9, 1]
    refuse(parts, tmp_path, "are not those of folds and values of C")


def with_numbers(sound: Parts, name: str, values: list[float]) -> Parts:
    """Return the file with other numbers at the beginning of a tensor."""
    parts = sound.copy()
    start = parts.header[name]["data_offsets"][0]
    content = struct.pack(f"<{len(values)}d", *values)
    parts.data = parts.data[:start] + content + parts.data[start + len(content) :]
    return parts
