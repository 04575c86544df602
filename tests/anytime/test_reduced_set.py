"""Points of a reduced set: true gradients, no worse than rows, and labels that do not change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.machines import random_machine

import hinge
from hinge.anytime.functions import Functions
from hinge.anytime.reduced_set import _Search, reduced_points
from hinge.errors import InvalidParameterError, UnsupportedError
from hinge.kernels import RBF, Kernel, Laplacian, Linear, Normalised, Polynomial
from hinge.kernels.slopes import slope_of
from hinge.machines import Machine
from hinge.rows import Rows

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(0.3),
    "linear": Linear(),
    "poly": Polynomial(3, 0.2, 1.0),
    "normalised": Normalised(Polynomial(2, 1.0, 1.0)),
}


@pytest.mark.parametrize("name", KERNELS)
def test_slopes_are_those_of_the_kernel(name: str) -> None:
    kernel, rng = KERNELS[name], np.random.default_rng(1)
    slope = slope_of(kernel)
    A, z, v = rng.normal(size=(9, 4)), rng.normal(size=4), rng.normal(size=9)
    values = slope.values(A, z)
    np.testing.assert_allclose(values, kernel.block(A, z[None])[:, 0], rtol=1e-12)
    np.testing.assert_allclose(slope.squares(A), kernel.diagonal(A), rtol=1e-12)
    own, own_slope = slope.own(z)
    assert own == pytest.approx(kernel.diagonal(z[None])[0], rel=1e-12)
    steps = 1e-6 * np.eye(4)
    moved = [(v @ slope.values(A, z + h) - v @ slope.values(A, z - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(slope.turned(A, z, values, v), moved, atol=1e-6)
    moved = [(slope.own(z + h)[0] - slope.own(z - h)[0]) / 2e-6 for h in steps]
    np.testing.assert_allclose(own_slope, moved, atol=1e-6)


@pytest.mark.parametrize("name", KERNELS)
def test_the_gradient_of_the_cost(name: str) -> None:
    machine, X = random_machine(KERNELS[name], seed=3, n=50, outputs=3)
    search = _Search(Functions.of(machine), slope_of(machine.kernel))
    for z in X[:3]:
        moved = [
            (search.cost(z + h)[0] - search.cost(z - h)[0]) / 2e-6 for h in 1e-6 * np.eye(len(z))
        ]
        np.testing.assert_allclose(search.cost(z)[1], moved, atol=1e-6)
        assert search.add()


@pytest.mark.parametrize("name", ["rbf", "poly", "normalised"])
def test_the_first_point_leaves_less_than_any_row_does(name: str) -> None:
    machine, _ = random_machine(KERNELS[name], seed=5)
    functions = Functions.of(machine)
    search = _Search(functions, slope_of(machine.kernel))
    rows = np.array([search.cost(row)[0] for row in np.asarray(functions.terms.matrix)])
    point = reduced_points(functions, 1)
    assert search.cost(np.asarray(point.matrix)[0])[0] < rows.min() - 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_stay_and_the_points_are_used(dtype: type, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 5)).astype(dtype)
    y = X[:, 0] + X[:, 1] * X[:, 2] > 0.2
    kernel = Normalised(Polynomial(2, 1.0, 1.0))
    model = hinge.SVC(kernel=kernel, C=1.0).fit(X, y)
    new = rng.normal(size=(500, 5)).astype(dtype)
    fast = hinge.accelerate(model, queries=new[:100], reduced_set=12)
    np.testing.assert_array_equal(fast.predict(new), model.predict(new))
    basis = np.asarray(fast.parts.embedding.basis.matrix)
    assert basis.dtype == dtype
    rows = {row.tobytes() for row in X}
    assert sum(point.tobytes() not in rows for point in basis) > 5
    hinge.save(fast, tmp_path / "fast")
    np.testing.assert_array_equal(hinge.load(tmp_path / "fast").predict(new), model.predict(new))


def test_what_has_no_gradient_is_refused() -> None:
    machine = Machine(RBF(0.5), Rows(sp.csr_array(np.eye(6))), np.ones((6, 1)), np.zeros(1))
    with pytest.raises(UnsupportedError, match=r"needs dense support .* over sparse rows\."):
        reduced_points(Functions.of(machine), 3)
    assert slope_of(Laplacian(1.0)) is None
    with pytest.raises(InvalidParameterError, match="reduced_set"):
        hinge.accelerate((np.eye(3), np.ones(3), 0.0, "rbf"), reduced_set=-1)
