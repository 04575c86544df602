"""What pairs of classes that are solved together may take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.estimators.data import three_classes

from hinge import SVC
from hinge.multiclass.pair_memory import ROWS_TOGETHER, PairMemory


def test_a_large_cache_limits_nothing() -> None:
    memory = PairMemory(200.0, 10.0)
    assert memory.most_rows == ROWS_TOGETHER
    assert memory.support_bytes(100_000) == 2**26
    assert memory.kernel_bytes(10_000, 100_000) == 190.0 * 2**20
    assert memory.keeps(50.0 * 2**20, 100_000)
    assert not memory.keeps(190.0 * 2**20, 100_000)


def test_certificates_of_a_small_cache_are_of_fewer_rows() -> None:
    memory = PairMemory(20.0, 2.0)
    assert 20_000 < memory.most_rows < 50_000
    assert memory.support_bytes(memory.most_rows) < 1000.0
    assert memory.kernel_bytes(10_000, 40_000) < 18.0 * 2**20
    assert PairMemory(1000.0, 1200.0).most_rows == 0


@pytest.mark.parametrize("cache_mb", [20, 200])
def test_kernel_rows_that_make_way_change_no_bit(
    cache_mb: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = three_classes()
    given: dict[str, Any] = {"C": 3.0, "gamma": 0.4, "probability": True, "cache_size": cache_mb}
    with pytest.warns(FutureWarning):
        expected = SVC(**given).fit(X, y)
    monkeypatch.setattr(PairMemory, "keeps", lambda *_: False)
    with pytest.warns(FutureWarning):
        found = SVC(**given).fit(X, y)
    for name in ("dual_coef_", "intercept_", "probA_", "probB_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.mark.parametrize(("cache_mb", "are_found"), [(20, True), (200, False)])
def test_a_small_cache_keeps_no_scores_for_regions(cache_mb: int, are_found: bool) -> None:
    X, y = three_classes()
    model = SVC(C=3.0, gamma=0.4, cache_size=cache_mb).fit(X, y)
    for certificate in model.certificates_:
        region: Any = certificate.region
        assert (region.measured._find is None) == are_found
