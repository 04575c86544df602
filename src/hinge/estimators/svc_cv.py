"""Support vector classification with kernels that chooses C, and gamma, by cross-validation."""

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
from hinge.estimators._data import training_data
from hinge.estimators._fold_display import refit_display, shown_steps
from hinge.estimators._folds import Fold, FoldEvent, make_folds
from hinge.estimators._grouped_folds import GroupedFolds
from hinge.estimators._kernel_folds import FoldFits, Grid, KernelFolds
from hinge.estimators._kernel_model import KernelClassifier, machine_of
from hinge.estimators._kernel_options import kernel_options, problems_at_once, solver_of
from hinge.estimators._listening import interruption
from hinge.estimators._measure import ScoredAsChosen, measured
from hinge.estimators._options import FitOptions
from hinge.estimators._progress import VIOLATION
from hinge.estimators._scoring import folds_interruption, no_score, spread_values
from hinge.estimators.svc import SVC, machine_attributes, resolved_options
from hinge.kernels import Kernel
from hinge.multiclass import ClassPairs, Plan, solve_one_vs_one
from hinge.multiclass.votes import winners
from hinge.result import Certificate, Solution
from hinge.rows import Rows
from hinge.solvers import Solver, StopFlag, listening
from hinge.solvers.arguments import values_of_gamma

Floats = NDArray[np.float64]

