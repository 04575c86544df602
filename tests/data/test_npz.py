"""npz archives: the layouts that are read, and every contradiction that is refused."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from tests.data.files import same_bits

import hinge
import hinge.data


@pytest.fixture
def matrix() -> sp.csr_array:
    rng = np.random.default_rng(0)
    found = sp.random_array((50, 9), density=0.2, rng=rng, format="csr")
    found.data[:] = rng.standard_normal(found.nnz)
    return found


def _pieces(matrix: sp.csr_array, **changed) -> dict[str, np.ndarray]:
    return {
        "X_data": matrix.data,
        "X_indices": matrix.indices,
        "X_indptr": matrix.indptr,
        "X_shape": np.array(matrix.shape),
        **changed,
    }


def _assert_same(found: sp.csr_array, expected: sp.csr_array) -> None:
    assert found.shape == expected.shape
    assert same_bits(found.data, expected.data)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.indptr, expected.indptr)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_csr_pieces(matrix: sp.csr_array, index: type, save, tmp_path: Path) -> None:
    indices = {name: getattr(matrix, name[2:]).astype(index) for name in ("X_indices", "X_indptr")}
    save(tmp_path / "rows.npz", **_pieces(matrix, y=np.arange(50), **indices))
    data = hinge.data.read(tmp_path / "rows.npz")
    _assert_same(data.X, matrix)
    assert data.X.indices.dtype == data.X.indptr.dtype == index
    blocks = list(hinge.data.iter_blocks(tmp_path / "rows.npz", block_bytes=64))
    assert len(blocks) > 5
    _assert_same(sp.csr_array(sp.vstack([block.X for block in blocks])), matrix)
    assert np.concatenate([block.y for block in blocks]).tolist() == list(range(50))


@pytest.mark.parametrize("compressed", [True, False])
def test_archives_of_scipy(matrix: sp.csr_array, compressed: bool, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "rows.npz", matrix, compressed=compressed)
    data = hinge.data.read(tmp_path / "rows.npz")
    _assert_same(data.X, matrix)
    assert data.y is None
    assert data.notes == ("The rows are the CSR matrix in the archive; the labels are absent.",)


@pytest.mark.parametrize("form", ["csc", "coo", "dia"])
def test_other_formats_of_scipy(matrix: sp.csr_array, form: str, tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "rows.npz", matrix.asformat(form))
    with pytest.raises(hinge.DataFileError, match=r"save it as CSR|it needs 'X', or X_data"):
        hinge.data.read(tmp_path / "rows.npz")


def test_unsorted_entries_are_put_in_order(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "rows.npz",
        X_data=np.array([1.0, 2.0, 4.0]),
        X_indices=np.array([1, 0, 0]),
        X_indptr=np.array([0, 3]),
        X_shape=np.array([1, 2]),
    )
    assert hinge.data.read(tmp_path / "rows.npz").X.toarray().tolist() == [[6, 1]]


def test_sparse_rows_may_be_widened(matrix: sp.csr_array, tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", **_pieces(matrix))
    assert hinge.data.read(tmp_path / "rows.npz", n_features=20).X.shape == (50, 20)
    with pytest.raises(hinge.DataFileError, match="there are 9 features and n_features=8"):
        hinge.data.read(tmp_path / "rows.npz", n_features=8)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint64", ">f8", "bool"])
def test_types_become_what_training_takes(dtype: str, tmp_path: Path) -> None:
    X = np.array([[1, 0], [0, 1]]).astype(dtype)
    np.savez(tmp_path / "rows.npz", X=X)
    found = hinge.data.read(tmp_path / "rows.npz").X
    assert found.dtype == (np.float32 if np.can_cast(dtype, np.float32) else np.float64)
    np.testing.assert_array_equal(found, X.astype(float))


def test_columns_that_lie_one_after_another(tmp_path: Path) -> None:
    X = np.asfortranarray(np.arange(12.0).reshape(4, 3))
    np.savez(tmp_path / "rows.npz", X=X, y=np.arange(4))
    data = hinge.data.read(tmp_path / "rows.npz")
    np.testing.assert_array_equal(data.X, X)
    (block,) = hinge.data.iter_blocks(tmp_path / "rows.npz", block_bytes=8)
    np.testing.assert_array_equal(block.X, X)


def test_names_and_another_label(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(2), kind=["p", "q"], feature_names=["a", "b"])
    data = hinge.data.read(tmp_path / "rows.npz", label="kind")
    assert data.feature_names == ("a", "b")
    assert data.y.tolist() == ["p", "q"]
    assert data.notes == ("The rows are the dense array 'X'; the labels are the array 'kind'.",)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple:
            return os.mkdir, (str(tmp_path / "exploded"),)

    np.savez(tmp_path / "rows.npz", X=np.eye(1), y=np.array([Bomb()], dtype=object))
    with pytest.raises(hinge.DataFileError, match=r"'y' has type '\|O', .*never pickled objects"):
        hinge.data.read(tmp_path / "rows.npz")
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", pickle.dumps(Bomb()))
    with pytest.raises(hinge.DataFileError, match="this is not a sound npz archive"):
        hinge.data.read(tmp_path / "rows.npz")
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"Z": np.eye(2)}, "the archive has the arrays 'Z'; it needs 'X', or X_data"),
        ({"X": np.zeros(3)}, r"'X' has shape \(3,\); it must have two dimensions"),
        ({"X": np.zeros((0, 3))}, "there are no rows in the file"),
        ({"X": np.zeros((3, 0))}, "while a minimum of 1 is required"),
        ({"X": np.array([["a"]])}, "'X' has type '<U1', which it cannot have here"),
        ({"X": np.array([[1j]])}, "'X' has type '<c16'"),
        ({"X": np.zeros(2, dtype=[("a", "f8")])}, "'X' has type"),
        ({"X": np.eye(2), "y": np.zeros(3)}, r"the array 'y' has shape \(3,\); there are 2 rows"),
        ({"X": np.eye(2), "y": np.zeros((2, 1))}, r"the array 'y' has shape \(2, 1\)"),
        ({"X": np.eye(2), "y": [np.nan, 1]}, "the label is missing or not finite"),
        ({"X": np.eye(2), "y": ["", "a"]}, "the label is missing; drop the row"),
        ({"X": np.eye(2), "feature_names": ["a"]}, "'feature_names' has shape"),
        ({"X": np.array([[1, np.inf]])}, "the value is inf, and values must be finite"),
    ],
)
def test_arrays_that_do_not_fit(arrays: dict, said: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", **arrays)
    with pytest.raises(hinge.DataFileError, match=said):
        hinge.data.read(tmp_path / "rows.npz")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"X_shape": [50]}, r"the shape of the CSR matrix is \[50\]"),
        ({"X_shape": [-1, 9]}, r"the shape of the CSR matrix is \[-1, 9\]"),
        ({"X_shape": np.array([2, 2**64 - 1], np.uint64)}, "the shape of the CSR matrix is"),
        ({"X_shape": np.array([2**64 - 1, 2], np.uint64)}, "the shape of the CSR matrix is"),
        ({"X_shape": [51, 9]}, "row pointers; these must be equal"),
        ({"X_shape": [50, 2]}, "it must lie between 0 and 1"),
        ({"X_shape": [50.0, 9.0]}, "'X_shape' has type '<f8'"),
        ({"X_data": np.zeros((9, 9))}, "pieces of the CSR matrix have the shapes"),
        ({"X_data": np.zeros(7)}, "has 7 values"),
        ({"X_indices": np.zeros(90)}, "'X_indices' has type '<f8'"),
        ({"X_indptr": np.full(51, 3)}, "row pointer 0 of the CSR matrix is 3"),
        ({"X_indptr": np.arange(51)[::-1] - 50}, "row pointer 0 of the CSR matrix is 0|decrease"),
        ({"X_indptr": np.r_[0, 5, 2, np.full(48, 90)]}, "row pointer 2 of the CSR matrix is 2"),
        ({"X_indptr": np.r_[0, np.full(50, 2**62)]}, "row pointer 1 of the CSR matrix is 46116"),
        ({"X_indptr": np.r_[0, np.full(50, 7)]}, "83 values of the CSR matrix belong to no row"),
    ],
)
def test_csr_pieces_that_do_not_fit(
    changed: dict, said: str, matrix: sp.csr_array, tmp_path: Path
) -> None:
    assert matrix.nnz == 90
    np.savez(tmp_path / "rows.npz", **_pieces(matrix, **changed))
    if "decrease" in said:
        changed = {"X_indptr": np.r_[0, 9, 8, np.full(48, 90)]}
        said = "row pointer 2 of the CSR matrix is 8"
        np.savez(tmp_path / "rows.npz", **_pieces(matrix, **changed))
    for block_bytes in (64, 1 << 20):
        with pytest.raises(hinge.DataFileError, match=said):
            list(hinge.data.iter_blocks(tmp_path / "rows.npz", block_bytes=block_bytes))


@pytest.mark.parametrize(("label", "said"), [("kind", "names no array"), (0, "is a number")])
def test_labels_that_are_not_there(label: str | int, said: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(2))
    with pytest.raises(hinge.InvalidParameterError, match=said):
        hinge.data.read(tmp_path / "rows.npz", label=label)


def _array_bytes(shape: str, data: bytes = b"") -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + data


@pytest.mark.parametrize(
    "member",
    [
        _array_bytes("(1000000000000, 1000000)"),
        _array_bytes("(-1, -8)", bytes(64)),
        _array_bytes("(2, 2)", bytes(31)),
        _array_bytes("(2, 2)", bytes(33)),
        _array_bytes("(2, True)", bytes(16)),
        _array_bytes("(9999999999999999999999999, 1)"),
        _array_bytes("(" * 3000),
        b"\x93NUMPY\x03\x00" + bytes(20),
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
        b"",
    ],
)
def test_headers_that_lie(member: bytes, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", member)
    with pytest.raises(hinge.DataFileError):
        hinge.data.read(tmp_path / "rows.npz")


def test_an_archive_may_not_claim_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez_compressed(path, X=np.zeros((1000, 1000)))
    assert path.stat().st_size < 20_000
    with pytest.raises(hinge.DataFileError, match="8,000,000 bytes, more than the 1,000,000"):
        hinge.data.read(path, memory_limit=1_000_000)
    assert hinge.data.read(path).X.shape == (1000, 1000)


def test_a_size_that_no_compression_reaches(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=np.eye(3))
    raw = bytearray(buffer.getvalue())
    central = raw.rindex(b"PK\x01\x02")
    raw[central + 24 : central + 28] = (2**31).to_bytes(4, "little")
    (tmp_path / "rows.npz").write_bytes(raw)
    with pytest.raises(hinge.DataFileError, match="'X' claims 2,147,483,648 bytes in"):
        hinge.data.read(tmp_path / "rows.npz")


def test_members_of_the_same_name(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.eye(2))
    with zipfile.ZipFile(tmp_path / "rows.npz", "w") as archive:
        archive.writestr("X.npy", buffer.getvalue())
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("X.npy", buffer.getvalue())
    with pytest.raises(hinge.DataFileError, match="two members of the archive have the same name"):
        hinge.data.read(tmp_path / "rows.npz")


def test_a_compression_that_numpy_does_not_write(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "rows.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", _array_bytes("(1, 1)", bytes(8)))
    with pytest.raises(hinge.DataFileError, match="compressed by a method that NumPy does not"):
        hinge.data.read(tmp_path / "rows.npz")


def test_a_damaged_value_is_found_by_its_checksum(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.full((2, 2), 1.5))
    raw = (tmp_path / "rows.npz").read_bytes()
    place = raw.index(np.float64(1.5).tobytes())
    (tmp_path / "rows.npz").write_bytes(raw[:place] + b"\x01" + raw[place + 1 :])
    with pytest.raises(hinge.DataFileError, match="Bad CRC-32"):
        hinge.data.read(tmp_path / "rows.npz")


def test_characters_that_do_not_exist(tmp_path: Path) -> None:
    np.savez(tmp_path / "rows.npz", X=np.eye(1), y=np.array([0x110000], "<u4").view("<U1"))
    with pytest.raises(hinge.DataFileError, match="holds characters that do not exist"):
        hinge.data.read(tmp_path / "rows.npz")
