"""Passes over all rows: one vector for both pieces of a loss, and sums that are used again."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge.bounds import passes as module
from hinge.bounds.passes import Passes, Sums
from hinge.bounds.pieces import get_pieces
from hinge.losses import Huber
from hinge.rows import Rows

_PIECES = get_pieces(Huber(0.5))


def _data(dtype: type) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    X = (rng.normal(size=(300, 37)) * (rng.random((300, 37)) < 0.4)).astype(dtype)
    signs = np.where(rng.random(300) < 0.3, 1, -1).astype(np.int8)
    return X, signs, rng.normal(size=37) * 0.3


@pytest.mark.parametrize("storage", ["csr", "dense"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_one_vector_takes_the_rows_of_both_pieces(
    storage: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over several pieces of rows, and in sums that an earlier pass has filled."""
    monkeypatch.setattr(module, "CHUNK_VALUES", 1000)
    monkeypatch.setattr(module, "_DENSE_SUMS", 1)
    X, signs, w = _data(dtype)
    rows = Rows(sp.csr_array(X) if storage == "csr" else X)
    pass_over, margins = Passes(rows, signs, np.ones(1)), np.empty(300)
    assert pass_over.chunk < rows.n_rows
    apart = pass_over.all_rows(w, 0.1, _PIECES, margins)
    used = Sums.empty(rows.n_features, in_one=True)
    pass_over.all_rows(-w, 0.0, _PIECES, margins, used)
    joined = pass_over.all_rows(w, 0.1, _PIECES, margins, used)
    assert joined is used
    assert joined.curved is joined.linear
    slopes = Huber(0.5).subgradient(signs * (X.astype(np.float64) @ w + 0.1))
    expected = X.T.astype(np.float64) @ (-signs * slopes)
    assert np.linalg.norm(apart.linear) > 1.0 < np.linalg.norm(apart.curved)
    np.testing.assert_allclose(joined.linear, expected, rtol=0.0, atol=1e-12 * 300)
    np.testing.assert_allclose(apart.linear + apart.curved, expected, rtol=0.0, atol=1e-12 * 300)
    np.testing.assert_allclose(joined.numbers, apart.numbers, rtol=1e-14)
