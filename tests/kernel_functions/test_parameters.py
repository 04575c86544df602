"""Parameters of kernels: what they stand for on data, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

import hinge
from hinge.kernels import (
    RBF,
    CallableKernel,
    ChiSquared,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Precomputed,
    Sigmoid,
    get_kernel,
)
from hinge.rows import Rows

NAMES = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "laplacian": Laplacian,
    "chi2": ChiSquared,
    "precomputed": Precomputed,
}


@pytest.mark.parametrize("name", NAMES)
def test_kernels_are_known_by_name(name: str) -> None:
    kernel = get_kernel(name)
    assert type(kernel) is NAMES[name]
    assert kernel.name == name
    assert kernel == NAMES[name]()
    assert hash(kernel) == hash(NAMES[name]())
    assert get_kernel(kernel) is kernel


def test_a_function_is_a_kernel() -> None:
    kernel = get_kernel(lambda A, B: A @ B.T)
    assert isinstance(kernel, CallableKernel)
    assert kernel.psd is None


@pytest.mark.parametrize("got", ["rbg", "RBF", None, 3])
def test_unknown_kernels_are_refused(got: object) -> None:
    with pytest.raises(
        hinge.InvalidParameterError, match="kernel must be one of 'chi2', 'laplacian'"
    ):
        get_kernel(got)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: RBF(-1.0), "gamma must not be negative; got -1.0"),
        (lambda: RBF("scal"), "Did you mean 'scale'"),
        (lambda: RBF(float("nan")), "gamma must be finite"),
        (lambda: RBF(True), "gamma must be a number"),
        (lambda: Laplacian(-1.0), "gamma must not be negative"),
        (lambda: ChiSquared(-1.0), "gamma must not be negative"),
        (lambda: ChiSquared("scale"), "gamma must be a number"),
        (lambda: Polynomial(degree=2.5), "degree must be an integer"),
        (lambda: Polynomial(degree=-1), "degree must be an integer of at least 0"),
        (lambda: Polynomial(coef0="1"), "coef0 must be a number"),
        (lambda: Sigmoid(coef0=float("inf")), "coef0 must be finite"),
        (lambda: Normalised("rbf"), "takes a kernel object; got 'rbf'"),
        (lambda: Normalised(Precomputed()), "normalise the matrix"),
        (lambda: CallableKernel("rbf"), "takes a function"),
        (lambda: Precomputed(psd="yes"), "psd must be True, False or None; got 'yes'"),
        (lambda: CallableKernel(max, psd=1), "psd must be True, False or None; got 1"),
    ],
)
def test_parameters_out_of_range_are_refused(make, match: str) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=match):
        make()


@pytest.mark.parametrize("rule", ["scale", "auto"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_is_that_of_scikit_learn(rule: str, sparse: bool, dtype: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = (5.0 + rng.normal(size=(300, 600)) * (rng.random((300, 600)) < 0.3)).astype(dtype)
    X = np.where(rng.random(X.shape) < 0.5, X, dtype(0))
    data = sp.csr_matrix(X) if sparse else X
    other = SVC(gamma=rule).fit(X[:20], np.tile([0, 1], 10))
    got = RBF(rule).resolved(Rows(data[:20]))
    assert got.gamma == pytest.approx(other._gamma, rel=1e-12)
    rows = Rows(data)
    assert rows.n_blocks > 1 or sparse
    wanted = 1 / 600 if rule == "auto" else 1 / (600 * X.astype(np.float64).var())
    for kernel in (RBF(rule), Polynomial(gamma=rule), Sigmoid(gamma=rule), Laplacian(rule)):
        assert kernel.resolved(rows).gamma == pytest.approx(wanted, rel=1e-12)
        assert kernel.gamma == rule


def test_gamma_of_constant_data_is_one() -> None:
    assert RBF().resolved(Rows(np.full((4, 3), 7.0))).gamma == 1.0
    assert RBF().resolved(Rows(np.full((4, 3), 0.1))).gamma == 1.0


def test_no_bit_of_gamma_depends_on_the_threads_of_BLAS() -> None:
    rows = Rows(np.random.default_rng(0).normal(size=(7291, 256)))
    found = set()
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.add(RBF().resolved(rows).gamma)
    assert len(found) == 1


def test_a_rule_needs_data_first() -> None:
    with pytest.raises(hinge.InvalidParameterError, match=r"gamma='scale' depends on the training"):
        RBF().block(np.eye(2), np.eye(2))


def test_rows_of_other_widths_have_no_kernel() -> None:
    with pytest.raises(hinge.InvalidDataError, match="rows of 2 and of 3 features"):
        Linear().block(np.eye(2), np.eye(3))
    with pytest.raises(hinge.InvalidDataError, match="shape"):
        Linear().block(np.ones(2), np.eye(2))


def test_chi_squared_takes_no_negative_values() -> None:
    X = np.ones((400, 500))
    X[350, 17] = -0.5
    for data in (X, sp.csr_array(X)):
        with pytest.raises(hinge.InvalidDataError, match=r"row 350 of X has -0.5"):
            ChiSquared().resolved(Rows(data))
    assert ChiSquared().resolved(Rows(np.abs(X))) == ChiSquared()


def test_chi_squared_of_zeros_is_nothing() -> None:
    values = ChiSquared(2.0).block(np.asarray([[0.0, 1.0]]), np.asarray([[0.0, 3.0], [0.0, 0.0]]))
    np.testing.assert_allclose(values, np.exp([[-2.0 * 4.0 / 4.0, -2.0]]))


def test_precomputed_matrices_are_square() -> None:
    with pytest.raises(hinge.InvalidDataError, match=r"must be square; X has shape \(3, 2\)"):
        Precomputed().resolved(Rows(np.ones((3, 2))))


@pytest.mark.parametrize("sparse", [False, True])
def test_precomputed_values_are_those_of_the_matrix(sparse: bool) -> None:
    rng = np.random.default_rng(0)
    K = rng.normal(size=(400, 400))
    K = K + K.T
    K[3, 5] += 0.03125
    rows = Rows(sp.csr_array(K) if sparse else K)
    kernel = Precomputed(psd=True).resolved(rows)
    ids = np.asarray([5, 0, 399])
    np.testing.assert_array_equal(kernel.block(rows.matrix, kernel.operand(rows, ids)), K[:, ids])
    np.testing.assert_array_equal(kernel.training_diagonal(rows), np.diag(K))
    np.testing.assert_array_equal(kernel.training_diagonal_above(rows), np.diag(K))
    relative, absolute = kernel.block_error(np.ones(2), 1.0, 1)
    assert (relative == 0.0).all()
    assert (absolute >= abs(K[3, 5] - K[5, 3])).all()
    with pytest.raises(hinge.InvalidDataError, match="by number"):
        kernel.block(K, K)
    with pytest.raises(hinge.UnsupportedError, match="no diagonal"):
        kernel.diagonal(K)


@pytest.mark.parametrize(
    ("function", "match"),
    [
        (lambda *_: np.ones(3), r"shape \(2, 3\) for that many rows; got dtype float64, shape"),
        (lambda *_: np.full((2, 3), "a"), "must return numbers"),
        (lambda *_: np.full((2, 3), np.nan), "NaN or infinity"),
    ],
)
def test_what_a_function_returns_is_checked(function, match: str) -> None:
    with pytest.raises(hinge.InvalidDataError, match=match):
        CallableKernel(function).block(np.ones((2, 4)), np.ones((3, 4)))


def test_a_function_gives_the_diagonal_in_small_blocks() -> None:
    sizes = []

    def function(A, B):
        sizes.append(A.shape[0])
        return A @ B.T

    X = np.random.default_rng(0).normal(size=(200, 3))
    np.testing.assert_allclose(CallableKernel(function).diagonal(X), (X * X).sum(axis=1))
    assert max(sizes) <= 64
    assert repr(CallableKernel(np.dot, psd=True)).startswith("CallableKernel(numpy.dot, psd=True")


def test_normalised_kernels_have_a_diagonal_of_ones() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    X[7] = 0.0
    kernel = Normalised(Normalised(Linear()))
    assert kernel == Normalised(Linear())
    values = kernel.block(X, X)
    np.testing.assert_allclose(np.diag(values), np.where(np.arange(30) == 7, 0.0, 1.0))
    assert (values[7] == 0.0).all()
    np.testing.assert_array_equal(kernel.diagonal(X), np.where(np.arange(30) == 7, 0.0, 1.0))
    resolved = Normalised(RBF()).resolved(Rows(X))
    assert resolved.kernel.gamma == RBF().resolved(Rows(X)).gamma
    with pytest.raises(hinge.InvalidDataError, match="only where that is not negative"):
        Normalised(Polynomial(1, 1.0, -5.0)).resolved(Rows(X))


@pytest.mark.parametrize(
    ("kernel", "psd"),
    [
        (Linear(), True),
        (RBF(0.5), True),
        (Laplacian(0.5), True),
        (ChiSquared(), True),
        (Polynomial(3, 0.5, 1.0), True),
        (Polynomial(3, 0.5, -1.0), None),
        (Polynomial(3, -0.5, 1.0), None),
        (Sigmoid(0.5, 0.0), False),
        (Normalised(Polynomial(2, 1.0, 0.0)), True),
        (Normalised(Sigmoid(1.0, 0.5)), False),
        (Precomputed(), None),
        (CallableKernel(max, psd=True), True),
    ],
    ids=repr,
)
def test_what_is_said_of_definiteness(kernel, psd: bool | None, seed: int) -> None:
    assert kernel.psd is psd
    if kernel.name in ("precomputed", "callable"):
        return
    X = np.abs(np.random.default_rng(seed).normal(size=(60, 3)))
    values = kernel.block(X, X)
    smallest = np.linalg.eigvalsh(values)[0] / np.max(np.abs(values))
    if psd is True:
        assert smallest > -1e-12
    if psd is False:
        assert smallest < -1e-3
