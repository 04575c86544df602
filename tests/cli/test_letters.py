"""Command lines in the style of LIBSVM: what is read, what is refused and with which words."""

from __future__ import annotations

import pytest

from hinge.cli._classic import liblinear_request, libsvm_request
from hinge.cli._errors import CommandError, UsageError
from hinge.cli._letters import parse


def test_options_come_before_files() -> None:
    letters = parse(["-c", "2", "-w-1", "0.5", "-w1", "3", "-q", "a", "b"], "cw", alone="q")
    assert letters.values == {"c": "2", "q": ""}
    assert letters.weights == {"-1": "0.5", "1": "3"}
    assert letters.files == ("a", "b")


def test_a_negative_value_is_a_value() -> None:
    assert parse(["-B", "-1", "data"], "B").number("B", 0.0) == -1.0


def test_a_lone_hyphen_is_a_file() -> None:
    assert parse(["-", "model"], "c").files == ("-", "model")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-z", "1", "f"], "there is no option '-z'; the options are -c, -q, -wLABEL."),
        (["-cc", "1", "f"], "there is no option '-cc'; the options are -c, -q, -wLABEL."),
        (["-w", "1", "f"], "there is no option '-w'; the options are -c, -q, -wLABEL."),
        (["--", "f"], "there is no option '--'; the options are -c, -q, -wLABEL."),
        (["-c"], "-c must be followed by a value."),
        (["-w1"], "-w1 must be followed by a value."),
    ],
)
def test_what_is_no_option(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(words, "cw", alone="q")
    assert str(caught.value) == message


@pytest.mark.parametrize("text", ["x", "", "nan", "inf", "1e999"])
def test_a_value_that_is_no_number(text: str) -> None:
    letters = parse(["-c", text], "c")
    with pytest.raises(UsageError) as caught:
        letters.number("c", 1.0)
    assert str(caught.value) == f"-c takes a number; got {text!r}."


def test_a_value_that_is_no_whole_number() -> None:
    with pytest.raises(UsageError) as caught:
        parse(["-v", "2.5"], "v").whole("v", 0)
    assert str(caught.value) == "-v takes a whole number; got '2.5'."


def test_a_linear_machine_of_libsvm() -> None:
    request = libsvm_request(["-s", "0", "-t", "0", "-c", "4", "-h", "0", "-m", "40", "f"])
    assert request.parameters == {
        "loss": "hinge",
        "intercept": "free",
        "C": 4.0,
        "tol": 1e-4,
        "n_jobs": -1,
    }
    assert request.in_pairs is not None
    assert request.in_pairs["kernel"] == "linear"
    assert request.in_pairs["shrinking"] is False
    assert request.notes == request.notes_for_two == ()


def test_the_defaults_of_libsvm() -> None:
    request = libsvm_request(["f"])
    assert request.in_pairs is None
    assert request.parameters == {
        "kernel": "rbf",
        "C": 1.0,
        "gamma": "auto",
        "degree": 3,
        "coef0": 0.0,
        "tol": 1e-3,
        "cache_size": 100.0,
        "shrinking": True,
        "probability": False,
        "n_jobs": -1,
    }


def test_the_letters_of_kernels() -> None:
    words = ["-t", "1", "-g", "0.5", "-d", "2", "-r", "1.5", "-e", "0.1", "-m", "7", "-b", "1"]
    parameters = libsvm_request([*words, "f"]).parameters
    wanted = {"kernel": "poly", "gamma": 0.5, "degree": 2, "coef0": 1.5, "tol": 0.1}
    assert parameters | wanted | {"cache_size": 7.0, "probability": True} == parameters
    assert libsvm_request(["-t", "3", "f"]).parameters["kernel"] == "sigmoid"
    assert libsvm_request(["-t", "4", "f"]).parameters["kernel"] == "precomputed"
    assert libsvm_request(["-t", "0", "-b", "1", "f"]).parameters["kernel"] == "linear"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-s", "1", "f"], "-s 1 (nu-SVC) is not in this version"),
        (["-s", "2", "f"], "-s 2 (the one-class SVM) is not in this version"),
        (["-s", "3", "f"], "-s 3 (epsilon-SVR) is not in this version"),
    ],
)
def test_what_libsvm_can_and_this_version_cannot(words: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        libsvm_request(words)
    assert str(caught.value).startswith(message)
    assert not isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-s", "9"], "-s takes 0 to 4; got 9."),
        (["-t", "-1"], "-t takes 0 to 4; got -1."),
        (["-m", "0"], "-m takes megabytes for the cache, more than 0; got 0."),
        (["-e", "-1"], "-e takes a tolerance that is not negative; got -1."),
        (["-h", "2"], "-h takes 0 or 1; got 2."),
        (["-b", "x"], "-b takes a whole number; got 'x'."),
    ],
)
def test_what_not_even_libsvm_can(words: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        libsvm_request(words)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("words", "parameters"),
    [
        ([], {"loss": "squared_hinge", "fit_intercept": False}),
        (["-s", "2", "-B", "0"], {"loss": "squared_hinge", "fit_intercept": False}),
        (["-s", "3", "-B", "2"], {"loss": "hinge", "intercept_scaling": 2.0}),
        (["-s", "2", "-B", "1", "-R"], {"loss": "squared_hinge", "intercept": "free"}),
        (["-m", "3"], {"loss": "squared_hinge", "fit_intercept": False, "n_jobs": 3}),
    ],
)
def test_the_machines_of_liblinear(words: list[str], parameters: dict[str, object]) -> None:
    found = liblinear_request([*words, "f"]).parameters
    assert found == {"C": 1.0, "tol": 1e-4, "n_jobs": -1, **parameters}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-s", "0"], "-s 0 is not in this version of hinge; it can train -s 1, -s 2 and -s 3."),
        (["-C"], "-C (search for the best C) is not in this version of hinge; try values of -c "),
        (["-R"], "-R (an intercept that is not regularised) needs -B 1."),
    ],
)
def test_what_liblinear_can_and_this_version_cannot(words: list[str], message: str) -> None:
    with pytest.raises(CommandError) as caught:
        liblinear_request(words)
    assert str(caught.value).startswith(message)


def test_the_meaning_of_e_is_said() -> None:
    request = libsvm_request(["-t", "0", "-e", "0.01", "f"])
    assert request.parameters["tol"] == 0.01
    assert "relative duality gap" in request.notes_for_two[0]
    assert libsvm_request(["-t", "2", "-e", "0.01", "f"]).notes_for_two == ()


def test_folds_are_at_least_two() -> None:
    assert libsvm_request(["-t", "0", "f"]).folds is None
    assert libsvm_request(["-t", "0", "-v", "5", "f"]).folds == 5
    with pytest.raises(UsageError) as caught:
        _ = libsvm_request(["-t", "0", "-v", "1", "f"]).folds
    assert str(caught.value) == "-v takes a number of folds that is at least 2; got 1."
