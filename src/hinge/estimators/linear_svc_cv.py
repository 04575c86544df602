"""Linear support vector classification that chooses C by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing

from hinge.estimators._checks import boolean
from hinge.estimators._checks import callback as checked_callback
from hinge.estimators._clock import Clock
from hinge.estimators._convergence import falling_short
from hinge.estimators._data import training_data
from hinge.estimators._fold_display import refit_display, shown_steps
from hinge.estimators._folds import (
    Fold,
    FoldEvent,
    accuracy,
    best_position,
    fold_paths,
    held_out_values,
    is_scored,
    make_folds,
    worst_gaps,
)
from hinge.estimators._grouped_folds import GroupedFolds
from hinge.estimators._linear_model import LinearClassifier
from hinge.estimators._listening import interruption
from hinge.estimators._measure import ScoredAsChosen, measured
from hinge.estimators._options import FitOptions, linear_options
from hinge.estimators._progress import GAP
from hinge.estimators._scoring import folds_interruption, no_score, spread_values
from hinge.estimators.linear_svc import LinearSVC
from hinge.multiclass import Labels, Plan, data_fingerprint, solve_one_vs_rest
from hinge.result import Certificate, Point, Solution, Status
from hinge.rows import Rows
from hinge.solvers import Solver, StopFlag, listening

Floats = NDArray[np.float64]
Paths = list[list[list[Solution]]]

_OF_THE_MODEL = (
    *("coef_", "intercept_", "solution_", "certificate_", "solutions_", "certificates_"),
    *("classes_", "n_features_in_", "feature_names_in_", "data_fingerprint_"),
)
_OF_THE_DATA = ("classes_", "n_features_in_", "feature_names_in_")


class LinearSVCCV(GroupedFolds, ScoredAsChosen, LinearClassifier):
    """Linear support vector classification with C chosen by certified cross-validation.

    Every fold walks the values of C from small to large, each solved from its neighbour and each
    certified; folds share the rows, of which there is no copy. The model is then fitted to all
    rows with the best C.

    Parameters
    ----------
    Cs : int or list of float, default=10
        Values of C, each greater than 0; a number is so many values from 1e-4 to 1e4, evenly
        spaced on a logarithmic scale.
    cv : int, splitter, iterable of splits or None, default=None
        How to divide the rows, as in scikit-learn; None is 5 stratified folds.
    scoring : str, callable or None, default=None
        What to maximise; None is accuracy. Any other needs a copy of the held-out rows.
    refit : bool, default=True
        Whether to fit all rows with the best C. Without it there are scores and ``C_``, but no
        model to predict with.
    penalty : {"l2"}, default="l2"
        Norm of the weights.
    loss : {"hinge", "squared_hinge", "huber"}, default="squared_hinge"
        Loss of a margin.
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake; it has no effect.
    tol : float, default=1e-4
        Relative duality gap that every fit has to prove, at least 0.
    multi_class : {"ovr"}, default="ovr"
        One class against the rest; all classes share the same C.
    fit_intercept : bool, default=True
        Whether the decision function has an intercept.
    intercept_scaling : float, default=1
        Value of the constant feature whose weight makes the intercept, greater than 0.
    class_weight : dict or "balanced" or None, default=None
        Factor of C for each class; ``"balanced"`` counts the rows that a fold trains on.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order in which rows are visited; None is 0. It does not divide the rows: give
        ``cv`` a splitter with a seed for that.
    max_iter : int, default=1000
        Limit of each fit, at least 0.
    solver : str or Solver, default="auto"
        Name of a solver, or a configured one from ``hinge.solvers``.
    intercept : {"free", "none"} or None, default=None
        None is scikit-learn's penalised intercept, ``"free"`` is not penalised.
    verbose : bool or int, default=False
        Above 0, show progress on stderr: lines for the folds, and the fit of all rows as
        :class:`LinearSVC` does.
    n_jobs : int or None, default=None
        Threads, which share out folds and classes, and the work on each if these are fewer; -1 is
        every core. The result has the same bits for any number.
    time_limit : float or None, default=None
        Limit in seconds on the whole fit, greater than 0, in equal parts for folds and refit.
    callback : callable or None, default=None
        Called with a ``FoldEvent`` after every step of a fold's fit, on the thread that called
        ``fit``; if it returns True, cross-validation ends as by Ctrl-C.

    Attributes
    ----------
    C_ : float
        The value of C with the best mean score; of equal ones, the smallest.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, in the order given.
    scores_ : ndarray of shape (n_folds, n_Cs)
        The score of every fold for every C; NaN where an interruption came before its fit was done.
    gaps_ : ndarray of shape (n_folds, n_Cs)
        The relative gap that is proven of each of these fits; of several classes, the largest.
    seconds_ : ndarray of shape (n_folds, n_Cs)
        The time of each of these fits; of several classes, the sum.
    best_estimator_ : LinearSVC
        The model of all rows with the best C.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Its weights.
    intercept_ : ndarray of shape (1,) or (n_classes,), or float
        Its intercepts; the number 0.0 if there is no intercept.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    solution_ : Solution
        Its solution; of several the one with the largest relative gap.
    certificate_ : Certificate
        The certificate of ``solution_``.
    solutions_ : list of Solution
        The solution of every binary problem.
    certificates_ : list of Certificate
        Their certificates.
    n_iter_ : int
        The most that any fit has done of what ``max_iter`` limits.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had any that are all strings.
    data_fingerprint_ : str
        What tells whether other rows, labels and weights are those of the fit.

    See Also
    --------
    LinearSVC : The same for one value of C.
    path : The path of a binary problem, without cross-validation.

    Notes
    -----
    Sample weights count in training and in accuracy: a row of weight 0 is absent from both, one of
    weight 2 is there twice. A ``scoring`` other than None is given them if it takes
    ``sample_weight``.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LinearSVCCV(Cs=[0.01, 0.1, 1.0]).fit(X, y)
    >>> model.C_, model.scores_.shape, bool(model.gaps_.max() <= 1e-4)
    (0.1, (5, 3), True)
    """

    C_: float
    Cs_: Floats
    scores_: Floats
    gaps_: Floats
    seconds_: Floats
    best_estimator_: LinearSVC
    solution_: Solution
    certificate_: Certificate
    solutions_: list[Solution]
    n_iter_: int
    n_features_in_: int
    data_fingerprint_: str

    def __init__(
        self,
        Cs: int | ArrayLike = 10,
        *,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        dual: bool | str = "auto",
        tol: float = 1e-4,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: str | Solver = "auto",
        intercept: str | None = None,
        verbose: bool | int = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[FoldEvent], Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.intercept = intercept
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> LinearSVCCV:
        """Choose C by cross-validation and fit all rows with it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Labels of any kind that can be put in order.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; weight 0 is a row that is absent, weight 2 a row that is there twice.
        groups : array-like of shape (n_samples,) or None, default=None
            The group of every row, for a splitter that keeps groups together, such as
            ``GroupKFold``. With scikit-learn's metadata routing, ``cv`` must request them.

        Returns
        -------
        LinearSVCCV
            The fitted estimator.

        Raises
        ------
        Interrupted
            On Ctrl-C. During cross-validation the scores of the fits that were done are stored,
            and no model; while all rows are fitted, the best model found so far is.
        """
        began = time.perf_counter()
        Cs = spread_values(self.Cs)
        refit = boolean("refit", self.refit)
        callback = shown_steps(self, GAP, checked_callback(self.callback))
        options = linear_options(self._machine(Cs[0]))
        rows, labels = training_data(self, X, y, sample_weight)
        given = self._split_arguments(groups)
        folds = make_folds(self.cv, X, labels, self.class_weight, given)
        tasks = (len(folds) + refit) * labels.n_problems
        clock = Clock(options.stop.seconds, tasks, options.threads)
        with listening() as flag:
            paths = fold_paths(rows, folds, Cs, options, clock, flag, callback)
            is_interrupted = bool(flag)
            scores = self._scores(X, rows, folds, paths, Cs, options.threads)
            best = self._store_scores(Cs, scores, paths, labels)
            if is_interrupted:
                raise folds_interruption(began, scores)
            if best is None:
                raise no_score(self.scoring)
            self._warn_of_folds(options, paths, Cs)
            if refit:
                warm = [path[best].point for path in paths[0]]
                solutions = self._refit(rows, labels, warm, options, clock, flag)
        if flag:
            raise interruption(began, solutions)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _machine(self, C: float) -> LinearSVC:
        """Return the unfitted estimator of one value of C."""
        own = self.get_params(deep=False)
        shared = (LinearSVC().get_params(deep=False).keys() & own.keys()) - {"callback"}
        return LinearSVC(C=C, **{name: own[name] for name in shared})

    def _scores(
        self,
        X: Any,
        rows: Rows,
        folds: list[Fold],
        paths: Paths,
        Cs: list[float],
        threads: int,
    ) -> Floats:
        """Return the score of every fold for every C; NaN for those that were interrupted."""
        if self.scoring is not None:
            return np.array(
                [self._measured(X, fold, of, Cs) for fold, of in zip(folds, paths, strict=True)]
            )
        scores = []
        for fold, of_fold in zip(folds, paths, strict=True):
            codes = fold.labels.codes[fold.test]
            by_C = held_out_values(rows, fold, of_fold, threads)
            scores.append([accuracy(values, codes, fold.test_weight) for values in by_C])
        done = [[is_scored(at_C) for at_C in zip(*fold, strict=True)] for fold in paths]
        return np.where(done, scores, np.nan)

    def _measured(
        self, X: Any, fold: Fold, paths: list[list[Solution]], Cs: list[float]
    ) -> list[float]:
        """Return what ``scoring`` says of a fold for every C."""
        held_out = _safe_indexing(X, fold.test)
        truth = fold.labels.classes[fold.labels.codes[fold.test]]
        scores = []
        for k, C in enumerate(Cs):
            if not is_scored(path[k] for path in paths):
                scores.append(np.nan)
                continue
            machine = self._fitted_machine(C, [path[k] for path in paths], fold.labels)
            scores.append(measured(machine, self.scoring, held_out, truth, fold.test_weight))
        return scores

    def _fitted_machine(self, C: float, solutions: list[Solution], labels: Labels) -> LinearSVC:
        """Return the estimator of one C with these solutions."""
        machine = self._machine(C)
        machine._store(solutions, labels, linear_options(machine).objective.intercept)
        machine.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            machine.feature_names_in_ = self.feature_names_in_
        return machine

    def _store_scores(
        self, Cs: list[float], scores: Floats, paths: Paths, labels: Labels
    ) -> int | None:
        """Store what cross-validation has found; return the position of the best C."""
        for name in ("C_", "best_estimator_", *_OF_THE_MODEL):
            if name not in _OF_THE_DATA:
                self.__dict__.pop(name, None)  # an earlier fit's, which would not belong to these
        best = best_position(scores, Cs)
        self.classes_ = labels.classes
        self.Cs_ = np.array(Cs)
        self.scores_ = scores
        self.gaps_ = worst_gaps(paths)
        self.seconds_ = np.array(
            [[sum(s.seconds for s in at_C) for at_C in zip(*fold, strict=True)] for fold in paths]
        )
        if best is not None:
            self.C_ = Cs[best]
        self.n_iter_ = max(s.steps for fold in paths for path in fold for s in path)
        return best

    def _refit(
        self,
        rows: Rows,
        labels: Labels,
        warm: list[Point],
        options: FitOptions,
        clock: Clock,
        flag: StopFlag,
    ) -> list[Solution]:
        """Fit all rows with the best C, from the first fold's solution, and store the model."""
        began = time.perf_counter()
        objective = replace(options.objective, C=self.C_)
        seconds = clock.share()
        stop = replace(options.stop, seconds=seconds)
        numbers = range(labels.n_problems)
        names = [labels.classes[labels.positive_class(number)] for number in numbers]
        with refit_display(self, names, GAP) as listeners:
            plan = Plan(options.solver, stop, options.seed, options.threads, listeners)
            solutions = solve_one_vs_rest(rows, labels, objective, warm, plan, flag)
        machine = self._fitted_machine(self.C_, solutions, labels)
        machine.data_fingerprint_ = data_fingerprint(rows, labels)
        self._adopt(machine)
        self.n_iter_ = max(self.n_iter_, machine.n_iter_)
        if not flag:
            own = replace(options, objective=objective)
            machine._warn_unless_solved(own, rows, labels, time.perf_counter() - began)
        return solutions

    def _adopt(self, machine: LinearSVC) -> None:
        """Take the model of all rows with the best C for one's own."""
        self.best_estimator_ = machine
        for name in _OF_THE_MODEL:
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))

    def _warn_of_folds(self, options: FitOptions, paths: Paths, Cs: list[float]) -> None:
        """Say how many fits of the folds have not reached ``tol``, and at which C."""
        fits = [(s, C) for fold in paths for path in fold for s, C in zip(path, Cs, strict=True)]
        unsolved = [(s, C) for s, C in fits if falling_short([s], options.stop.gap)]
        if not unsolved:
            return
        least = min(C for _, C in unsolved)
        worst = max(s.certificate.relative_gap for s, _ in unsolved)
        is_late = any(s.status is Status.TIME_LIMIT for s, _ in unsolved)
        remedy = "Raise time_limit, scale" if is_late else "Scale"
        message = (
            f"{len(unsolved)} of the {len(fits)} fits of LinearSVCCV's folds have not reached "
            f"tol={options.stop.gap:g}, from C={least:g} on; the worst has a relative gap of "
            f"{worst:.2g} (see gaps_). {remedy} the features, leave out the largest Cs, raise "
            "max_iter or loosen tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
