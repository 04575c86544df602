"""Linear support vector classification, with a certificate."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from hinge.estimators._callbacks import (
    WRAPPED_FRAMES,
    CallbackSupportMixin,
    ClassEvent,
    linear_attributes,
    with_callbacks,
)
from hinge.estimators._convergence import convergence_message
from hinge.estimators._data import training_data
from hinge.estimators._hard_margin import refuse_not_separable
from hinge.estimators._linear_model import LinearClassifier, scores
from hinge.estimators._listening import fit_listeners, fit_plan, interruption
from hinge.estimators._options import FitOptions, linear_options
from hinge.estimators._progress import GAP
from hinge.multiclass import Labels, data_fingerprint, solve_one_vs_rest
from hinge.problem import Intercept
from hinge.result import Certificate, Point, Solution
from hinge.rows import Rows
from hinge.solvers import Solver, listening


class LinearSVC(CallbackSupportMixin, LinearClassifier):
    r"""Linear support vector classification that says how close to the optimum it is.

    Takes the parameters of scikit-learn's ``LinearSVC`` and minimises the same objective for the
    same arguments; see Notes for it and for the four parameters whose meaning differs.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
        Norm of the weights; ``"l1"`` is not in this version and raises an error that says so.
    loss : {"hinge", "squared_hinge", "huber"}, default="squared_hinge"
        Loss of a margin; ``"huber"`` is a hinge with a rounded corner, which scikit-learn lacks.
    dual : bool or "auto", default="auto"
        Accepted for scikit-learn's sake. It has no effect: the optimum is the same for any value,
        and every combination with ``loss`` is solved.
    tol : float, default=1e-4
        Relative duality gap to reach, at least 0. With 0, go on until nothing moves beyond
        rounding, and do not warn.
    C : float, default=1.0
        Weight of the losses, greater than 0; a larger one regularises less. Infinity is the hard
        margin: every row on its side, or an error that proves that this cannot be.
    multi_class : {"ovr"}, default="ovr"
        One class against the rest; ``"crammer_singer"`` is not in this version.
    fit_intercept : bool, default=True
        Whether the decision function has an intercept.
    intercept_scaling : float, default=1
        Value of the constant feature whose weight makes the intercept, greater than 0; a larger
        one regularises the intercept less. Not used with ``intercept="free"``.
    class_weight : dict or "balanced" or None, default=None
        Factor of C for each class; ``"balanced"`` makes every class count the same in total.
    verbose : int, default=0
        Above 0, show progress on stderr: as a bar if ``rich`` is installed, else as lines.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the order in which rows are visited; None is 0, so that fits repeat.
    max_iter : int, default=1000
        Limit on the solver's steps for each class, at least 0: for coordinate descent these are
        sweeps over the rows that are still active, which beyond the first 100 count by their work,
        in sweeps over all rows. With ``"auto"`` steps of the interior point and of Newton's method
        count as well, where they go on from there.
    solver : str or Solver, default="auto"
        Name of a solver, or a configured one from ``hinge.solvers``.
    intercept : {"free", "none"} or None, default=None
        None is scikit-learn's intercept, the weight of a constant feature and regularised with
        the others; ``"free"`` is not regularised; ``"none"`` leaves it out.
    warm_start : bool, default=False
        Start from the dual coefficients of the last fit if rows and classes are as many.
    n_jobs : int or None, default=None
        Threads; None is 1 unless a joblib context says otherwise, -1 is every core. The result
        has the same bits for any number.
    time_limit : float or None, default=None
        Limit in seconds on the whole fit, greater than 0; the last certificates come on top.
    callback : callable or None, default=None
        Called with a ``ClassEvent`` after every step of the solver, on the thread that called
        ``fit``; if it returns True the fit ends there, without a warning. A
        ``hinge.models.Checkpoint`` can be given, to go on with a fit that was cut short.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights.
    intercept_ : ndarray of shape (1,) or (n_classes,), or float
        Intercepts; the number 0.0 if there is no intercept.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    solution_ : Solution
        The solution; of several the one with the largest relative gap.
    certificate_ : Certificate
        Its certificate: primal, dual, gap, relative gap and what follows from them, and the
        status of its run.
    solutions_ : list of Solution
        The solution of every binary problem.
    certificates_ : list of Certificate
        Their certificates.
    n_iter_ : int
        How much of what ``max_iter`` limits was done; of several problems, the most.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had any that are all strings.
    data_fingerprint_ : str
        What tells whether other rows, labels and weights are those of the fit.

    See Also
    --------
    solve : The same for a binary problem, without the estimator.
    compare : Which of two fitted models is closer to the optimum.

    Notes
    -----
    For two classes, with labels :math:`y_i = \pm 1` and weights :math:`s_i` (sample weight times
    class weight), it minimises

    .. math:: \tfrac12 \|w\|^2 + \tfrac12 u^2 + C \sum_i s_i\, \ell(y_i (w'x_i + b)),
              \qquad b = u \cdot \text{intercept\_scaling},

    with :math:`\ell(z) = \max(0, 1-z)` or its square. With ``intercept="free"`` the term
    :math:`u^2` is absent. With more than two classes there is one such problem per class; the
    class weight then multiplies the rows of the positive class only, as in LIBLINEAR.

    Unlike scikit-learn's, ``tol`` is a proven gap, ``max_iter`` counts late sweeps by their work
    and steps of other methods, ``dual`` has no effect, and ``random_state=None`` is a fixed seed.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> model = LinearSVC().fit(X, y)
    >>> print(model.predict([[0.0, 0.0, 0.0, 0.0]]))
    [1]
    >>> bool(model.certificate_.relative_gap <= 1e-4)
    True
    """

    solution_: Solution
    certificate_: Certificate
    solutions_: list[Solution]
    n_iter_: int
    n_features_in_: int
    data_fingerprint_: str

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: str | Solver = "auto",
        intercept: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[ClassEvent], Any] | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.solver = solver
        self.intercept = intercept
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> LinearSVC:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. C-contiguous float32 and float64 arrays and canonical CSR matrices are used
            in place, without a copy.
        y : array-like of shape (n_samples,)
            Labels of any kind that can be put in order.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; weight 0 is a row that is absent, weight 2 a row that is there twice.

        Returns
        -------
        LinearSVC
            The fitted estimator.

        Raises
        ------
        Interrupted
            On Ctrl-C, after the best model found so far has been stored in the estimator.
        NotSeparableError
            If C is infinite and no hyperplane separates a class from the rest, exactly or beyond
            rounding; nothing is stored.
        """
        began = time.perf_counter()
        options = linear_options(self)
        rows, labels = training_data(self, X, y, sample_weight)
        arguments = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        warm = self._warm_points(rows, labels)
        count = labels.n_problems
        names = [labels.classes[labels.positive_class(number)] for number in range(count)]
        has_intercept = options.objective.intercept is not Intercept.NONE

        def attributes(points: dict[int, Point]) -> dict[str, Any]:
            fitted = linear_attributes(points, count, rows.n_features, has_intercept)
            return {**fitted, "classes_": labels.classes}

        with ExitStack() as stack:
            listeners = fit_listeners(stack, self, names, GAP, arguments, attributes)
            plan = fit_plan(options, began, listeners, self.callback)
            flag = stack.enter_context(listening())
            solutions = solve_one_vs_rest(rows, labels, options.objective, warm, plan, flag)
            refuse_not_separable(solutions, labels)
            self._store(solutions, labels, options.objective.intercept)
            self.data_fingerprint_ = data_fingerprint(rows, labels)
            self.__dict__.pop("index_base_", None)  # of the file that an earlier fit was of
        if flag:
            raise interruption(began, solutions)
        self._warn_unless_solved(options, rows, labels, time.perf_counter() - began)
        return self

    def _warm_points(self, rows: Rows, labels: Labels) -> list[Point | None]:
        """Return where to start each problem: at the last fit's points, if they fit."""
        before = getattr(self, "solutions_", None) if self.warm_start else None
        fits = (
            before is not None
            and len(before) == labels.n_problems
            and np.array_equal(self.classes_, labels.classes)
            and before[0].coef.shape == (rows.n_features,)
        )
        if before is None or not fits:
            return [None] * labels.n_problems
        return [_fitting(solution.point, rows.n_rows) for solution in before]

    def _store(self, solutions: list[Solution], labels: Labels, intercept: Intercept) -> None:
        """Set the fitted attributes; the solutions hold none of the training data."""
        self.classes_ = labels.classes
        self.solutions_ = solutions
        self.certificates_ = [solution.certificate for solution in solutions]
        gaps = [certificate.relative_gap for certificate in self.certificates_]
        worst = int(np.argmax([math.inf if math.isnan(gap) else gap for gap in gaps]))
        self.solution_ = solutions[worst]
        self.certificate_ = self.certificates_[worst]
        self.n_iter_ = max(solution.steps for solution in solutions)
        points = dict(enumerate(solution.point for solution in solutions))
        shape = (len(solutions), len(solutions[0].coef))
        fitted = linear_attributes(points, *shape, intercept is not Intercept.NONE)
        self.coef_: NDArray[np.float64] = fitted["coef_"]
        self.intercept_ = fitted["intercept_"]

    def _warn_unless_solved(
        self, options: FitOptions, rows: Rows, labels: Labels, seconds: float
    ) -> None:
        message = convergence_message(
            self.solutions_,
            (rows, labels),
            options.objective,
            options.stop,
            lambda: scores(rows, self.coef_, self.intercept_),
            seconds,
        )
        if message is not None:
            warnings.warn(message, ConvergenceWarning, stacklevel=3 + WRAPPED_FRAMES)


def _fitting(point: Point, n_rows: int) -> Point:
    """Return the point, without dual coefficients if they are of another number of rows."""
    if point.dual_coef is not None and point.dual_coef.shape != (n_rows,):
        return replace(point, dual_coef=None)
    return point
