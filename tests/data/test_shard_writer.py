"""Writing shards: blocks that do not fit together, full disks, interruptions, bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.files import names_in

import hinge
import hinge.data
from hinge.data import Dataset

BLOCK = Dataset(np.eye(2), np.array([0, 1]))


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        ([], "there are no rows to write"),
        ([BLOCK, Dataset(sp.csr_array(np.eye(2)), BLOCK.y)], "a block is csr and the first is"),
        ([BLOCK, Dataset(np.eye(3)[:2], BLOCK.y)], "a block has 3 features and the first 2"),
        ([BLOCK, Dataset(np.eye(2), None)], "some blocks have labels and some have none"),
        ([Dataset(np.eye(2), None), BLOCK], "some blocks have labels and some have none"),
        ([Dataset(np.eye(2), np.array([0]))], "a block has 2 rows and 1 labels"),
        ([BLOCK, Dataset(np.eye(2), np.array(["a", "b"]))], "of one block are integer, of another"),
        ([Dataset(np.eye(2), [(1.0,), (1.0, 2.0)])], "one label for each row; these have several"),
        ([Dataset(np.eye(2), np.array([1, "a"], dtype=object))], "got labels of dtype object"),
        ([Dataset(np.eye(2), np.array([1, 2**64 - 1], np.uint64))], "got labels of dtype uint64"),
        ([Dataset(np.eye(2), np.array([1, np.nan]))], "the label of row 1 is not finite"),
        ([Dataset(np.eye(2), np.array(["a", ""]))], "'' cannot be a label: empty, or too long"),
        ([Dataset(np.eye(2), np.array(["a", "b" * 257]))], "cannot be a label: empty, or too long"),
        ([Dataset(np.array([[1, np.nan]]), None)], "line 1, column 2: the value is nan"),
        ([Dataset(np.eye(2, dtype="f4"), None), Dataset(np.eye(2), None)], "choose with dtype="),
        ([Dataset(np.zeros(3), None)], "Expected 2D array"),
        ([Dataset(np.eye(2), None, ("x" * (1 << 20), "b"))], "leave feature_names out"),
    ],
)
def test_blocks_that_do_not_fit(blocks: list[Dataset], said: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    path.write_text("old")
    with pytest.raises(hinge.DataFileError) as caught:
        hinge.data.write_shards(path, blocks)
    assert said in str(caught.value)
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["rows.hingedata"]


def test_too_many_labels(tmp_path: Path) -> None:
    labels = np.array([f"{number:0200}" for number in range(6000)])
    with pytest.raises(hinge.DataFileError, match="there are too many different labels"):
        hinge.data.write_shards(tmp_path / "rows", [Dataset(np.zeros((6000, 1)), labels)])


def test_an_interrupted_conversion_leaves_nothing(tmp_path: Path) -> None:
    def interrupted() -> Iterator[Dataset]:
        yield BLOCK
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hinge.data.write_shards(tmp_path / "rows", interrupted())
    assert names_in(tmp_path) == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError, match=r"cannot be written \(No such file.*check the"):
        hinge.data.write_shards(tmp_path / "missing" / "rows", [BLOCK])


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.hingedata"
    path.write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(hinge.DataFileError, match="No space left on device"):
        hinge.data.write_shards(path, [BLOCK])
    assert path.read_text() == "old"
    assert names_in(tmp_path) == ["rows.hingedata"]


def test_an_open_file_may_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    hinge.data.write_shards(path, [BLOCK])
    old = hinge.data.open_shards(path)
    hinge.data.write_shards(path, [Dataset(np.full((1, 1), 5.0), None)])
    np.testing.assert_array_equal(old.X, np.eye(2))
    np.testing.assert_array_equal(hinge.data.open_shards(path).X, [[5]])


def test_a_conversion_holds_a_block_at_a_time(tmp_path: Path) -> None:
    rows, width = 40_000, 100
    np.savez(tmp_path / "rows.npz", X=np.ones((rows, width)), y=np.arange(rows))
    tracemalloc.start()
    try:
        blocks = hinge.data.iter_blocks(tmp_path / "rows.npz", block_bytes=1 << 20)
        hinge.data.write_shards(tmp_path / "rows.hingedata", blocks)
        data = hinge.data.open_shards(tmp_path / "rows.hingedata", verify=True)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()
    assert data.X.nbytes == 32_000_000
    assert float(data.X.sum()) == rows * width


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_conversion_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.hingedata"
    hinge.data.write_shards(path, [BLOCK])
    script = """
        import itertools, sys
        import numpy as np
        from hinge.data import Dataset, write_shards

        def endless():
            for number in itertools.count():
                yield Dataset(np.ones((1000, 50)), np.zeros(1000))
                if number == 3:
                    print("writing", flush=True)
        write_shards(sys.argv[1], endless())
    """
    command = [sys.executable, "-c", textwrap.dedent(script), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"writing\n"
        process.kill()
    np.testing.assert_array_equal(hinge.data.open_shards(path, verify=True).X, np.eye(2))
    hinge.data.write_shards(path, [BLOCK])
    assert names_in(tmp_path) == ["rows.hingedata"]
