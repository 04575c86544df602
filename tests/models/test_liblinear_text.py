"""LIBLINEAR text models: what is read is what the file says, and what is written reads back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from tests.models.kinds import KINDS, Kind
from tests.models.liblinear_files import BINARY, THREE

from hinge import LinearSVC
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.models import from_sklearn, read_liblinear, text_labels, write_liblinear


def read(text: str, folder: Path, **options: Any) -> LinearSVC:
    path = folder / "model.txt"
    path.write_bytes(text.encode())
    return read_liblinear(path, **options)


def test_two_classes(tmp_path: Path) -> None:
    model = read(BINARY, tmp_path)
    # The first label is LIBLINEAR's positive one; hinge's is the larger.
    assert model.classes_.tolist() == [-1, 1]
    assert model.coef_.tolist() == [[-0.25, 1e-3, -0.1]]
    assert model.intercept_.tolist() == [-1.0]
    assert model.intercept_scaling == 2.0
    assert (model.loss, model.dual, model.fit_intercept) == ("squared_hinge", True, True)
    assert model.n_features_in_ == 3
    swapped = read(BINARY.replace("-1 1", "1 -1"), tmp_path)
    assert swapped.coef_.tolist() == [[0.25, -1e-3, 0.1]]
    assert swapped.intercept_.tolist() == [1.0]


def test_several_classes_are_put_in_order(tmp_path: Path) -> None:
    model = read(THREE, tmp_path)
    assert model.classes_.tolist() == [-2, 3, 7]
    assert model.coef_.tolist() == [[2.0, 5.0], [3.0, 6.0], [1.0, 4.0]]
    assert model.intercept_ == 0.0
    assert (model.loss, model.fit_intercept) == ("hinge", False)
    assert model.predict([[1.0, 0.0], [-1.0, 0.0]]).tolist() == [3, 7]


def test_nothing_is_claimed(tmp_path: Path) -> None:
    model = read(THREE, tmp_path)
    assert {solution.status for solution in model.solutions_} == {"imported"}
    assert model.certificate_.relative_gap == np.inf
    assert "imported from LIBLINEAR" in model.certificate_.notes[0]


def test_the_primal_solver_and_a_constant_feature_of_zero(tmp_path: Path) -> None:
    model = read(BINARY.replace("SVC_DUAL", "SVC").replace("bias 2", "bias 0"), tmp_path)
    assert model.dual is False
    assert model.intercept_ == 0.0
    assert model.fit_intercept is False


def test_what_the_file_does_not_say_comes_from_the_caller(tmp_path: Path) -> None:
    model = read(BINARY, tmp_path, C=0.5, intercept="free")
    assert (model.C, model.intercept) == (0.5, "free")
    with pytest.raises(InvalidParameterError, match="C must be greater than 0"):
        read(BINARY, tmp_path, C=0.0)
    with pytest.raises(InvalidParameterError, match="intercept must be None or 'free'; got 'none'"):
        read(BINARY, tmp_path, intercept="none")
    with pytest.raises(InvalidParameterError, match="intercept='free' asks for an intercept"):
        read(THREE, tmp_path, intercept="free")


def test_line_ends_spaces_and_order_of_the_header_do_not_matter(tmp_path: Path) -> None:
    lines = BINARY.split("\n")
    shuffled = "\n".join([*lines[4:1:-1], *lines[:2], *lines[5:]])
    for text in (BINARY.replace("\n", "\r\n"), BINARY.replace(" \n", "\n"), shuffled):
        assert read(text, tmp_path).coef_.tolist() == [[-0.25, 1e-3, -0.1]]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_every_bit_of_the_weights_survives(tmp_path_factory: Any, weights: list[float]) -> None:
    path = tmp_path_factory.mktemp("bits") / "model.txt"
    model, _ = Kind("int", 2, "none").fitted()
    model.coef_ = np.asarray([weights])
    model.n_features_in_ = len(weights)
    write_liblinear(model, path)
    assert read_liblinear(path).coef_.tobytes() == model.coef_.tobytes()


def test_pieces_meet(tmp_path: Path) -> None:
    """A file of many pieces, whose lines end anywhere in them."""
    rng = np.random.default_rng(0)
    model, _ = Kind("int", 3, "augmented").fitted()
    model.coef_ = rng.normal(size=(3, 30_000))
    model.n_features_in_ = 30_000
    write_liblinear(model, tmp_path / "model.txt")
    assert (tmp_path / "model.txt").stat().st_size > 1 << 20
    again = read_liblinear(tmp_path / "model.txt")
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert again.intercept_.tobytes() == model.intercept_.tobytes()


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_round_trip(kind: Kind, tmp_path: Path) -> None:
    model, rows = kind.fitted()
    path = tmp_path / "model.txt"
    if kind.loss == "huber":
        with pytest.raises(UnsupportedError, match="LIBLINEAR has no model with loss='huber'"):
            write_liblinear(model, path)
        return
    named = kind.labels in ("str", "object")
    write_liblinear(model, path, labels=range(kind.n_classes) if named else None)
    again = read_liblinear(path, intercept="free" if kind.intercept == "free" else None)
    X = np.asarray(rows)
    expected = model.decision_function(rows)
    assert again.decision_function(X).tobytes() == expected.tobytes()
    labels = again.predict(X)
    assert (model.classes_[labels] if named else labels).tolist() == model.predict(rows).tolist()
    shared = ("loss", "fit_intercept", "intercept")
    assert [getattr(again, name) for name in shared] == [getattr(model, name) for name in shared]
    if kind.intercept == "scaled":
        assert again.intercept_scaling == 0.3


def test_an_intercept_that_no_weight_gives_is_still_exact(tmp_path: Path) -> None:
    model, _ = Kind("int", 2, "scaled").fitted()
    model.set_params(intercept_scaling=3.0).intercept_ = np.asarray([5e-324])
    write_liblinear(model, tmp_path / "model.txt")
    again = read_liblinear(tmp_path / "model.txt")
    assert again.intercept_.tolist() == [5e-324]
    assert again.intercept_scaling == 1.0


@pytest.mark.parametrize(
    ("loss", "dual", "written"),
    [
        ("squared_hinge", "auto", "L2R_L2LOSS_SVC_DUAL"),
        ("squared_hinge", False, "L2R_L2LOSS_SVC"),
        ("hinge", False, "L2R_L1LOSS_SVC_DUAL"),
    ],
)
def test_the_solver_type_names_the_loss(loss: str, dual: Any, written: str, tmp_path: Path) -> None:
    model, _ = Kind("int", 2, "augmented", loss).fitted()
    write_liblinear(model.set_params(dual=dual), tmp_path / "model.txt")
    assert (tmp_path / "model.txt").read_text().split("\n")[0] == f"solver_type {written}"


def test_sparse_weights_are_written(tmp_path: Path) -> None:
    model, rows = Kind("int", 3, "augmented").fitted()
    expected = model.decision_function(rows)
    write_liblinear(model.sparsify(), tmp_path / "model.txt")
    assert np.array_equal(read_liblinear(tmp_path / "model.txt").decision_function(rows), expected)


def test_from_scikit_learn_to_liblinear(tmp_path: Path) -> None:
    from sklearn.svm import LinearSVC as ScikitLinearSVC  # noqa: PLC0415

    X = np.random.default_rng(0).normal(size=(50, 4))
    theirs = ScikitLinearSVC(intercept_scaling=0.7).fit(X, X[:, 0] > 0)
    write_liblinear(from_sklearn(theirs), tmp_path / "model.txt")
    again = read_liblinear(tmp_path / "model.txt")
    assert again.coef_.tobytes() == theirs.coef_.tobytes()
    assert again.intercept_.tobytes() == theirs.intercept_.tobytes()
    assert again.intercept_scaling == 0.7


@pytest.mark.parametrize(
    ("classes", "labels", "message"),
    [
        (["a", "b"], None, r"whole numbers of 32 bits; got 'a'. Pass labels= with a number"),
        ([0.5, 1.0], None, r"whole numbers of 32 bits; got '0.5'"),
        ([0, 2**31], None, r"whole numbers of 32 bits; got '2147483648'"),
        (np.asarray([1, 2], dtype="m8[ns]"), None, r"32 bits; got '1 nanoseconds'"),
        ([0, 1], [1], r"labels has 1 numbers; the model has 2 classes"),
        ([0, 1], [1, 1], r"labels must give every class a number of its own"),
        ([0, 1], ["x", 1], r"whole numbers of 32 bits; got 'x'.$"),
        ([0, 1], [float("nan"), 1], r"whole numbers of 32 bits; got 'nan'.$"),
    ],
)
def test_other_labels_are_refused(classes: Any, labels: Any, message: str, tmp_path: Path) -> None:
    model, _ = Kind("int", 2, "augmented").fitted()
    model.classes_ = np.asarray(classes)
    with pytest.raises(InvalidParameterError, match=message):
        write_liblinear(model, tmp_path / "model.txt", labels=labels)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_fitted_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"a fitted hinge.LinearSVC; got NoneType"):
        write_liblinear(None, tmp_path / "model.txt")  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        write_liblinear(LinearSVC(), tmp_path / "model.txt")
    model, _ = Kind("int", 2, "augmented").fitted()
    with pytest.raises(InvalidParameterError, match=r"no intercept by its parameters"):
        write_liblinear(model.set_params(fit_intercept=False), tmp_path / "model.txt")


def test_more_classes_than_are_read_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_labels, "MOST_CLASSES", 2)
    model, _ = Kind("int", 3, "augmented").fitted()
    with pytest.raises(UnsupportedError, match="The model has 3 classes; this format takes 2"):
        write_liblinear(model, tmp_path / "model.txt")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    path.write_text("old")
    model, _ = Kind("int", 2, "augmented").fitted()
    model.coef_[0, 0] = np.inf
    with pytest.raises(InvalidParameterError, match=r"coef_\[0, 0\] is inf"):
        write_liblinear(model, path)
    assert path.read_text() == "old"
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_liblinear(Kind("int", 2, "augmented").fitted()[0], tmp_path / "nowhere" / "model")
