"""Files as the reader meets them: compressed, cut off, damaged, absent, changed."""

from __future__ import annotations

import bz2
import functools
import gzip
import lzma
import os
import subprocess
import sys
import threading
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
import zstandard

from hinge.data import (
    compressed,
    iter_libsvm,
    libsvm_pieces,
    read_libsvm,
    read_libsvm_dataset,
    write_libsvm,
)
from hinge.data.growing import GrowingArray
from hinge.errors import DataFileError, MissingDependencyError

TEXT = b"".join(b"%d 1:%d.5 7:0.25\n" % (k % 3, k) for k in range(5000))

COMPRESS = {
    "gzip": gzip.compress,
    "bzip2": functools.partial(bz2.compress, compresslevel=1),
    "xz": functools.partial(lzma.compress, preset=0),
    "zstd": zstandard.ZstdCompressor().compress,
}


def write(folder: Path, content: bytes, name: str = "rows.svm") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def assert_same(got: sp.csr_array, want: sp.csr_array) -> None:
    assert got.data.tobytes() == want.data.tobytes()
    assert got.indices.tolist() == want.indices.tolist()
    assert got.indptr.tolist() == want.indptr.tolist()


@pytest.fixture(autouse=True)
def any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let n_jobs be the number of threads, also where there are fewer cores."""
    monkeypatch.setattr("hinge.data.libsvm.thread_count", lambda n_jobs: n_jobs or 1)


@pytest.mark.parametrize("kind", COMPRESS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_compressed_files_are_recognised(tmp_path: Path, kind: str, n_jobs: int) -> None:
    want, labels = read_libsvm(write(tmp_path, TEXT))
    half = len(TEXT) // 2
    for content in (
        COMPRESS[kind](TEXT),
        COMPRESS[kind](TEXT[:half]) + COMPRESS[kind](TEXT[half:]),
    ):
        dataset = read_libsvm_dataset(write(tmp_path, content, "packed"), n_jobs=n_jobs)
        assert_same(dataset.X, want)
        np.testing.assert_array_equal(dataset.y, labels)
        assert dataset.notes[0] == f"The file is compressed with {kind}."


@pytest.mark.parametrize("kind", COMPRESS)
def test_every_cut_of_a_compressed_file_is_refused(tmp_path: Path, kind: str) -> None:
    whole = COMPRESS[kind](TEXT[:2000])
    for length in range(len(compressed.MAGIC[kind]), len(whole), 7):
        path = write(tmp_path, whole[:length])
        with pytest.raises(DataFileError, match="the compressed data end too early"):
            read_libsvm(path)


@pytest.mark.parametrize("kind", COMPRESS)
def test_damaged_compression_is_refused(tmp_path: Path, kind: str, seed: int) -> None:
    if kind == "zstd":
        whole = zstandard.ZstdCompressor(write_checksum=True).compress(TEXT)
    else:
        whole = COMPRESS[kind](TEXT)
    draw = np.random.default_rng(seed)
    for place in draw.integers(12, len(whole) - 1, 20).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(draw.integers(8))
        # Either the checks of the format see it, or the text is no longer what it should be.
        with pytest.raises(DataFileError):
            read_libsvm(write(tmp_path, bytes(damaged)))


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "zstd"])
def test_rubbish_behind_a_compressed_file_is_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(DataFileError, match="compressed data are damaged"):
        read_libsvm(write(tmp_path, COMPRESS[kind](TEXT) + b"rubbish and more of it"))


def test_xz_padding_is_no_rubbish(tmp_path: Path) -> None:
    content = lzma.compress(TEXT) + b"\0" * 8 + lzma.compress(b"1 1:1\n") + b"\0" * 4
    assert read_libsvm(write(tmp_path, content))[0].shape == (5001, 7)


def test_bombs_take_no_memory(tmp_path: Path) -> None:
    """48 MB of blank lines, from small files, are read in half of that, and a long row in 4 N."""
    text = b"1 1:1\n" + b"\n" * (48 * 2**20)
    bombs = [write(tmp_path, pack(text), kind) for kind, pack in COMPRESS.items()]
    assert max(bomb.stat().st_size for bomb in bombs) < 2**17
    script = (
        "import bz2, gzip, lzma, resource, sys, zstandard\n"
        "from hinge.data import read_libsvm\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for path in sys.argv[1:]:\n"
        "    X, y = read_libsvm(path)\n"
        "    assert X.shape == (1, 1)\n"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "X, y = read_libsvm('long row')\n"
        "print(after - before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - after, X.nnz)\n"
    )
    pairs = b" ".join(b"%d:1" % k for k in range(1, 2_000_001))
    long_row = write(tmp_path, b"1 " + pairs + b"\n", "long row")
    command = [sys.executable, "-c", script, *map(str, bombs)]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    by_bombs, by_long_row, stored = map(int, run.stdout.split())
    unit = 1 if sys.platform == "darwin" else 1024
    assert by_bombs * unit < 24 * 2**20
    assert stored == 2_000_000
    assert by_long_row * unit < 4 * long_row.stat().st_size + 64 * 2**20


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_writing_compresses_as_the_name_says(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"rows.svm{ending}"
    X = np.arange(12.0).reshape(4, 3)
    write_libsvm(path, X, [0, 1, 2, 3])
    dataset = read_libsvm_dataset(path)
    assert dataset.X.toarray().tolist() == X.tolist()
    assert compressed.kind_of(path.read_bytes()) == compressed.COMPRESSED_ENDINGS[ending]
    first = path.read_bytes()
    write_libsvm(path, X, [0, 1, 2, 3])
    assert path.read_bytes() == first


def test_without_the_package_zstd_says_what_to_install(tmp_path: Path) -> None:
    path = write(tmp_path, COMPRESS["zstd"](TEXT))
    with (
        mock.patch.dict(sys.modules, {"zstandard": None}),
        pytest.raises(MissingDependencyError, match=r"pip install 'hinge\[io\]'"),
    ):
        read_libsvm(path)


def test_absent_folder_and_forbidden(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="there is no such file"):
        read_libsvm(tmp_path / "absent")
    with pytest.raises(DataFileError, match="this is a folder; name one file in it"):
        read_libsvm(tmp_path)
    path = write(tmp_path, TEXT)
    denied = PermissionError(13, "Permission denied")
    with (
        mock.patch.object(Path, "open", side_effect=denied),
        pytest.raises(DataFileError, match=r"cannot be read \(Permission denied\); check its name"),
    ):
        read_libsvm(path)


def test_a_failing_disk_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    failure = OSError(5, "Input/output error")
    with (
        mock.patch.object(libsvm_pieces.LineBlocks, "_read", side_effect=failure),
        pytest.raises(DataFileError, match=r"cannot be read \(Input/output error\)"),
    ):
        read_libsvm(path)


def test_a_file_that_changes_under_the_reader_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    parts = iter_libsvm(path, n_features=7, zero_based=False, chunk_bytes=1000)
    next(parts)
    path.write_bytes(TEXT[:5000])
    with pytest.raises(DataFileError, match=r"(changed while it was being read|not of the form)"):
        list(parts)


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(DataFileError, match="cannot be read twice; pass n_features and zero_based"):
        list(iter_libsvm(pipe))
    writer = threading.Thread(target=pipe.write_bytes, args=(TEXT,))
    writer.start()
    parts = list(iter_libsvm(pipe, n_features=7, zero_based=False, chunk_bytes=10_000))
    writer.join()
    assert sum(part.X.shape[0] for part in parts) == 5000
    assert len(parts) > 5


@pytest.mark.parametrize("block_bytes", [1, 100, 4096])
def test_the_result_does_not_depend_on_threads(tmp_path: Path, block_bytes: int) -> None:
    text = TEXT[:6000].rsplit(b"\n", 1)[0]
    path = write(tmp_path, text)
    want, labels = read_libsvm(path)
    with mock.patch.object(libsvm_pieces.TextFile.__init__, "__defaults__", (block_bytes, None)):
        for n_jobs in (1, 2, 3, 8):
            X, y = read_libsvm(path, n_jobs=n_jobs)
            assert_same(X, want)
            assert y.tolist() == labels.tolist()


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_the_first_fault_is_the_one_reported(tmp_path: Path, n_jobs: int) -> None:
    lines = [b"1 1:1"] * 3000
    lines[1234] = b"1 1:nan"
    lines[1300] = b"1 0x:1"
    content = gzip.compress(b"\n".join(lines))[:-20]  # and the compressed data end too early
    path = write(tmp_path, content)
    with (
        mock.patch.object(libsvm_pieces.TextFile.__init__, "__defaults__", (64, None)),
        pytest.raises(DataFileError, match="nan") as caught,
    ):
        read_libsvm(path, n_jobs=n_jobs)
    assert (caught.value.line, caught.value.column) == (1235, 5)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cut_off_stream_is_refused_after_its_rows(tmp_path: Path, n_jobs: int) -> None:
    path = write(tmp_path, gzip.compress(TEXT)[:-9])
    with pytest.raises(DataFileError, match="end too early"):
        read_libsvm(path, n_jobs=n_jobs)


def reader_threads() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("hinge-reader")]


def test_stopping_early_ends_the_threads(tmp_path: Path) -> None:
    parts = iter_libsvm(write(tmp_path, TEXT), chunk_bytes=100, n_jobs=2)
    assert next(parts).X.shape[0] > 0
    assert next(parts).X.shape[0] > 0
    assert reader_threads()
    parts.close()
    assert reader_threads() == []


def test_an_error_that_is_kept_keeps_no_threads(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT + b"1 1:x\n" + TEXT)
    with pytest.raises(DataFileError) as kept:
        list(iter_libsvm(path, n_features=7, zero_based=False, chunk_bytes=100, n_jobs=2))
    assert reader_threads() == []
    assert kept.value.line == 5001


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_the_reading(tmp_path: Path, n_jobs: int) -> None:
    path = write(tmp_path, TEXT)
    with (
        mock.patch.object(GrowingArray, "append", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        read_libsvm(path, n_jobs=n_jobs)
    assert reader_threads() == []


def test_parts_are_bounded(tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    parts = list(iter_libsvm(path, chunk_bytes=2000, dtype=np.float32))
    assert {part.X.shape[1] for part in parts} == {7}
    assert max(part.X.shape[0] for part in parts) <= 2000 // len(b"0 1:0.5 7:0.25\n") + 1
    assert parts[0].X.dtype == np.float32
    assert parts[0].notes == ("Indices are counted from one: the file has no index 0.",)
    assert parts[0].source == str(path)


def test_an_array_grows() -> None:
    array = GrowingArray(np.int64)
    array.append(np.array([1, 2]), factor=1.5)
    array.append(np.array([3]), added=10)
    array.append(np.arange(100))
    assert len(array) == 103
    assert array.finish().tolist() == [1, 2, 13, *range(100)]
