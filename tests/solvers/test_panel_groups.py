"""Panels in the groups that native calls take: all of them once, and none too many at a time."""

from __future__ import annotations

import pytest

from hinge.solvers.linear import block_pass
from hinge.solvers.linear.block_pass import groups_of


@pytest.mark.parametrize("threads", [1, 2, 16])
@pytest.mark.parametrize("width", [1, 1000, 10**7])
@pytest.mark.parametrize("work", [1, 10**5, 10**9])
def test_every_panel_is_in_one_group(threads: int, width: int, work: int) -> None:
    panels = range(7, 300)
    groups = list(groups_of(panels, width, work, threads))
    assert [number for group in groups for number in group] == list(panels)
    most = max(map(len, groups))
    assert most <= max(threads, block_pass._SUMS_A_CALL // width)
    assert most <= max(threads, 4 * block_pass._VALUES_A_CALL // work)
    assert most >= min(threads, len(panels))
