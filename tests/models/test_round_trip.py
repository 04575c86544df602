"""What is saved comes back: labels, weights to the bit, certificates, names, parameters."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.fitted import LABELS, OPTIONS, data, fit, same_certificates

import hinge
from hinge.models import load, save


def round_trip(model, folder, proof=True) -> hinge.LinearSVC:
    path = folder / "model.hinge"
    save(model, path, proof=proof)
    return load(path)


def assert_same(loaded, model, X) -> None:
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    labels, expected = loaded.predict(X), model.predict(X)
    assert labels.dtype.kind == expected.dtype.kind
    assert np.array_equal(labels, expected)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert same_certificates(loaded, model)
    assert loaded.n_iter_ == model.n_iter_
    assert loaded.n_features_in_ == model.n_features_in_
    assert np.array_equal(loaded.coef_, model.coef_)
    assert np.array_equal(loaded.intercept_, model.intercept_)
    assert type(loaded.intercept_) is type(model.intercept_)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("kind", LABELS)
def test_every_kind_of_label_and_objective(tmp_path, kind, options):
    X, y = data(kind)
    model = fit(X, y, **options)
    loaded = round_trip(model, tmp_path)
    assert_same(loaded, model, X)
    assert np.array_equal(loaded.settled(X), model.settled(X))
    assert loaded.get_params() == model.get_params()
    for ours, theirs in zip(loaded.solutions_, model.solutions_, strict=True):
        assert np.array_equal(ours.dual_coef, theirs.dual_coef)
        kept = ("status", "solver", "seed", "steps", "work", "seconds", "certificate_seconds")
        assert [getattr(ours, n) for n in kept] == [getattr(theirs, n) for n in kept]
        assert ours.certificate.status is theirs.certificate.status is ours.status
        assert ours.state is None
        assert len(ours.trace) == 0


def test_without_proof_the_file_is_smaller_and_nothing_is_settled(tmp_path):
    X, y = data()
    model = fit(X, y)
    save(model, tmp_path / "with")
    loaded = round_trip(model, tmp_path, proof=False)
    assert_same(loaded, model, X)
    assert (tmp_path / "model.hinge").stat().st_size < (tmp_path / "with").stat().st_size
    assert all(solution.dual_coef is None for solution in loaded.solutions_)
    assert not hasattr(loaded, "data_fingerprint_")
    assert not loaded.settled(X).any()


def test_a_loaded_model_saves_to_the_same_bytes(tmp_path):
    model = fit(*data())
    loaded = round_trip(model, tmp_path)
    save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model.hinge").read_bytes()


def test_feature_names_come_back(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X, columns=["a", "b\x00", "\U0001f600", '"'])
    model = fit(frame, y)
    loaded = round_trip(model, tmp_path)
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert np.array_equal(loaded.predict(frame), model.predict(frame))


def test_long_lists_go_into_tensors(tmp_path):
    rng = np.random.default_rng(0)
    n = 3000
    X = sp.random_array((2 * n, n), density=0.001, rng=rng, format="csr")
    names = [f"feature {k} é\ud800" for k in range(n)]
    model = fit(X, np.arange(2 * n) % 2)
    model.feature_names_in_ = np.array(names, dtype=object)
    loaded = round_trip(model, tmp_path)
    assert loaded.feature_names_in_.tolist() == names


@pytest.mark.parametrize(
    "labels",
    [np.arange(600) - 7, np.array([f"class {k:04} {'x' * 50}" for k in range(600)])],
    ids=["numbers", "text"],
)
def test_hundreds_of_classes(tmp_path, labels):
    X = np.random.default_rng(0).normal(size=(2 * len(labels), 2))
    model = fit(X, np.concatenate([labels, labels]), max_iter=0)
    loaded = round_trip(model, tmp_path)
    assert_same(loaded, model, X[:50])
    assert loaded.classes_.dtype == model.classes_.dtype


def test_a_sparsified_model_stays_sparse(tmp_path):
    X, y = data()
    model = fit(X, y).sparsify()
    loaded = round_trip(model, tmp_path)
    assert sp.issparse(loaded.coef_)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


def test_options_that_are_objects_are_kept_as_plain_values(tmp_path):
    X, y = data("int")
    model = fit(
        X,
        y,
        solver=hinge.solvers.DualCoordinate(order="cyclic"),
        random_state=np.random.default_rng(3),
        class_weight={np.int64(3): np.float32(0.5), -7: 2},
        C=np.float32(0.5),
        callback=lambda _: None,
    )
    loaded = round_trip(model, tmp_path)
    assert loaded.solver == "dual-coordinate"
    assert loaded.random_state == model.solution_.seed
    assert loaded.class_weight == {3: 0.5, -7: 2.0}
    assert loaded.C == 0.5
    assert loaded.callback is None


def test_a_loaded_model_fits_again(tmp_path):
    X, y = data()
    model = fit(X, y, loss="hinge", C=0.5)
    loaded = round_trip(model, tmp_path)
    again = loaded.fit(X, y)
    assert np.array_equal(again.coef_, model.coef_)
    warm = round_trip(model, tmp_path).set_params(warm_start=True).fit(X, y)
    assert warm.n_iter_ <= model.n_iter_


def test_a_class_that_never_began_is_kept_as_such(tmp_path):
    X, y = data("int")
    model = fit(X, y, callback=lambda _: True)
    assert any(np.isnan(c.primal) for c in model.certificates_)
    assert_same(round_trip(model, tmp_path), model, X)


@settings(max_examples=50, deadline=None)
@given(labels=st.lists(st.text(max_size=20), min_size=2, max_size=5, unique=True))
def test_any_text_can_be_a_label(tmp_path_factory, labels):
    folder = tmp_path_factory.mktemp("labels")
    classes = np.empty(len(labels), dtype=object)
    classes[:] = labels
    X = np.arange(float(2 * len(labels)))[:, None]
    model = fit(X, np.concatenate([classes, classes]), max_iter=0)
    loaded = round_trip(model, folder)
    assert loaded.classes_.tolist() == sorted(labels)
