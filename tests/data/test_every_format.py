"""What holds for every format: written and read back bit by bit, whole and in blocks."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.data.files import WRITERS, dense, example, same_bits, write_csv

import hinge
import hinge.data

COMPRESSORS = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def _joined(blocks: list[hinge.data.Dataset]) -> tuple[np.ndarray, np.ndarray]:
    rows = np.concatenate([dense(block.X) for block in blocks])
    return rows, np.concatenate([block.y for block in blocks])


@pytest.mark.parametrize("ending", WRITERS)
def test_what_was_written_is_read_back(ending: str, tmp_path: Path) -> None:
    X, y = example()
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, y)
    data = hinge.data.read(path)
    assert same_bits(data.X, X)
    assert data.y.tolist() == y.tolist()
    assert data.source == str(path)
    if "npz" not in ending:
        assert data.feature_names == ("f0", "f1", "f2", "f3")


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("block_bytes", [1, 100, 1 << 20])
def test_blocks_put_together_are_the_whole(ending: str, block_bytes: int, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    X, y = (np.repeat(part, 20, axis=0) for part in example())
    WRITERS[ending](path, X, y)
    blocks = list(hinge.data.iter_blocks(path, block_bytes=block_bytes))
    assert len(blocks) > 1 or block_bytes > 100
    rows, labels = _joined(blocks)
    whole = hinge.data.read(path)
    assert same_bits(rows, whole.X)
    assert labels.tolist() == whole.y.tolist()
    assert {(block.feature_names, block.source, block.notes) for block in blocks} == {
        (whole.feature_names, whole.source, whole.notes)
    }


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_csv(ending: str, tmp_path: Path) -> None:
    X, y = example()
    plain, packed = tmp_path / "rows.csv", tmp_path / f"rows.csv{ending}"
    write_csv(plain, X, y)
    packed.write_bytes(COMPRESSORS[ending](plain.read_bytes()))
    assert same_bits(hinge.data.read(packed).X, X)
    rows, labels = _joined(list(hinge.data.iter_blocks(packed, block_bytes=100)))
    assert same_bits(rows, X)
    assert labels.tolist() == y.tolist()


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_compressed_csv_that_is_cut_short(ending: str, tmp_path: Path) -> None:
    X, y = example()
    path = tmp_path / f"rows.csv{ending}"
    write_csv(tmp_path / "rows.csv", X, y)
    packed = COMPRESSORS[ending]((tmp_path / "rows.csv").read_bytes())
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(hinge.DataFileError, match=r"compressed data"):
        hinge.data.read(path)


FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)
LABELS = st.one_of(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)
    ),
    st.lists(st.integers(-(2**63), 2**63 - 1)),
    st.lists(FINITE),
)


@pytest.mark.parametrize("ending", WRITERS)
@settings(max_examples=25)
@given(data=st.data())
def test_any_finite_rows_and_labels(
    ending: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    labels = np.array(data.draw(LABELS.filter(len)))
    X = data.draw(hnp.arrays(float, (len(labels), data.draw(st.integers(1, 5))), elements=FINITE))
    path = tmp_path_factory.mktemp("any") / f"rows{ending}"
    WRITERS[ending](path, X, labels)
    read = hinge.data.read(path)
    assert same_bits(read.X, X)
    rows, streamed = _joined(list(hinge.data.iter_blocks(path, block_bytes=64)))
    assert same_bits(rows, X)
    assert streamed.tolist() == read.y.tolist()
    if ending == ".csv" and labels.dtype.kind == "U":
        return  # text that looks like numbers is read as numbers, and line ends may change
    assert read.y.tolist() == labels.tolist()


@pytest.mark.parametrize("ending", WRITERS)
def test_training_gives_the_bits_of_the_array(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 4)), rng.integers(0, 3, 60)
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, y)
    data = hinge.data.read(path)
    one, other = (hinge.LinearSVC().fit(*pair) for pair in ((X, y), (data.X, data.y)))
    assert same_bits(one.coef_, other.coef_)
    assert same_bits(one.classes_, other.classes_)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_type_can_be_asked_for(ending: str, tmp_path: Path) -> None:
    X = np.array([[1.5, 1e-3], [2.0, 4.0]])
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, np.array([0, 1]))
    assert same_bits(hinge.data.read(path, dtype="float32").X, X.astype(np.float32))
    WRITERS[ending](path, X * 1e300, np.array([0, 1]))
    with pytest.raises(hinge.DataFileError, match="too large for float32") as caught:
        hinge.data.read(path, dtype=np.float32)
    assert caught.value.column == 1


@pytest.mark.parametrize("ending", WRITERS)
def test_the_number_of_features_is_checked(ending: str, tmp_path: Path) -> None:
    X, y = example()
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, y)
    assert hinge.data.read(path, n_features=4).X.shape == X.shape
    with pytest.raises(hinge.DataFileError, match="n_features=5"):
        hinge.data.read(path, n_features=5)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize(("bad", "said"), [(np.nan, "nan|NaN|no value"), (np.inf, "inf")])
def test_values_that_are_not_finite_are_located(
    ending: str, bad: float, said: str, tmp_path: Path
) -> None:
    X, y = example()
    X[40, 2] = bad
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, y)
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        hinge.data.read(path)
    assert (caught.value.line, caught.value.column) == (42 if ending == ".csv" else 41, 3)
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        list(hinge.data.iter_blocks(path, block_bytes=100))
    assert (caught.value.line, caught.value.column) == (42 if ending == ".csv" else 41, 3)


@pytest.mark.parametrize("ending", WRITERS)
def test_labels_that_are_not_finite_are_located(ending: str, tmp_path: Path) -> None:
    X, _ = example()
    y = np.arange(60) / 2
    y[50] = np.nan
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, y)
    with pytest.raises(hinge.DataFileError, match=r"label .*is missing or not finite") as caught:
        hinge.data.read(path)
    assert caught.value.line == (52 if ending == ".csv" else 51)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_without_labels(ending: str, tmp_path: Path) -> None:
    X, _ = example()
    path = tmp_path / f"rows{ending}"
    WRITERS[ending](path, X, np.arange(60))
    data = hinge.data.read(path, label=False)
    assert data.y is None
    # Every column of a table is then a feature; an archive has an array of its own for labels.
    assert data.X.shape[1] == (4 if "npz" in ending else 5)
    assert all(block.y is None for block in hinge.data.iter_blocks(path, label=False))