_OF_THE_MODEL = (
    *("support_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "kernel_"),
    *("solution_", "certificate_", "solutions_", "certificates_", "fit_status_", "n_iter_"),
    *("class_weight_", "probA_", "probB_", "shape_fit_", "_gamma", "data_fingerprint_"),
)


class SVCCV(GroupedFolds, ScoredAsChosen, KernelClassifier):
    """Support vector classification with kernels, with C and gamma chosen by cross-validation.

    Every fold walks the values of C from small to large for every gamma, each solved from its
    neighbour with the kernel values that are there already, and each certified. Folds of a pair of
    classes share kernel values, too, where the kernel matrix finds room in ``cache_size`` and each
    trains on most of the rows. The model is then fitted to all rows with the best pair.

    Parameters
    ----------
    Cs : int or list of float, default=10
        Values of C, each greater than 0; a number is so many values from 1e-4 to 1e4, evenly
        spaced on a logarithmic scale.
    gammas : list of float or None, default=None
        Values of gamma, none negative; None is what ``gamma`` says. The rules ``"scale"`` and
        ``"auto"`` look at all rows, those that a fold holds out included.
    cv : int, splitter, iterable of splits or None, default=None
        How to divide the rows, as in scikit-learn; None is 5 stratified folds.
    scoring : str, callable or None, default=None
        What to maximise; None is accuracy. Any other needs a copy of the held-out rows.
    refit : bool, default=True
        Whether to fit all rows with the best values. Without it there are scores, ``C_`` and
        ``gamma_``, but no model to predict with.
    kernel : str, Kernel or callable, default="rbf"
        The kernel, as for :class:`SVC`.
    degree : int, default=3
        Degree of ``"poly"``.
    gamma : float or {"scale", "auto"}, default="scale"
        Factor of the kernel where ``gammas`` is None.
    coef0 : float, default=0.0
        Constant of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out until the end.
    tol : float, default=1e-3
        Violation of the optimality conditions that every fit has to reach.
    cache_size : float, default=200
        Memory for kernel rows, in megabytes, for all threads together.
    class_weight : dict or "balanced" or None, default=None
        Factor of C for each class; ``"balanced"`` counts the rows that a fold trains on.
    max_iter : int, default=-1
        Limit on the solver's steps of each fit; -1 is none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes, one decision value per class, or one per pair of classes.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the solver; None is 0. It does not divide the rows: give ``cv`` a splitter with a
        seed for that.
    loss : {"hinge", "squared_hinge", "huber"}, default="hinge"
        Loss of a margin.
    solver : str or Solver, default="auto"
        Name of a solver for kernels, or a configured one from ``hinge.solvers``.
    verbose : bool or int, default=False
        Above 0, show progress on stderr: lines for the folds, and the fit of all rows as
        :class:`SVC` does.
    n_jobs : int or None, default=None
        Threads, which share out pairs of classes, or the work on one; -1 is every core. The
        result has the same bits for any number.
    time_limit : float or None, default=None
        Limit in seconds on the whole fit, greater than 0, in equal parts for folds and refit.
    callback : callable or None, default=None
        Called with a ``FoldEvent`` after every step of a fold's fit, on the thread that called
        ``fit``; if it returns True, cross-validation ends as by Ctrl-C.

    Attributes
    ----------
    C_ : float
        The C of the best mean score; of equal ones, the smallest, and then the smallest gamma.
    gamma_ : float or None
        The gamma of the best mean score; None without ``gammas``.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, in the order given.
    gammas_ : ndarray of shape (n_gammas,) or None
        The values of gamma, in the order given.
    scores_ : ndarray of shape (n_folds, n_Cs) or (n_folds, n_gammas, n_Cs)
        The score of every fold for every value, with ``gammas`` for every pair of values; NaN
        where an interruption came before its fit was done.
    gaps_, violations_, seconds_ : ndarray of the same shape
        Relative gap and violation that are proven of each of these fits, the largest of its pairs
        of classes, and the time of all of them.
    best_estimator_ : SVC
        The model of all rows with the best values, whose fitted attributes are here as well.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had any that are all strings.

    See Also
    --------
    SVC : The same for one value of C and gamma.
    path : The path of a binary problem, without cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.01, 0.1]).fit(X, y)
    >>> model.scores_.shape, bool(model.violations_.max() <= 1e-3)
    ((5, 2, 3), True)
    """

    C_: float
    gamma_: float | None
    Cs_: Floats
    gammas_: Floats | None
    scores_: Floats
    gaps_: Floats
    violations_: Floats
    seconds_: Floats
    best_estimator_: SVC
    solution_: Solution
    certificate_: Certificate
    solutions_: list[Solution]
    n_features_in_: int

    def __init__(
        self,
        Cs: int | ArrayLike = 10,
        *,
        gammas: ArrayLike | None = None,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        random_state: Any = None,
        loss: str = "hinge",
        solver: str | Solver = "auto",
        verbose: bool | int = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[FoldEvent], Any] | None = None,
    ) -> None:
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.random_state = random_state
        self.loss = loss
        self.solver = solver
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
    ) -> SVCCV:
        """Choose C, and gamma, by cross-validation and fit all rows with them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels of any kind that can be put in order.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; weight 0 is a row that is absent, weight 2 a row that is there twice.
        groups : array-like of shape (n_samples,) or None, default=None
            The group of every row, for a splitter that keeps groups together, such as
            ``GroupKFold``. With scikit-learn's metadata routing, ``cv`` must request them.

        Returns
        -------
        SVCCV
            The fitted estimator.

        Raises
        ------
        Interrupted
            On Ctrl-C. During cross-validation the scores of the fits that were done are stored,
            and no model; while all rows are fitted, the best model found so far is.
        """
        began = time.perf_counter()
        grid = Grid(
            spread_values(self.Cs), None if self.gammas is None else values_of_gamma(self.gammas)
        )
        refit = boolean("refit", self.refit)
        callback = shown_steps(self, VIOLATION, checked_callback(self.callback))
        options = kernel_options(self._machine(grid.Cs[0]))
        rows, labels = training_data(self, X, y, sample_weight)
        pairs = ClassPairs(labels)
        sizes = [pairs.size(number) for number in range(len(pairs))]
        at_once = problems_at_once(self, sizes, rows)
        machine = self._machine(grid.Cs[0])
        options = replace(resolved_options(options, rows), solver=solver_of(machine, at_once))
        grid.objective(options.objective, 0, 0)  # refuses gammas for a kernel that has none
        given = self._split_arguments(groups)
        folds = make_folds(self.cv, X, labels, self.class_weight, given)
        work = KernelFolds(rows, labels, folds, grid, options, at_once)
        n_tasks = (len(folds) * grid.shape[0] + refit) * len(pairs)
        clock = Clock(options.stop.seconds, n_tasks, work.workers)
        self._begin(labels.classes, (len(folds), *grid.shape))
        with listening() as flag:
            for gamma in range(grid.shape[0]):
                for number, fits in enumerate(work.fit(gamma, clock, flag, callback)):
                    self._note((number, gamma), fits)
                    self._score((number, gamma), X, rows, folds[number], grid, fits, options)
                if flag:
                    break
            self._shape_results(grid)
            if flag:
                raise folds_interruption(began, self.scores_)
            best = self._choose(grid)
            self._warn_of_folds(options)
            if refit:
                stop = replace(options.stop, seconds=clock.share())
                plan = Plan(options.solver, stop, options.seed, options.threads, at_once=at_once)
                solutions = self._refit(rows, pairs, grid, best, options, plan, flag)
        if flag:
            raise interruption(began, solutions)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def _machine(self, C: float, gamma: float | None = None) -> SVC:
        """Return the unfitted estimator of one C and gamma."""
        own = self.get_params(deep=False)
        shared = (SVC().get_params(deep=False).keys() & own.keys()) - {"callback"}
        given = {name: own[name] for name in shared}
        if gamma is not None and isinstance(self.kernel, str):
            given["gamma"] = gamma
        return SVC(C=C, **given)

    def _begin(self, classes: NDArray[Any], shape: tuple[int, ...]) -> None:
        """Drop what an earlier fit has left, which would not belong to this one, and begin anew."""
        for name in ("C_", "gamma_", "best_estimator_", "_results", *_OF_THE_MODEL):
            self.__dict__.pop(name, None)
        self.classes_ = classes
        self.scores_ = np.full(shape, np.nan)
        self.gaps_, self.violations_ = np.full(shape, np.inf), np.full(shape, np.inf)
        self.seconds_ = np.zeros(shape)

    def _note(self, place: tuple[int, int], fits: FoldFits) -> None:
        """Store what is proven of the fits of a fold with one gamma."""
        for C in range(self.scores_.shape[-1]):
            cell = fits.cell(C)
            self.gaps_[place][C] = max(s.certificate.relative_gap for s in cell)
            self.violations_[place][C] = max(s.certificate.kkt for s in cell)
            self.seconds_[place][C] = sum(s.seconds for s in cell)

    def _score(
        self,
        place: tuple[int, int],
        X: Any,
        rows: Rows,
        fold: Fold,
        grid: Grid,
        fits: FoldFits,
        options: FitOptions,
    ) -> None:
        """Score the fits of a fold with one gamma on the rows that it holds out."""
        held_out = rows.take(fold.test)
        codes = fold.labels.codes[fold.test]
        for C in range(len(grid.Cs)):
            if not fits.is_done(C):
                continue
            own = replace(options, objective=grid.objective(options.objective, place[1], C))
            machine = self._fitted(fits, C, rows, own)
            if self.scoring is None:
                values = machine_of(machine).values(held_out, options.threads)
                hits = winners(values, len(self.classes_)) == codes
                self.scores_[place][C] = np.average(hits, weights=fold.test_weight)
                continue
            some, truth = _safe_indexing(X, fold.test), self.classes_[codes]
            score = measured(machine, self.scoring, some, truth, fold.test_weight)
            self.scores_[place][C] = score

    def _fitted(self, fits: FoldFits, C: int, rows: Rows, options: FitOptions) -> SVC:
        """Return the estimator of one C of a fold."""
        machine = self._machine(options.objective.C)
        points = fits.points(C)
        for name, value in machine_attributes(points, fits.pairs, rows, options).items():
            setattr(machine, name, value)
        self._name_features(machine)
        return machine

    def _name_features(self, machine: SVC) -> None:
        machine.n_features_in_ = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            machine.feature_names_in_ = self.feature_names_in_

    def _shape_results(self, grid: Grid) -> None:
        """Set the values, and drop the axis of gamma where there is only the kernel's own."""
        self.Cs_ = np.array(grid.Cs)
        self.gammas_ = None if grid.gammas is None else np.array(grid.gammas)
        if grid.gammas is None:
            for name in ("scores_", "gaps_", "violations_", "seconds_"):
                setattr(self, name, getattr(self, name)[:, 0, :])

    def _choose(self, grid: Grid) -> tuple[int, int]:
        """Set and return the position of the best gamma and C."""
        with np.errstate(invalid="ignore", over="ignore"):
            means = self.scores_.mean(axis=0).reshape(grid.shape)
        gammas = grid.gammas or [0.0]
        finite = [place for place in np.ndindex(*grid.shape) if np.isfinite(means[place])]
        if not finite:
            raise no_score(self.scoring)
        best = min(finite, key=lambda place: (-means[place], grid.Cs[place[1]], gammas[place[0]]))
        self.C_ = grid.Cs[best[1]]
        self.gamma_ = None if grid.gammas is None else grid.gammas[best[0]]
        return best[0], best[1]

    def _refit(
        self,
        rows: Rows,
        pairs: ClassPairs,
        grid: Grid,
        best: tuple[int, int],
        options: FitOptions,
        plan: Plan,
        flag: StopFlag,
    ) -> list[Solution]:
        """Fit all rows with the best values and store the model."""
        began = time.perf_counter()
        own = replace(options, objective=grid.objective(options.objective, *best))
        warm = [None] * len(pairs)
        names = [pairs.label(number) for number in range(len(pairs))]
        with refit_display(self, names, VIOLATION) as listeners:
            shown = replace(plan, listeners=listeners)
            solutions = solve_one_vs_one(rows, pairs, own.objective, warm, shown, flag)
        machine = self._machine(self.C_, self.gamma_)
        machine.approximations_ = None
        machine._store(solutions, pairs, rows, own)
        self._name_features(machine)
        self.best_estimator_ = machine
        for name in _OF_THE_MODEL:
            setattr(self, name, getattr(machine, name))
        if not flag:
            machine._warn_unless_solved(own, rows, pairs, time.perf_counter() - began)
        return solutions

    def _warn_of_folds(self, options: FitOptions) -> None:
        """Say how many fits of the folds have not reached ``tol``."""
        tolerance = options.stop.kkt
        late = self.violations_ > (tolerance or np.inf)
        if not late.any():
            return
        message = (
            f"{np.count_nonzero(late)} of the {late.size} fits of SVCCV's folds have not reached "
            f"tol={tolerance:g}; the worst has a violation of {np.max(self.violations_):.2g} (see "
            "violations_). Scale the features, leave out the largest Cs, raise max_iter or "
            "time_limit, or loosen tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
