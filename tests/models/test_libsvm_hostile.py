"""Whatever stands in a LIBSVM model, it is a valid machine or an error that says where."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest
from fuzz.libsvm_model.campaign import REGRESSIONS, campaign, judged
from hypothesis import given
from hypothesis import strategies as st
from tests.models.libsvm_files import BINARY, PRECOMPUTED, THREE

from hinge.errors import ModelFileError
from hinge.models import libsvm_model_vectors, read_libsvm


def refusal(content: str | bytes, folder: Path) -> str:
    """Return why a file is refused, without its path."""
    path = folder / "model.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ModelFileError) as caught:
        read_libsvm(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


HEADERS = [
    ("", "", ", line 1, column 1: this is no LIBSVM text model: it is empty or begins with an"),
    ("svm_type c_svc", "solver_type L2R", ", line 1, column 1: this is a LIBLINEAR model; hinge."),
    ("svm_type", "<html>", ", line 1, column 1: this is no LIBSVM text model: it should begin"),
    ("c_svc", "one_class", ", line 1, column 10: svm_type one_class is a one-class machine; only"),
    ("c_svc", "epsilon_svr", "svm_type epsilon_svr is a regression; only c_svc or nu_svc can be"),
    ("c_svc", "nu_svr", "svm_type nu_svr is a regression"),
    ("c_svc", "d_svc", ", line 1, column 10: svm_type must be c_svc or nu_svc; got 'd_svc'."),
    ("rbf", "cubic", ", line 2, column 13: kernel_type must be one of linear, polynomial, rbf"),
    ("rbf", "polynomial", ", line 2, column 13: a polynomial kernel needs the line degree."),
    ("rbf", "linear", ", line 3, column 7: a linear kernel has no gamma."),
    ("gamma 0.5", "gamma nan", ", line 3, column 7: gamma must be a finite decimal number; got"),
    ("gamma 0.5", "gamma -1", ", line 3, column 7: gamma of an rbf kernel must not be negative"),
    ("gamma 0.5", "gamma 1e999", "gamma must be a finite decimal number; got '1e999'."),
    ("gamma 0.5\n", "", ", line 2, column 13: a rbf kernel needs the line gamma."),
    ("gamma 0.5", "gamma 0.5\ngamma 0.5", ", line 4, column 1: gamma stands here again; line 3"),
    ("gamma 0.5", "gamma 0.5\ncoef0 1", ", line 4, column 7: a rbf kernel has no coef0."),
    ("gamma 0.5", "rho 1\ngamma 0.5", ", line 3, column 1: rho stands before nr_class, which"),
    ("gamma 0.5", "label 1 2\ngamma 0.5", ", line 3, column 1: label stands before nr_class"),
    ("nr_class 2", "nr_class -1", ", line 4, column 10: nr_class must be a whole number of at"),
    ("nr_class 2", "nr_class 1", ", line 4, column 10: nr_class must be 2 to 65536; got 1."),
    ("nr_class 2", "nr_class 65536", ", line 4, column 10: nr_class 65536 asks for 2147450880"),
    ("nr_class 2", "nr_class 3", ", line 7, column 7: nr_class is 3, but here are 2 number(s)."),
    ("nr_class 2\n", "", ", line 5, column 1: rho stands before nr_class"),
    ("total_sv 3", "total_sv 4", ", line 8, column 7: nr_sv adds up to 3 support vectors; total"),
    ("total_sv 3", "total_sv x", ", line 5, column 10: total_sv must be a whole number of at"),
    ("total_sv 3\n", "", ", line 8: the line total_sv is missing before SV; the header needs it."),
    ("rho 0.25", "rho", ", line 6, column 5: nr_class is 2, which makes 1 pair(s) of classes, but"),
    ("rho 0.25", "rho 1 2", "here are 2 number(s)."),
    ("rho 0.25", "rho inf", ", line 6, column 5: rho must be finite decimal numbers; got 'inf'."),
    ("rho 0.25\n", "", "the line rho is missing before SV"),
    ("label -1 1", "label 1 1", ", line 7, column 9: label 1 stands here twice."),
    ("label -1 1", "label -1 1.5", ", line 7, column 10: a label must be a whole number of 32"),
    ("label -1 1", "label -1 2147483648", "a whole number of 32 bits; got '2147483648'"),
    ("label -1 1", "label 1 2 3", "nr_class is 2, but here are more number(s)."),
    ("label -1 1", "label -1 1\nprobA -1", ", line 8, column 7: probA and probB come together"),
    ("label -1 1", "label -1 1\nprobA 1\nprobB nan", ", line 9, column 7: probB must be finite"),
    ("label -1 1", "label -1 1\nprob_density_marks 1", "a classifier has no prob_density_marks."),
    ("nr_sv 2 1", "nr_sv 2 -1", ", line 8, column 9: nr_sv must be whole numbers of at most 18"),
    ("nr_sv 2 1", "nr_sv 1 2", ", line 11: the coefficient of this support vector of class 1 "),
    ("nr_sv 2 1\n", "", "the line nr_sv is missing before SV"),
    ("SV\n", "SW\n", ", line 9, column 1: expected one of svm_type, kernel_type, degree"),
    ("SV\n", "S" * 2**19, ", line 9: a line of more than 321 bytes; this is no model."),
]


@pytest.mark.parametrize(("old", "new", "message"), HEADERS)
def test_a_wrong_header(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = BINARY.replace(old, new, 1) if old else "\n"
    assert message in refusal(text, tmp_path)


def test_a_machine_without_support_vectors(tmp_path: Path) -> None:
    text = BINARY.split("SV\n")[0].replace("total_sv 3", "total_sv 0").replace("2 1\n", "0 0\n")
    assert "a machine needs at least one support vector; got 0." in refusal(text + "SV\n", tmp_path)


VECTORS = [
    ("0.25 2", "nan 2", ", line 11, column 1: 1 coefficient(s) come first, finite decimal numbers"),
    ("0.25 2", "1e999 2", "1 coefficient(s) come first, finite decimal numbers; got '1e999'."),
    ("0.25 2", "1:1 2", "1 coefficient(s) come first, finite decimal numbers; got '1:1'."),
    ("0.25 2", "0.25 7 2", ", line 11, column 6: a feature must be index:value with a finite"),
    ("2:1e-3", "2:inf", "a feature must be index:value with a finite decimal number; got '2:inf'."),
    ("2:1e-3", "2:", "a feature must be index:value with a finite decimal number; got '2:'."),
    ("2:1e-3", ":2", "a feature must be index:value with a finite decimal number; got ':2'."),
    ("2:1e-3", "1:2:3", "a feature must be index:value with a finite decimal number; got '1:2:3'."),
    ("2:1e-3", "-2:1", "a feature must be index:value with a finite decimal number; got '-2:1'."),
    ("2:1e-3", "2.0:1", "a feature must be index:value with a finite decimal number; got '2.0:1'."),
    ("2:1e-3", "2147483647:1", ", line 11, column 6: an index must be below 2147483647; got"),
    ("2:1e-3", "99999999999:1", "a feature must be index:value with a finite decimal number"),
    ("2:1e-3", "2:1_0", "a feature must be index:value with a finite decimal number; got '2:1_0'."),
    ("2:1e-3", "2:" + "0" * 65, "a feature must be index:value with a finite decimal number; got"),
    ("2:1e-3", "2:1\0", "a feature must be index:value with a finite decimal number"),
    ("2:1e-3", "2:1\v", "a feature must be index:value with a finite decimal number"),
    ("1:0.25 3:-1", "3:1 1:1", ", line 10, column 9: indices must rise; 1 follows 3."),
    ("1:0.25 3:-1", "1:1 1:1", ", line 10, column 9: indices must rise; 1 follows 1."),
    ("0.25 2:1e-3 \n", "\n", ", line 11, column 1: 0 coefficient(s); every support vector has 1."),
    ("0.25 2:1e-3 \n", "", ", line 11: 2 support vectors; the header asks for 3."),
    ("3:4 \n", "3:4 \n\n", ", line 13: more support vectors than the 3 of the header."),
    ("3:4 \n", "3:4 \n1 1:1\n", ", line 13: more support vectors than the 3 of the header."),
    ("3:4 \n", "3:4", ", line 12: the last line does not end; the file may be cut off in a"),
    ("-0.75", "0.75", ", line 12: the coefficient of this support vector of class 1 against class"),
    ("3:4 \n", "3:" + "1" * 2**19 + "\n", ", line 12, column 15: a feature must be index:value"),
]


@pytest.mark.parametrize(("old", "new", "message"), VECTORS)
def test_wrong_support_vectors(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(BINARY.replace(old, new, 1), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0:3", "0:1", "a training row stands here as two support vectors."),
        ("0:3", "0:0", "a precomputed kernel has 0: and the number of a training row, counted"),
        ("0:3", "0:2.5", "a precomputed kernel has 0: and the number of a training row"),
        ("0:3", "", "a precomputed kernel has 0: and the number of a training row"),
        ("0:3", "1:3", ", line 9, column 3: a precomputed kernel has 0:number and nothing else"),
        ("0:3", "0:3 1:1", ", line 9, column 7: a precomputed kernel has 0:number and nothing"),
        ("0:3", "0:1e300", "a precomputed kernel has 0: and the number of a training row"),
    ],
)
def test_wrong_numbers_of_training_rows(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(PRECOMPUTED.replace(old, new, 1), tmp_path)


@pytest.mark.parametrize("text", [BINARY, THREE, PRECOMPUTED])
def test_every_truncation_is_refused(text: str, tmp_path: Path) -> None:
    content = text.encode()
    for length in range(len(content)):
        refusal(content[:length], tmp_path)


def test_a_place_far_into_the_file_is_counted_right(tmp_path: Path) -> None:
    count = 40_000
    lines = ["0.5 1:1 2:1 \n"] * count
    lines[-1] = "-0.5 1:1 \n"
    lines[34_567] = "0.5 1:1 2:x \n"
    text = BINARY.split("SV\n")[0].replace("total_sv 3", f"total_sv {count}")
    text = text.replace("nr_sv 2 1", f"nr_sv {count - 1} 1")
    assert refusal(text + "SV\n" + "".join(lines), tmp_path).startswith(", line 34577, column 9: ")


@given(st.binary(max_size=200))
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("any")
    refusal(content, folder)
    refusal(BINARY.encode() + content + b"\x00", folder)


@pytest.mark.parametrize("file", sorted(REGRESSIONS.iterdir()), ids=lambda file: file.name)
def test_what_has_broken_a_reader_before(file: Path, tmp_path: Path) -> None:
    assert judged(file.read_bytes(), tmp_path / "model.txt") == "refused"


def test_damaged_files_are_refused_or_valid(seed: int) -> None:
    outcome = campaign(1000, seed)
    assert outcome.failures == []
    assert outcome.counts["refused"] > 500
    assert outcome.counts["accepted, other"] > 20  # the valid ones are checked too


def test_it_does_not_matter_where_pieces_end(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    whole = campaign(200, seed)
    for size in (1, 7, 30):
        monkeypatch.setattr(libsvm_model_vectors, "_PIECE", size)
        in_pieces = campaign(200, seed)
        assert in_pieces.failures == []
        assert in_pieces.counts == whole.counts


@pytest.mark.parametrize("end", ["", " 1:1 2:1", " 1:0.12345678 7:1.5"])
@pytest.mark.parametrize("labels", ["-1 1", "1 -1"])
def test_memory_is_bounded_by_the_size_of_the_file(end: str, labels: str, tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    count = 300_000
    header = BINARY.split("SV\n")[0].replace("total_sv 3", f"total_sv {count}")
    header = header.replace("nr_sv 2 1", f"nr_sv {count // 2} {count // 2}")
    header = header.replace("label -1 1", f"label {labels}")
    half = count // 2
    path.write_text(f"{header}SV\n" + f"1{end}\n" * half + f"-1{end}\n" * half)
    assert _peak(path) <= 4 * path.stat().st_size + 2**25


def test_lines_that_would_take_more_memory_than_the_file_are_refused(tmp_path: Path) -> None:
    count = 2_500_000
    header = BINARY.split("SV\n")[0].replace("total_sv 3", f"total_sv {count}")
    header = header.replace("nr_sv 2 1", f"nr_sv {count} 0")
    tracemalloc.start()
    try:
        message = refusal(f"{header}SV\n" + "1\n" * count, tmp_path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "2500000 support vectors would take 80000000 bytes, too many for the 5000000" in message
    assert peak <= 4 * 2 * count + 2**25


def test_a_squared_norm_that_overflows_is_refused(tmp_path: Path) -> None:
    text = THREE.replace("-10 30 2:1 ", "-10 30 2:1e200 ")
    message = refusal(text, tmp_path)
    assert message.startswith(", line 10: the squared norm of this support vector overflows")


def test_one_long_support_vector_stays_within_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "model.txt"
    features = " ".join(f"{k}:1" for k in range(1, 1_000_000))
    header = BINARY.split("SV\n")[0].replace("total_sv 3", "total_sv 2").replace("2 1\n", "1 1\n")
    path.write_text(f"{header}SV\n1 {features}\n-1 1:1\n")
    assert _peak(path) <= 4 * path.stat().st_size + 2**25


def test_pairs_that_would_take_more_memory_than_the_file_are_refused(tmp_path: Path) -> None:
    count = 1000
    rho = "1 " * (count * (count - 1) // 2)
    labels = " ".join(map(str, range(count)))
    text = (
        f"svm_type c_svc\nkernel_type linear\nnr_class {count}\ntotal_sv 1\nrho {rho}\n"
        f"label {labels}\nnr_sv 1 {'0 ' * (count - 1)}\nSV\n{'1 ' * (count - 1)}1:1\n"
    )
    assert "1000 classes make 499500 pairs, too many for" in refusal(text, tmp_path)


def _peak(path: Path) -> int:
    """Return the most memory that reading takes."""
    tracemalloc.start()
    try:
        model = read_libsvm(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        del model
