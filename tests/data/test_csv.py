"""CSV: layout, header, labels, and an error with line and column for everything else."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import hinge
import hinge.data


def _read(folder: Path, text: str | bytes, name: str = "rows.csv", **options) -> hinge.data.Dataset:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return hinge.data.read(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,c\n1,2,7\n3,4,8\n",
        "a,b,c\r\n1,2,7\r\n3,4,8\r\n",
        "a,b,c\r1,2,7\r3,4,8\r",
        "a,b,c\n1,2,7\n3,4,8",
        "\n\na,b,c\n1,2,7\n\n3,4,8\n\n",
        "\ufeffa,b,c\n1,2,7\n3,4,8\n",
        "a;b;c\n1;2;7\n3;4;8\n",
        "a\tb\tc\n1\t2\t7\n3\t4\t8\n",
        "a, b, c\n 1, 2, 7\n3 ,4 ,8 \n",
        '"a","b","c"\n"1","2","7"\n3,4,8\n',
        "a,b,c\n+1,2.,7\n3e0,.4e1,8\n",
    ],
)
def test_layouts_of_the_same_table(text: str, tmp_path: Path) -> None:
    data = _read(tmp_path, text)
    np.testing.assert_array_equal(data.X, [[1, 2], [3, 4]])
    assert data.y.tolist() == [7, 8]
    assert data.feature_names == ("a", "b")


def test_without_a_header(tmp_path: Path) -> None:
    data = _read(tmp_path, "1,2,x\n3,4,y\n")
    assert data.feature_names is None
    assert data.y.tolist() == ["x", "y"]
    assert data.notes[0].endswith("line 1 is data: it has no names of columns.")
    assert data.notes[1].startswith("The labels are the last column, number 3: no column is named")


def test_the_header_is_stated(tmp_path: Path) -> None:
    data = _read(tmp_path, "\na;Target;c\n1;2;3\n")
    assert data.notes == (
        "The cells are separated by semicolons; line 2 is a header with names.",
        "The labels are column 2 ('Target').",
    )
    assert data.y.tolist() == [2]


def test_a_header_can_be_stated(tmp_path: Path) -> None:
    assert _read(tmp_path, "1,2\n3,4\n", header=True).feature_names == ("1",)
    with pytest.raises(hinge.DataFileError, match="'a' in feature column number 1 is not a number"):
        _read(tmp_path, "a,b\n3,4\n", header=False)


def test_columns_that_are_numbered(tmp_path: Path) -> None:
    text = "0,1,2\n5,6,7\n"
    with pytest.raises(hinge.DataFileError, match=r"may be a header or data\. Pass header=True or"):
        _read(tmp_path, text)
    assert _read(tmp_path, text, header=True).X.tolist() == [[5, 6]]
    assert _read(tmp_path, text, header=False).X.tolist() == [[0, 1], [5, 6]]
    # With a name of the label among them there is no doubt.
    assert _read(tmp_path, "0,1,label\n5,6,7\n").X.tolist() == [[5, 6]]
    assert _read(tmp_path, "0,1,kind\n5,6,7\n", label="kind").X.tolist() == [[5, 6]]


@pytest.mark.parametrize(
    ("header", "label"), [("y,label,class", 1), ("y,x,Class", 2), ("a,y,b", 1), ("a,b,c", 2)]
)
def test_the_default_label(header: str, label: int, tmp_path: Path) -> None:
    assert _read(tmp_path, f"{header}\n0,1,2\n").y.tolist() == [label]


@pytest.mark.parametrize(("label", "found"), [("b", 1), (0, 0), (-1, 2), (-3, 0), (2, 2)])
def test_a_label_that_is_chosen(label: str | int, found: int, tmp_path: Path) -> None:
    assert _read(tmp_path, "a,b,c\n0,1,2\n", label=label).y.tolist() == [found]


@pytest.mark.parametrize(
    ("text", "label", "said"),
    [
        ("a,b\n1,2\n", "c", "label='c' names no column of .*; its columns are 'a', 'b'"),
        ("1,2\n", "c", "has no line of names; pass the number of the column"),
        ("a,b\n1,2\n", 2, "label=2 names no column of .*, which has 2: counted from 0"),
        ("a,b\n1,2\n", -3, "label=-3 names no column"),
    ],
)
def test_a_label_that_is_not_there(text: str, label: str | int, said: str, tmp_path: Path) -> None:
    with pytest.raises(hinge.InvalidParameterError, match=said):
        _read(tmp_path, text, label=label)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["1", "-2", "9007199254740993"], np.int64),
        (["1", "2.5", "1e3"], np.float64),
        (["1", "b", "2.5"], np.str_),
        (["true", "false", "NA"], np.str_),
        (["18446744073709551616", "18446744073709551617"], np.str_),
        (["9007199254740993", "9007199254740992", "0.5"], np.str_),
        (["0.1", "0.10000000000000001"], np.str_),
        (["1e-400", "0"], np.str_),
        (["1e-99999999999999999999999", "0"], np.str_),
        (["007", "7"], np.str_),
        (["0x7", "7"], np.str_),
        (["0.30000000000000004", "-0.1", ".5", "5.", "1E3"], np.float64),
        (["1", "1.0"], np.float64),
        (["9007199254740992", "0.5"], np.float64),
    ],
)
def test_kinds_of_labels(labels: list[str], kind: type, tmp_path: Path) -> None:
    rows = "".join(f"0,{label}\n" for label in labels * 700)
    data = _read(tmp_path, rows)
    expected = np.array([kind(label) for label in labels * 700])
    assert data.y.dtype.kind == np.dtype(kind).kind
    assert data.y.tolist() == expected.tolist()
    blocks = list(hinge.data.iter_blocks(tmp_path / "rows.csv", block_bytes=1))
    assert len(blocks) > 1
    assert np.concatenate([block.y for block in blocks]).tolist() == expected.tolist()


def test_a_late_text_makes_all_labels_text(tmp_path: Path) -> None:
    text = "0,1\n" * 5000 + "0,other\n"
    data = _read(tmp_path, text)
    first = next(hinge.data.iter_blocks(tmp_path / "rows.csv", block_bytes=1))
    assert data.y[[0, -1]].tolist() == ["1", "other"]
    assert first.y[0] == "1"


def test_an_index_column_is_left_out_and_said(tmp_path: Path) -> None:
    data = _read(tmp_path, ",a,label\n0,5,1\n1,6,2\n")
    assert data.X.tolist() == [[5], [6]]
    assert "Column 1 ('') holds the row index" in data.notes[1]


def test_names_that_repeat(tmp_path: Path) -> None:
    assert _read(tmp_path, "a,a,label\n1,2,3\n").X.tolist() == [[1, 2]]
    with pytest.raises(hinge.DataFileError, match="2 columns are named 'a'; choose one by its"):
        _read(tmp_path, "a,a,label\n1,2,3\n", label="a")
    with pytest.raises(hinge.DataFileError, match=r"could be the label \('Label', 'label'\)"):
        _read(tmp_path, "Label,label\n1,2\n")


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("a,b,c\n1,2,0\n\n3,x,1\n", 4, 2, "'x' in feature column 'b' is not a number"),
        ("1,2,0\n3,x,1\n", 2, 2, "'x' in feature column number 2 is not a number"),
        ("a,b\n1_000,1\n", 2, 1, "'1_000' in feature column 'a' is not a number"),
        ("a;b\n1,5;1\n", 2, 1, "'1,5' in feature column 'a' is not a number; .*with a point"),
        ("a,b\n" + "x" * 90 + ",1\n", 2, 1, r"'x{40}\.\.\.' in feature"),
        ("a,b,c\n1,2,0\n\n3,,1\n", 4, 2, "column 'b' has no value here"),
        ("a,b,c\n1,2,0\n3,NA,1\n", 3, 2, "column 'b' has no value here"),
        ("a,b,c\n1,2,0\n3,inf,1\n", 3, 2, "column 'b' has inf here"),
        ("a,b,c\n1,2,0\n3,1e400,1\n", 3, 2, "column 'b' has inf here"),
        ("a,b,c\n1,2,0\n3,4\n", 3, None, "there are 2 cells, where the first line has 3"),
        ("a,b,c\n1,2,0\n3,4,5,6\n", 3, None, "there are 4 cells, where the first line has 3"),
        ("a,b,c\n1,2,\n", 2, 3, "the label in column 'c' is missing"),
        ("a,b,c\n1,2,x\n1,2,\n", 3, 3, "the label in column 'c' is missing"),
        ('a,"b', 1, None, "the first line cannot be split into cells"),
        ("a,b\n1," + "x" * 300 + "\n", 2, 2, "has 300 characters; the limit is 256"),
        ("0,1\n1,a\0\n", 2, None, "there is a NUL byte"),
        (b"\xe9,b\n1,2\n", 1, None, "the text is not UTF-8"),
        (b"a,b\n1,\xe9\n", None, None, "the text cannot be read as a table: .*UTF8"),
        (b"\xff\xfea\0,\0b\0", None, None, "encoded as UTF-16; save it as UTF-8"),
        ("a,b\n", None, None, "there are names of columns and no rows"),
        ("\n\n \n", None, None, "nothing but blank lines"),
        ("a\n1\n", None, None, "there is no column besides the label"),
        ("a,b\n1," + "7" * (1 << 16) + "\n", 2, 2, "the label in column 'b' is .*not finite"),
    ],
)
def test_what_is_wrong_and_where(
    text: str | bytes, line: int | None, column: int | None, said: str, tmp_path: Path
) -> None:
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        _read(tmp_path, text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.path == str(tmp_path / "rows.csv")


def test_a_row_with_line_ends_in_quotes_counts_its_lines(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError) as caught:
        _read(tmp_path, 'a,b\n1,"two\nlines"\nx,2\n')
    assert (caught.value.line, caught.value.column) == (4, 1)


def test_a_line_that_is_longer_than_a_block(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("a,b\n1,2\n1," + "x" * 20_000 + "\n")
    said = r"this line is longer than the 4,096 bytes of text .* or pass block_bytes=2097152"
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        list(hinge.data.iter_blocks(path, block_bytes=1))
    assert caught.value.line == 3


def test_too_many_columns(tmp_path: Path) -> None:
    with pytest.raises(hinge.DataFileError, match="at most 100,000 are read; store data this wide"):
        _read(tmp_path, "," * 200_000 + "\n")


def test_a_wide_first_line_is_read_whole(tmp_path: Path) -> None:
    width = 30_000
    names = ",".join(f"f{number}" for number in range(width))
    values = ",".join(str(number) for number in range(width))
    data = _read(tmp_path, f"{names}\n{values}\n{values}\n")
    assert data.X.shape == (2, width - 1)
    assert data.feature_names[-1] == f"f{width - 2}"


@pytest.mark.parametrize("before", ["\n", "\n \r\n", "\ufeff\n", "\r\r"])
@pytest.mark.parametrize("width", [30_000, 13_101])
def test_a_wide_first_line_behind_blank_lines(before: str, width: int, tmp_path: Path) -> None:
    names = ",".join(f"f{number}" for number in range(width))
    values = ",".join("1" for _ in range(width))
    assert len(names) > 1 << 16
    data = _read(tmp_path, f"{before}{names}\n{values}\n{values}\n")
    assert data.X.shape == (2, width - 1)
    assert data.feature_names[-1] == f"f{width - 2}"


@pytest.mark.parametrize("cells", [9, 10, 11])
def test_a_first_line_that_ends_where_the_head_does(cells: int, tmp_path: Path) -> None:
    name = "n" * ((1 << 16) // 10)
    data = _read(tmp_path, ",".join([name] * cells + ["label"]) + "\n" + "1," * cells + "2\n")
    assert data.X.shape == (1, cells)


def test_an_open_quote_is_found(tmp_path: Path) -> None:
    text = 'a,b\n1,2\n1,"2\n' + "1,2\n" * 600_000
    said = "longer than the 1,048,576 bytes .* close a quote .* store data this wide as npz"
    with pytest.raises(hinge.DataFileError, match=said) as caught:
        _read(tmp_path, text)
    assert caught.value.line == 3


def test_a_compressed_file_may_not_fill_the_memory(tmp_path: Path) -> None:
    text = b"1,2\n" * (1 << 20)
    packed = gzip.compress(text)
    assert len(text) > 20 * len(packed)
    data = _read(tmp_path, packed, "rows.csv.gz", memory_limit=4 * len(text))
    assert data.X.shape == (1 << 20, 1)
    with pytest.raises(hinge.DataFileError, match=r"would take .* pass a larger memory_limit"):
        _read(tmp_path, packed, "rows.csv.gz", memory_limit=1 << 20)
    assert (
        sum(len(block.X) for block in hinge.data.iter_blocks(tmp_path / "rows.csv.gz")) == 1 << 20
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_do_not_change_the_rows(n_jobs: int, tmp_path: Path) -> None:
    X = np.random.default_rng(0).standard_normal((500, 3))
    text = "\n".join(",".join(map(repr, row)) for row in X.tolist())
    np.testing.assert_array_equal(_read(tmp_path, text, label=False, n_jobs=n_jobs).X, X)
