"""Whatever stands in a LIBLINEAR file, it is a valid model or an error that says where."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fuzz.liblinear_text.campaign import REGRESSIONS, campaign, judged
from hypothesis import given
from hypothesis import strategies as st
from tests.models.liblinear_files import BINARY, THREE

from hinge.errors import ModelFileError
from hinge.models import liblinear_reader, read_liblinear


def refusal(content: str | bytes, folder: Path) -> str:
    """Return why a file is refused, without its path."""
    path = folder / "model.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelFileError) as caught:
        read_liblinear(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


HEADERS = [
    ("", "", ", line 1, column 1: this is no LIBLINEAR text model: it is empty or begins with an"),
    ("solver_type", "svm_type", ", line 1, column 1: this is a LIBSVM model, whose kernel"),
    ("solver_type", "<html>", ", line 1, column 1: this is no LIBLINEAR text model: it should"),
    ("L2R_L2LOSS_SVC_DUAL", "MCSVM_CS", ", line 1, column 13: solver_type MCSVM_CS is a machine"),
    ("L2R_L2LOSS_SVC_DUAL", "L2R_LR", ", line 1, column 13: solver_type L2R_LR is logistic"),
    ("L2R_L2LOSS_SVC_DUAL", "L1R_L2LOSS_SVC", "L1R_L2LOSS_SVC is a machine with an l1 penalty"),
    ("L2R_L2LOSS_SVC_DUAL", "L2R_L2LOSS_SVR", "L2R_L2LOSS_SVR is a regression, which hinge"),
    ("L2R_L2LOSS_SVC_DUAL", "ONECLASS_SVM", "ONECLASS_SVM is a one-class machine"),
    ("L2R_L2LOSS_SVC_DUAL", "L3R", ", line 1, column 13: solver_type must be one of L2R_L2LOSS"),
    ("nr_class 2", "nr_class -1", ", line 2, column 10: nr_class must be a whole number of at"),
    ("nr_class 2", "nr_class 1", ", line 2, column 10: nr_class must be 2 to 65536; got 1."),
    ("nr_class 2", "nr_class 65537", "nr_class must be 2 to 65536; got 65537."),
    ("nr_class 2", "nr_class 3", ", line 3, column 7: nr_class is 3, but here are 2 labels."),
    ("nr_class 2", "nr_class 9" + "9" * 18, "a whole number of at most 18 digits"),
    ("nr_class 2", "nr_class 2\nnr_class 2", ", line 3, column 1: nr_class stands here again; "),
    ("nr_class 2\n", "", "line 5: the line nr_class is missing before w"),
    ("label -1 1", "label 1 1", ", line 3, column 9: label 1 stands here twice."),
    ("label -1 1", "label -1 1.5", ", line 3, column 10: a label must be a whole number of 32"),
    ("label -1 1", "label -1 2147483648", "a whole number of 32 bits; got '2147483648'"),
    ("label -1 1\n", "", "the line label is missing before w"),
    ("nr_feature 3", "nr_feature 0", ", line 4, column 12: nr_feature must be at least 1"),
    ("nr_feature 3", "nr_feature -3", ", line 4, column 12: nr_feature must be a whole number"),
    ("nr_feature 3", "nr_feature 1_0", "nr_feature must be a whole number"),
    ("nr_feature 3", "nr_feature 999999999999999999", ", line 6: the header asks for 1000000000"),
    ("nr_feature 3", "nr_feature 4", ", line 10: 4 lines of weights; the header asks for 5."),
    ("nr_feature 3", "nr_feature 2", ", line 10: more weights than the 3 lines that the header"),
    ("bias 2", "bias nan", ", line 5, column 6: bias must be a finite decimal number; got 'nan'"),
    ("bias 2", "bias 1e999", "bias must be a finite decimal number; got '1e999'"),
    ("bias 2", "bias 1e308", ": bias times its weight is beyond the range"),
    ("bias 2", "rho 2", ", line 5, column 1: expected one of solver_type, nr_class, label"),
    ("w\n", "w" * 2**21, ", line 6: a line of more than 1048576 bytes"),
    ("w\n", "v\n", ", line 6, column 1: expected one of solver_type"),
]


@pytest.mark.parametrize(("old", "new", "message"), HEADERS)
def test_a_wrong_header(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = BINARY.replace(old, new, 1) if old else "\n"
    text = text.replace("0.5 \n", "9 \n") if "1e308" in new else text
    assert message in refusal(text, tmp_path)


WEIGHTS = [
    ("-1e-3", "nan", ", line 8, column 1: a weight must be a finite decimal number; got 'nan'."),
    ("-1e-3", "-inf", "a weight must be a finite decimal number; got '-inf'."),
    ("-1e-3", "1e999", "a weight must be a finite decimal number; got '1e999'."),
    ("-1e-3", "1_0", "a weight must be a finite decimal number; got '1_0'."),
    ("-1e-3", "0x10", "a weight must be a finite decimal number; got '0x10'."),
    ("-1e-3", "1e", "a weight must be a finite decimal number; got '1e'."),
    ("-1e-3", "1\0", r"a weight must be a finite decimal number; got '1\\x00'."),
    ("-1e-3", "1\v2", r"a weight must be a finite decimal number; got '1\\x0b2'."),
    ("-1e-3", "٣", ", line 8, column 1: a weight must be a finite decimal number"),
    ("-1e-3", "0" * 65, "a weight must be a finite decimal number; got '0000000000000000000"),
    ("-1e-3 ", "", ", line 8, column 1: 0 number(s); every line of weights has 1."),
    ("-1e-3 ", "1 2", ", line 8, column 4: 2 number(s); every line of weights has 1."),
    ("0.25 \n-1e-3 ", "0.25 1 \n", ", line 7, column 8: 2 number(s); every line"),
    ("0.5 \n", "0.5", ", line 10, column 4: the last line does not end; the file may be cut off"),
    ("0.5 \n", "0.5 \n\n", ", line 11, column 1: 0 number(s); every line of weights has 1."),
    ("-1e-3 ", " " * 65 + "1", ", line 8, column 66: a line of more than 65 bytes; 1 weight(s)"),
    ("0.5 \n", "0" * 2**19, ", line 10: a line of more than 65 bytes; 1 weight(s) are shorter."),
]


@pytest.mark.parametrize(("old", "new", "message"), WEIGHTS)
def test_wrong_weights(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert message.replace("\\\\", "\\") in refusal(BINARY.replace(old, new, 1), tmp_path)


@pytest.mark.parametrize("text", [BINARY, THREE])
def test_every_truncation_is_refused(text: str, tmp_path: Path) -> None:
    content = text.encode()
    for length in range(len(content)):
        refusal(content[:length], tmp_path)


def test_a_cut_in_the_header_says_so(tmp_path: Path) -> None:
    message = ", line 4: the file ends before its weights; it may be cut off."
    assert refusal(BINARY[: BINARY.index("feature 3")], tmp_path) == message


def test_a_place_far_into_the_file_is_counted_right(tmp_path: Path) -> None:
    lines = ["0.5 \n"] * 200_000
    lines[123_456] = "0.5x \n"
    text = BINARY.split("w\n")[0].replace("nr_feature 3", "nr_feature 199999") + "w\n"
    assert refusal(text + "".join(lines), tmp_path).startswith(", line 123463, column 1: a weight")


@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    refusal(content, folder)
    refusal(BINARY.encode() + content + b"\x00", folder)


@pytest.mark.parametrize("file", sorted(REGRESSIONS.iterdir()), ids=lambda file: file.name)
def test_what_has_broken_a_reader_before(file: Path, tmp_path: Path) -> None:
    assert judged(file.read_bytes(), tmp_path / "model.txt") == "refused"


def test_damaged_files_are_refused_or_valid(seed: int) -> None:
    outcome = campaign(2000, seed)
    assert outcome.failures == []
    assert outcome.counts["refused"] > 1000
    assert outcome.counts["accepted, other"] > 50  # the valid ones are checked too


def test_it_does_not_matter_where_pieces_end(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    whole = campaign(200, seed)
    for size in (1, 7, 30):
        monkeypatch.setattr(liblinear_reader, "_PIECE", size)
        in_pieces = campaign(200, seed)
        assert in_pieces.failures == []
        assert in_pieces.counts == whole.counts


@pytest.mark.parametrize("digits", [b"1\n", b"0.12345678901234567 \n"])
def test_memory_is_bounded_by_the_size_of_the_file(digits: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    count = 1_000_000
    header = BINARY.split("label")[0] + f"label 1 2\nnr_feature {count}\nbias -1\nw\n"
    path.write_bytes(header.encode() + digits * count)
    assert _peak(path) <= 4 * path.stat().st_size + 2**25


def test_many_classes_stay_within_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    labels = " ".join(map(str, range(65_536, 0, -1)))
    header = f"solver_type L2R_L2LOSS_SVC\nnr_class 65536\nlabel {labels}\nnr_feature 1\nbias -1\n"
    path.write_text(f"{header}w\n{'7 ' * 65_536}\n")
    assert _peak(path) <= 4 * path.stat().st_size + 2**26


def _peak(path: Path) -> int:
    """Return the most memory that reading takes."""
    tracemalloc.start()
    try:
        model = read_liblinear(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        del model
