"""Cross-validation over shared rows: folds are weights, and every fold walks a path of C.

No fold copies the data. A row that a fold holds out has weight zero in that fold's problem, and
therefore no dual variable; the values of C of one fold start from each other. Folds and classes
do not depend on each other: any number of threads gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from hinge.block_map import map_blocks
from hinge.errors import InvalidParameterError
from hinge.estimators._clock import Clock
from hinge.estimators._data import class_weights
from hinge.estimators._options import FitOptions
from hinge.labels import shown
from hinge.multiclass import Labels, class_problem
from hinge.multiclass.workers import HandOver, call_here, map_in_threads
from hinge.result import Solution, Status
from hinge.rows import Block, Rows
from hinge.solvers import Settings, StopFlag
from hinge.solvers.path_walk import PathEvent, solve_path

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """One division of the rows.

    Parameters
    ----------
    labels : Labels
        Labels of all rows, with weight zero for those that are held out.
    test : ndarray of int
        The rows that are held out.
    test_weight : ndarray or None
        Their weights in a score; None if all are 1.
    """

    labels: Labels
    test: Integers
    test_weight: Floats | None


def make_folds(
    cv: Any, X: Any, labels: Labels, class_weight: Any, given: Mapping[str, Any] | None = None
) -> list[Fold]:
    """Return the folds that ``cv`` stands for.

    Parameters
    ----------
    cv : int, splitter, iterable of splits or None
        As in scikit-learn; a number or None is a stratified split.
    X : array-like
        The caller's rows, for splitters that look at them.
    labels : Labels
        Labels and weights of all rows.
    class_weight : dict, "balanced" or None
        As in scikit-learn; "balanced" counts the rows that a fold trains on.
    given : mapping or None, default=None
        What else the splitter is called with.
    """
    y = labels.classes[labels.codes]
    n = len(labels.codes)
    splits = check_cv(cv, y, classifier=True).split(X, y, **(given or {}))
    folds = []
    for number, (train, test) in enumerate(splits):
        counts = np.bincount(_numbers(train, n), minlength=n).astype(np.float64)
        held_out = _numbers(test, n)
        whole = labels.sample_weight
        weights = counts if whole is None else counts * whole
        test_weight = None if whole is None else whole[held_out]
        _check_fold(number, labels, weights, test_weight, len(held_out))
        per_class = class_weights(class_weight, labels.classes, labels.codes, weights)
        own = replace(labels, sample_weight=weights, class_weight=per_class)
        folds.append(Fold(own, held_out, test_weight))
    if not folds:
        message = f"cv must give at least one split; got none from {cv!r}."
        raise InvalidParameterError(message)
    return folds


def _numbers(rows: Any, n: int) -> Integers:
    """Return row numbers, also where a splitter gives a mask."""
    chosen = np.asarray(rows)
    if chosen.dtype == np.bool_:
        chosen = np.flatnonzero(chosen)
    numbers = chosen.astype(np.int64)
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < n):
        message = f"cv gives row {int(numbers.max())} of {n}; rows are numbered from 0."
        raise InvalidParameterError(message)
    return numbers


def _check_fold(
    number: int, labels: Labels, weights: Floats, test_weight: Floats | None, n_test: int
) -> None:
    totals = np.bincount(labels.codes, weights=weights, minlength=len(labels.classes))
    empty = np.flatnonzero(totals == 0)
    if len(empty):
        message = (
            f"split {number} of cv trains on no row of class {shown(labels.classes[empty[0]])}. "
            "Use fewer folds, a stratified cv, or drop classes with too few rows."
        )
        raise InvalidParameterError(message)
    if n_test == 0 or (test_weight is not None and not np.any(test_weight > 0)):
        message = f"split {number} of cv holds out no row of positive weight: nothing to score."
        raise InvalidParameterError(message)


@dataclass(frozen=True)
class FoldEvent(PathEvent):
    """What a ``callback`` of ``LinearSVCCV`` is shown after a step.

    Parameters
    ----------
    fold : int, default=0
        Which fold it is.
    n_folds : int, default=1
        How many folds there are.
    label : object, default=None
        The positive class of the problem; for two classes always the second.
    """

    fold: int = 0
    n_folds: int = 1
    label: Any = None


def fold_paths(
    rows: Rows,
    folds: list[Fold],
    Cs: list[float],
    options: FitOptions,
    clock: Clock,
    flag: StopFlag,
    callback: Callable[[FoldEvent], Any] | None = None,
) -> list[list[list[Solution]]]:
    """Solve every class of every fold for every C.

    Parameters
    ----------
    rows : Rows
        The data, which all problems share.
    folds : list of Fold
        Divisions of the rows.
    Cs : list of float
        Values of C.
    options : FitOptions
        Objective, solver, criteria, seed and threads.
    clock : Clock
        Time limit.
    flag : StopFlag
        Ends everything when set.
    callback : callable or None, default=None
        Called on the calling thread after every step; True ends everything.

    Returns
    -------
    list of list of list of Solution
        By fold, class and C. Only the first fold's have dual coefficients: of all folds they
        would take more memory than the data.
    """
    n_problems = folds[0].labels.n_problems
    tasks = [(fold, number) for fold in range(len(folds)) for number in range(n_problems)]
    inner = max(1, options.threads // len(tasks))  # threads that are left share the work on one

    def solve(task: tuple[int, int], hand_over: HandOver) -> list[Solution]:
        fold, number = task
        labels = folds[fold].labels
        problem = class_problem(rows, labels, options.objective, number)
        stop = replace(options.stop, seconds=clock.share())

        def watch(event: PathEvent) -> None:
            label = labels.classes[labels.positive_class(number)]
            shown = FoldEvent(**vars(event), fold=fold, n_folds=len(folds), label=label)
            if callback is not None and hand_over(lambda: callback(shown)) is True:
                flag.set()

        observers: Any = () if callback is None else (watch,)
        settings = Settings(stop, options.seed, observers, inner)
        solutions = solve_path(problem, Cs, options.solver, settings, flag)
        return solutions if fold == 0 else [_without_dual(solution) for solution in solutions]

    if options.threads > 1:
        found = map_in_threads(solve, tasks, options.threads, flag.set)
    else:
        found = [solve(task, call_here) for task in tasks]
    return [found[start : start + n_problems] for start in range(0, len(tasks), n_problems)]


def _without_dual(solution: Solution) -> Solution:
    return replace(solution, point=replace(solution.point, dual_coef=None))


def held_out_values(rows: Rows, fold: Fold, paths: list[list[Solution]], threads: int) -> Floats:
    """Return the decision values of a fold's held-out rows for every C.

    Parameters
    ----------
    rows : Rows
        The data.
    fold : Fold
        The division.
    paths : list of list of Solution
        Its solutions by class and C.
    threads : int
        How many threads share out the blocks.

    Returns
    -------
    ndarray of shape (n_Cs, n_test, n_problems)
        Decision values.
    """
    n_Cs = len(paths[0])
    solutions = [path[k] for k in range(n_Cs) for path in paths]
    weights = np.ascontiguousarray(np.stack([s.coef for s in solutions]).T)
    intercepts = np.array([s.intercept for s in solutions])
    values = np.empty((len(fold.test), len(solutions)))
    order = np.argsort(fold.test, kind="stable")
    ordered = fold.test[order]

    def kernel(block: Block) -> None:
        first, last = np.searchsorted(ordered, (block.start, block.stop))
        if first < last:
            chosen = block.matrix[ordered[first:last] - block.start]
            values[order[first:last]] = chosen @ weights + intercepts

    map_blocks(kernel, rows, lambda one, _: one, threads=threads)
    return values.reshape(len(fold.test), n_Cs, len(paths)).transpose(1, 0, 2)


def accuracy(values: Floats, codes: NDArray[Any], weights: Floats | None) -> float:
    """Return the weighted fraction of rows whose largest decision value is their class's.

    Parameters
    ----------
    values : ndarray of shape (n_test, n_problems)
        Decision values.
    codes : ndarray of int of shape (n_test,)
        The class of every row.
    weights : ndarray of shape (n_test,) or None
        Weights of the rows.
    """
    guessed = values[:, 0] > 0 if values.shape[1] == 1 else values.argmax(axis=1)
    return float(np.average(guessed == codes, weights=weights))


def is_scored(solutions: Iterable[Solution]) -> bool:
    """Return whether the fits of all classes have ended by themselves, none by an interruption.

    Parameters
    ----------
    solutions : iterable of Solution
        Solutions of one fold and C, by class.
    """
    return all(solution.status is not Status.INTERRUPTED for solution in solutions)


def best_position(scores: Floats, Cs: Sequence[float]) -> int | None:
    """Return where the C of the best mean score stands; of equal ones, the smallest C.

    Parameters
    ----------
    scores : ndarray of shape (n_folds, n_Cs)
        Scores; a mean that is not finite counts as worse than any other.
    Cs : sequence of float
        The values of C.

    Returns
    -------
    int or None
        None if no mean is finite.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        means = scores.mean(axis=0)
    finite = np.flatnonzero(np.isfinite(means))
    return min(finite.tolist(), key=lambda k: (-means[k], Cs[k]), default=None)


def worst_gaps(paths: Iterable[list[list[Solution]]]) -> Floats:
    """Return the largest relative gap among the classes, for every fold and C.

    Parameters
    ----------
    paths : iterable of list of list of Solution
        Solutions by fold, class and C.
    """
    return np.array(
        [
            [max(s.certificate.relative_gap for s in at_C) for at_C in zip(*fold, strict=True)]
            for fold in paths
        ]
    )
