"""What the options of LIBSVM and LIBLINEAR ask for, as parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hinge.cli._errors import CommandError, UsageError
from hinge.cli._letters import Letters, parse

_LATER = "is not in this version of hinge"
LIBSVM_KERNELS = ("linear", "poly", "rbf", "sigmoid", "precomputed")  # by their numbers


@dataclass(frozen=True)
class Request:
    """What a command line in the old style asks for.

    Parameters
    ----------
    letters : Letters
        The options.
    parameters : dict
        Of ``LinearSVC`` or, if "kernel" is one of them, of ``SVC``; apart from class weights.
    in_pairs : dict or None
        Those to take instead with more than two classes, which LIBSVM trains in pairs.
    notes : tuple of str
        What the user should know.
    notes_for_two : tuple of str
        What the user should know besides, unless ``in_pairs`` is taken.
    """

    letters: Letters
    parameters: dict[str, Any]
    in_pairs: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()
    notes_for_two: tuple[str, ...] = ()

    @property
    def quiet(self) -> bool:
        """Whether ``-q`` was given."""
        return "q" in self.letters.values

    @property
    def folds(self) -> int | None:
        """The number of folds of a cross-validation, if one was asked for."""
        if "v" not in self.letters.values:
            return None
        folds = self.letters.whole("v", 0)
        if folds < 2:
            message = f"-v takes a number of folds that is at least 2; got {folds}."
            raise UsageError(message)
        return folds


Reading = Callable[[list[str]], Request]


def libsvm_request(words: list[str]) -> Request:
    """Read the options of LIBSVM's ``svm-train``.

    Parameters
    ----------
    words : list of str
        The arguments.

    Returns
    -------
    Request
        A C-SVC; other machines are refused.
    """
    letters = parse(words, "stdgrcnpmehbwv", alone="q")
    machine = letters.whole("s", 0)
    machines = {1: "nu-SVC", 2: "the one-class SVM", 3: "epsilon-SVR", 4: "nu-SVR"}
    if machine != 0:
        what = machines.get(machine)
        if what is None:
            message = f"-s takes 0 to 4; got {machine}."
            raise UsageError(message)
        message = f"-s {machine} ({what}) {_LATER}; -s 0 is what it can train."
        raise CommandError(message)
    kernel = letters.whole("t", 2)
    if not 0 <= kernel < len(LIBSVM_KERNELS):
        message = f"-t takes 0 to 4; got {kernel}."
        raise UsageError(message)
    machine_parameters = _kernel_parameters(letters, LIBSVM_KERNELS[kernel])
    if kernel != 0:
        return Request(letters, machine_parameters)
    # With two classes the same machine, found in the features themselves, which is faster.
    linear = {"loss": "hinge", "intercept": "free", **_common(letters)}
    if machine_parameters["probability"]:
        return Request(letters, machine_parameters)
    return Request(
        letters, linear, in_pairs=machine_parameters, notes_for_two=_tolerance_note(letters)
    )


def _kernel_parameters(letters: Letters, kernel: str) -> dict[str, Any]:
    """Return the parameters of ``SVC`` that LIBSVM's options stand for, with LIBSVM's defaults."""
    cache = letters.number("m", 100.0)
    if cache <= 0.0:
        message = f"-m takes megabytes for the cache, more than 0; got {cache:g}."
        raise UsageError(message)
    tolerance = letters.number("e", 1e-3)
    if tolerance < 0.0:
        message = f"-e takes a tolerance that is not negative; got {tolerance:g}."
        raise UsageError(message)
    return {
        "kernel": kernel,
        "C": letters.number("c", 1.0),
        "gamma": letters.number("g", 0.0) or "auto",
        "degree": letters.whole("d", 3),
        "coef0": letters.number("r", 0.0),
        "tol": tolerance,
        "cache_size": cache,
        "shrinking": _switch(letters, "h", 1),
        "probability": _switch(letters, "b", 0),
        "n_jobs": -1,
    }


def _switch(letters: Letters, letter: str, default: int) -> bool:
    value = letters.whole(letter, default)
    if value not in (0, 1):
        message = f"-{letter} takes 0 or 1; got {value}."
        raise UsageError(message)
    return value == 1


def liblinear_request(words: list[str]) -> Request:
    """Read the options of LIBLINEAR's ``train``.

    Parameters
    ----------
    words : list of str
        The arguments.

    Returns
    -------
    Request
        One of the three machines with an L2 penalty; everything else is refused.
    """
    letters = parse(words, "scepnBwvm", alone="qCR")
    machine = letters.whole("s", 1)
    losses = {1: "squared_hinge", 2: "squared_hinge", 3: "hinge"}
    if machine not in losses:
        message = f"-s {machine} {_LATER}; it can train -s 1, -s 2 and -s 3."
        raise CommandError(message)
    if "C" in letters.values:
        message = f"-C (search for the best C) {_LATER}; try values of -c with -v 5."
        raise CommandError(message)
    bias = letters.number("B", -1.0)
    parameters: dict[str, Any] = {"loss": losses[machine], **_common(letters)}
    if "R" in letters.values:
        if bias != 1.0:
            message = "-R (an intercept that is not regularised) needs -B 1."
            raise UsageError(message)
        parameters["intercept"] = "free"
    elif bias > 0.0:
        parameters["intercept_scaling"] = bias
    else:
        # LIBLINEAR adds a feature of value 0 for -B 0, which is no intercept either.
        parameters["fit_intercept"] = False
    if "m" in letters.values:
        parameters["n_jobs"] = threads = letters.whole("m", 1)
        if threads < 1:
            message = f"-m takes a number of threads that is at least 1; got {threads}."
            raise UsageError(message)
    return Request(letters, parameters, notes=_tolerance_note(letters))


def _common(letters: Letters) -> dict[str, Any]:
    return {"C": letters.number("c", 1.0), "tol": letters.number("e", 1e-4), "n_jobs": -1}


def _tolerance_note(letters: Letters) -> tuple[str, ...]:
    if "e" not in letters.values:
        return ()
    return ("-e is taken as the relative duality gap to prove, which is stricter than it was.",)
