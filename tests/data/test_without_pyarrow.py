"""Without the extra packages the message says what to install, and the rest still works."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.data.files import TABLE_WRITERS, example

import hinge
import hinge.data


@pytest.mark.parametrize("ending", TABLE_WRITERS)
def test_tables_need_pyarrow(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"rows{ending}"
    TABLE_WRITERS[ending](path, *example())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        hinge.MissingDependencyError, match=r"needs pyarrow: pip install 'hinge\[io\]'"
    ):
        hinge.data.read(path)


def test_archives_and_shards_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    np.savez(tmp_path / "rows.npz", X=np.eye(2), y=[0, 1])
    data = hinge.data.read(tmp_path / "rows.npz")
    hinge.data.write_shards(tmp_path / "rows.hingedata", [data])
    assert hinge.data.read(tmp_path / "rows.hingedata").y.tolist() == [0, 1]
