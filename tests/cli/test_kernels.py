"""Kernel machines on the command line: trained, used, shown, verified and exchanged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.cli.running import Shell, classes_apart, write_rows

import hinge
from hinge.cli import _predicting
from hinge.cli._console import Output
from hinge.cli._matching import unnamed_rows
from hinge.estimators.svc import SVC
from hinge.kernels import RBF, ChiSquared, Polynomial, Sigmoid
from hinge.models import load, read_libsvm


@pytest.fixture
def machine(shell: Shell) -> Path:
    """Leave ``rows.svm`` and ``m``, a machine of three classes, in the folder."""
    classes_apart(Path("rows.svm"), n_classes=3)
    assert shell("train", "rows.svm", "m", "--kernel", "rbf").code == 0
    return Path("m")


def test_training(shell: Shell) -> None:
    classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("train", "rows.svm", "m", "--kernel", "rbf", "--gamma", "0.5", "-C", "3")
    assert run.code == 0
    names = [line.split("  ")[0] for line in run.out.splitlines()]
    assert names == [
        "data", "classes", "status", "worst pair", "objective", "proven", "gap", "violation",
        "support", "model",
    ]  # fmt: skip
    assert "3 of 3 are solved" in run.out
    assert " of the conditions, 0.001 asked for" in run.out
    model = load("m")
    assert (model.kernel_, model.C, model.loss, model.tol) == (RBF(0.5), 3.0, "hinge", 1e-3)
    assert model.n_jobs == -1


@pytest.mark.parametrize(
    ("words", "kernel"),
    [
        ("--kernel poly --degree 2 --gamma 0.5 --coef0 1", Polynomial(2, 0.5, 1.0)),
        ("--kernel sigmoid --gamma auto --coef0 -1", Sigmoid(1 / 3, -1.0)),
    ],
)
def test_options_of_kernels(shell: Shell, words: str, kernel: object) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", "rows.svm", "m", *words.split(), "--cache", "5", "--loss", "squared_hinge")
    assert run.code == 0
    model = load("m")
    assert (model.kernel_, model.cache_size, model.loss) == (kernel, 5.0, "squared_hinge")


@pytest.mark.parametrize(
    ("letters", "words"),
    [
        ("-t 2 -g 0.05 -c 10", "--kernel rbf --gamma 0.05 --C 10"),
        ("-t 1 -d 2 -g 0.5 -r 1 -m 7", "--kernel poly --degree 2 --gamma 0.5 --coef0 1 --cache 7"),
        ("-t 0 -b 0", "--kernel linear"),
        ("-t 3 --kernel sigmoid -e 0.01", "--kernel sigmoid --tol 0.01"),
        ("-t 2 -b 1", "--kernel rbf --probability"),
    ],
)
def test_letters_of_libsvm(shell: Shell, letters: str, words: str) -> None:
    classes_apart(Path("rows.svm"))
    for model, options in (("a", letters), ("b", words)):
        assert shell("train", "rows.svm", model, *options.split()).code == 0
    a, b = load("a").get_params(), load("b").get_params()
    assert a == b


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("-t 5", "-t"),
        ("-t rbf", "-t"),
        ("-b 2", "-b"),
        ("-t 2 --kernel poly", "-t 2 is the kernel rbf, and --kernel is poly; leave one of them "),
        ("-t 2 --probability -b 0", "--probability asks for what -b 0 leaves out; leave one of"),
        ("-g 0.1", "--gamma is an option of kernels; choose one, such as --kernel rbf."),
    ],
)
def test_letters_of_libsvm_that_make_no_sense(shell: Shell, letters: str, message: str) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", "rows.svm", "m", *letters.split())
    assert run.code == 2
    assert message in run.err


def test_classes_against_the_rest(shell: Shell) -> None:
    classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("train", "rows.svm", "m", "--kernel", "rbf", "--multiclass", "ovr")
    assert run.code == 0
    assert "worst class" in run.out
    assert "3 of 3 are solved" in run.out
    assert load("m").dual_coef_.shape[0] == 3
    assert shell("verify", "m", "rows.svm").code == 0
    run = shell("export", "m", "m.model")
    assert run.code == 1
    assert "LIBSVM has a machine for every pair of classes" in run.err
    run = shell("train", "rows.svm", "m", "--multiclass", "ovr")
    assert run.code == 2
    assert "--multiclass is an option of kernels" in run.err


@pytest.mark.parametrize("words", ["--kernel rbf --solver smo", "--solver newton"])
def test_a_solver_by_name(shell: Shell, words: str) -> None:
    classes_apart(Path("rows.svm"))
    assert shell("train", "rows.svm", "m", *words.split()).code == 0
    assert load("m").solution_.solver == words.rsplit(maxsplit=1)[-1]


def test_a_solver_that_does_not_take_the_problem_says_so(shell: Shell) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", "rows.svm", "m", "--kernel", "rbf", "--solver", "dual-coordinate")
    assert run.code == 1
    assert "a free intercept ties them together; use" in run.err
    run = shell("train", "rows.svm", "m", "--kernel", "rbf", "--solver", "smoo")
    assert run.code in (1, 2)
    assert "Did you mean 'smo'?" in run.err


def test_a_kernel_that_proves_no_gap_says_so(shell: Shell) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", "rows.svm", "m", "--kernel", "sigmoid")
    assert run.code == 0
    assert "proven     no gap certificate: the kernel is not (known to be) positive" in run.out
    assert "gap  " not in run.out
    run = shell("verify", "m", "rows.svm")
    assert run.code == 0
    assert "There is no gap certificate" in run.out


def test_json(shell: Shell) -> None:
    classes_apart(Path("rows.svm"), n_classes=3)
    found = shell("train", "rows.svm", "m", "--kernel", "rbf", "--json").data
    assert [problem["classes"] for problem in found["problems"]] == [[1, 2], [1, 3], [2, 3]]
    assert found["support_vectors"] == int(load("m").n_support_.sum())
    assert 0.0 < found["violation"] <= found["tolerance"] == 1e-3
    found = shell("verify", "m", "rows.svm", "--json").data
    assert found["truthful"]
    assert found["violation"] <= 1e-3
    assert [problem["classes"] for problem in found["problems"]] == [[1, 2], [1, 3], [2, 3]]
    found = shell("inspect", "m", "--json").data
    assert found["kernel"]["name"] == "rbf"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--gamma 1", "--gamma is an option of kernels; choose one, such as --kernel rbf."),
        ("--degree 2", "--degree is an option of kernels; choose one, such as --kernel rbf."),
        ("--cache 5", "--cache is an option of kernels; choose one, such as --kernel rbf."),
        ("--probability", "--probability is an option of kernels; choose one"),
        ("--kernel rbf --degree 2", "the rbf kernel has no degree, so --degree cannot be given"),
        ("--kernel linear --gamma 2", "the linear kernel has no gamma, so --gamma cannot be given"),
        ("--kernel rbf --intercept none", "the intercept of a kernel machine is free, so --inter"),
        ("--kernel rbf --intercept-scale 2", "machine is free, so --intercept-scale cannot be"),
        ("--kernel rbf --checkpoint c", "--checkpoint is for linear machines in this version"),
        ("--kernel rbf --estimate", "--estimate is for linear machines in this version"),
        ("--kernel cubic", "'cubic' is not one of 'linear', 'poly', 'rbf', 'sigmoid'"),
        ("--kernel rbf --gamma -1", "-1 is neither a finite number of at least 0 nor scale"),
        ("--kernel rbf --gamma big", "big is neither a finite number of at least 0 nor scale"),
        ("--kernel rbf --gamma nan", "nan is neither a finite number of at least 0 nor scale"),
        ("--kernel rbf --cache 0", "0 is not a finite number above 0."),
        ("--kernel poly --degree -1", "-1 is not a finite number of at least 0."),
        ("--kernel rbf -C inf", "C must be"),
    ],
)
def test_mistakes(shell: Shell, words: str, message: str) -> None:
    classes_apart(Path("rows.svm"))
    run = shell("train", "rows.svm", "m", *words.split())
    assert run.code == 2
    assert message in run.err
    assert not Path("m").exists()


def test_data_that_a_kernel_does_not_take(shell: Shell) -> None:
    write_rows(Path("rows.svm"), ["1 1:1 2:-3", "2 1:1", "1 2:1", "2 2:2"])
    run = shell("train", "rows.svm", "m", "--kernel", "chi2")
    assert run.code == 1
    assert "the chi-squared kernel takes values of at least 0; row 0 of X has -3.0" in run.err
    write_rows(Path("rows.svm"), ["1 1:1 2:3", "2 1:1", "1 2:1", "2 2:2"])
    assert shell("train", "rows.svm", "m", "--kernel", "chi2", "--gamma", "0.5").code == 0
    assert load("m").kernel_ == ChiSquared(0.5)


def test_limits(shell: Shell) -> None:
    classes_apart(Path("rows.svm"), n_classes=3)
    run = shell("train", "rows.svm", "m", "--kernel", "rbf", "--max-iter", "0")
    assert run.code == 3
    assert "hinge: warning: training stopped at --max-iter=0 for 3 of 3 pairs of classes" in run.err
    assert shell("verify", "m", "rows.svm").code == 3


def test_inspect(shell: Shell, machine: Path) -> None:
    run = shell("inspect", machine)
    assert run.code == 0
    assert "kernel-classifier, format 1" in run.out
    assert "kernel      rbf, gamma " in run.out
    assert " support vectors\n" in run.out
    assert "proof       which of 60 rows are support vectors, for verify" in run.out
    assert shell("train", "rows.svm", "m", "--kernel", "rbf", "--no-proof").code == 0
    assert "none: verify looks for the support vectors among the rows" in shell("inspect", "m").out


def test_verify(shell: Shell, machine: Path) -> None:
    run = shell("verify", machine, "rows.svm")
    assert run.code == 0
    assert "proven to be within a relative gap" in run.out
    assert shell("train", "rows.svm", "small", "--kernel", "rbf", "--no-proof").code == 0
    assert shell("verify", "small", "rows.svm").code == 0
    classes_apart(Path("other.svm"), n_classes=3, seed=9)
    run = shell("verify", machine, "other.svm")
    assert run.code == 1
    assert run.out.startswith("NOT confirmed")


def test_a_violation_above_the_tolerance_is_not_certified(shell: Shell, machine: Path) -> None:
    assert shell("export", machine, "t.model").code == 0
    text = Path("t.model").read_text().replace("rho ", "rho 0.5 ", 1)
    head, rest = text.split("rho ", 1)
    numbers, rest = rest.split("\n", 1)
    Path("t.model").write_text(f"{head}rho {' '.join(numbers.split()[:3])}\n{rest}")
    run = shell("verify", "t.model", "rows.svm")
    assert run.code == 3
    assert "is larger than the 0.001 that the model was to be trained to" in run.out


def test_evaluate_beside_a_linear_machine(shell: Shell, machine: Path) -> None:
    assert shell("train", "rows.svm", "linear").code == 0
    found = shell("evaluate", machine, "linear", "rows.svm", "--json").data
    assert [model["model"] for model in found["models"]] == ["m", "linear"]
    assert all(model["accuracy"] > 0.8 for model in found["models"])


def test_predict(shell: Shell, machine: Path) -> None:
    rows = hinge.data.read_libsvm("rows.svm")[0]
    run = shell("predict", machine, "rows.svm", "--scores")
    assert run.code == 0
    found = [line.split("\t") for line in run.out.splitlines()]
    model = load(machine)
    with unnamed_rows():
        values, labels = model.decision_function(rows), model.predict(rows)
    assert [int(line[0]) for line in found] == labels.tolist()
    np.testing.assert_array_equal([[float(v) for v in line[1:]] for line in found], values)
    plain = shell("predict", machine, "rows.svm").out
    assert plain.split() == [line[0] for line in found]
    data = shell("predict", machine, "rows.svm", "--json", "--scores").data
    assert data["decision_values"] == values.tolist()


def test_probabilities(shell: Shell, machine: Path) -> None:
    run = shell("predict", machine, "rows.svm", "--probabilities")
    assert run.code == 1
    assert "m has no probabilities; train a kernel machine with --probability to have" in run.err
    assert shell("train", "rows.svm", "p", "--kernel", "rbf", "--probability").code == 0
    data = shell("predict", "p", "rows.svm", "--probabilities", "--json").data
    np.testing.assert_allclose(np.sum(data["probabilities"], axis=1), 1.0)
    run = shell("predict", "p", "rows.svm", "--probabilities", "--scores")
    assert run.code == 2


def test_pieces_make_no_difference(
    shell: Shell, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shell("predict", machine, "rows.svm", "--scores").out
    monkeypatch.setattr(_predicting, "_FEWEST_ROWS", 7)
    monkeypatch.setattr(_predicting, "_KERNEL_VALUES", 1)
    assert shell("predict", machine, "rows.svm", "--scores").out == whole


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_predicting, "_UPDATES_PER_SECOND", 1e9)
    output = Output()
    shown: list[str] = []
    monkeypatch.setattr(Output, "shows_progress", True)
    monkeypatch.setattr(
        _predicting.Progress, "update", lambda *_, **words: shown.append(str(words))
    )
    with _predicting.predicting(output) as rows:
        rows.expect(2000)
        rows.add(1500)
    assert "'total': 2000" in shown[0]
    assert "'completed': 1500" in shown[1]
    assert "1.5k of 2k rows, " in shown[1]
    assert "rows/s, " in shown[1]
    assert " left" in shown[1]


@pytest.mark.parametrize("name", ["rows.npz", "rows.hingedata", "rows.svm"])
def test_the_total_is_shown_where_the_file_says_it(
    shell: Shell, machine: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shown: list[int] = []
    monkeypatch.setattr(_predicting.Rows, "expect", lambda _, count: shown.append(count))
    data = hinge.data.read("rows.svm")
    np.savez("rows.npz", X=data.X.toarray(), y=data.y)  # type: ignore[union-attr]
    hinge.data.write_shards("rows.hingedata", [data])
    assert shell("predict", machine, name).code == 0
    assert shown == ([] if name == "rows.svm" else [60])


def test_text_there_and_back(shell: Shell, machine: Path) -> None:
    run = shell("export", machine, "their.model")
    assert run.code == 0
    assert run.out.startswith("libsvm  their.model (")
    run = shell("import-model", "their.model", "back", "--features", "4")
    assert run.code == 0
    assert "taken as 1, its largest coefficient. Give it with --C for verify." in run.err
    assert " support vectors, rbf kernel" in run.out
    assert read_libsvm("their.model").kernel_ == load(machine).kernel_
    for model in ("back", "their.model"):
        assert shell("predict", model, "rows.svm").out == shell("predict", machine, "rows.svm").out
        assert shell("verify", model, "rows.svm").code == 0
    assert (
        "C is not in the file; taken as 1, its largest"
        in shell("verify", "their.model", "rows.svm").err
    )
    assert shell("import-model", "their.model", "back", "--C", "5").err == ""
    assert load("back").C == 5.0


def test_formats_of_the_other_kind_are_refused(shell: Shell, machine: Path) -> None:
    run = shell("export", machine, "t", "--to", "liblinear")
    assert run.code == 2
    assert "m is a kernel machine; pass --to libsvm or --to onnx." in run.err
    assert shell("train", "rows.svm", "linear").code == 0
    run = shell("export", "linear", "t", "--to", "libsvm")
    assert "linear is a linear machine; pass --to liblinear or --to onnx." in run.err
    assert shell("export", machine, "t.model").code == 0
    run = shell("import-model", "t.model", "x", "--intercept", "free")
    assert "the intercept of a kernel machine is free in any case" in run.err
    assert shell("export", "linear", "l.model").code == 0
    run = shell("import-model", "l.model", "x", "--features", "4")
    assert "a text model of LIBLINEAR says how many features it has" in run.err
    assert not Path("x").exists()


def test_onnx(shell: Shell, machine: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
    assert shell("export", machine, "m.onnx").code == 0
    onnx.checker.check_model(onnx.load("m.onnx"))


def test_features_that_no_support_vector_has_count_in_text_models(shell: Shell) -> None:
    lines = ["1 1:1", "1 1:1.5", "2 1:-1", "2 1:-1.2"]
    write_rows(Path("rows.svm"), lines)
    assert shell("train", "rows.svm", "m", "--kernel", "rbf", "--gamma", "1").code == 0
    assert shell("export", "m", "t.model").code == 0
    write_rows(Path("wide.svm"), ["1 1:1 3:0.5", "2 1:-1"])
    run = shell("predict", "t.model", "wide.svm", "--scores")
    model = read_libsvm("t.model", n_features=3)
    wanted = model.decision_function([[1.0, 0.0, 0.5], [-1.0, 0.0, 0.0]])
    found = [float(line.split("\t")[1]) for line in run.out.splitlines()]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    run = shell("predict", "m", "wide.svm")
    assert "features 2 to 3 were not in the training data and are ignored." in run.err


def test_a_table_with_names(shell: Shell) -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    lines = [f"{a!r},{b!r},{'yes' if a > 0 else 'no'}" for a, b in X.tolist()]
    Path("t.csv").write_text("\n".join(["a,b,label", *lines]) + "\n")
    assert shell("train", "t.csv", "m", "--kernel", "rbf").code == 0
    Path("turned.csv").write_text(
        "\n".join(["b,a", *(",".join(line.split(",")[1::-1]) for line in lines)]) + "\n"
    )
    wanted = shell("predict", "m", "t.csv").out
    assert shell("predict", "m", "turned.csv", "--unlabelled").out == wanted
    assert isinstance(load("m"), SVC)
