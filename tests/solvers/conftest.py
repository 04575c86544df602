"""What tests of solvers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hinge.threads import single_threaded_blas


@pytest.fixture(autouse=True)
def _one_thread_of_blas() -> Iterator[None]:
    """Step solvers as the driver does: BLAS threads that wait for each other take minutes."""
    with single_threaded_blas():
        yield
