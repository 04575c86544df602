"""The full evaluation over packed support vectors has the machine's own bits."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.anytime.machines import KERNELS, random_machine

from hinge.anytime.full import full_values
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Sides
from hinge.machines import Machine, alike
from hinge.rows import Rows


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("outputs", [1, 3])
def test_packed_support_vectors_give_the_same_bits(
    name: str, is_sparse: bool, outputs: int
) -> None:
    machine, X = random_machine(KERNELS[name], seed=len(name), outputs=outputs, n=150)
    like = Rows(sp.csr_array(X)) if is_sparse else Rows(X)
    machine = Machine(
        machine.kernel, alike(machine.support, like), machine.coefficients, machine.intercept
    )
    functions = Functions.of(machine)
    sides = Sides(functions)
    for rows in (like, like.take(np.arange(1)), like.take(np.arange(3, 40))):
        np.testing.assert_array_equal(full_values(functions, sides, rows), machine.values(rows))


def test_memory_is_not_packed_beyond_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    machine, X = random_machine(KERNELS["rbf"], seed=1)
    monkeypatch.setattr("hinge.anytime.full._BYTES", 0)
    functions = Functions.of(machine)
    rows = Rows(X)
    np.testing.assert_array_equal(
        full_values(functions, Sides(functions), rows), machine.values(rows)
    )
