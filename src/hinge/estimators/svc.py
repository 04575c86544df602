"""Support vector classification with kernels, with a certificate."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from hinge.estimators._approximation import (
    approximate,
    approximation_message,
    approximation_target,
    plan_of_rest,
)
from hinge.estimators._calibration import Calibrator, warn_of_deprecation
from hinge.estimators._callbacks import (
    WRAPPED_FRAMES,
    CallbackSupportMixin,
    ClassEvent,
    with_callbacks,
)
from hinge.estimators._data import training_data
from hinge.estimators._division import Division, division_of, solve_division
from hinge.estimators._kernel_convergence import kernel_convergence_message
from hinge.estimators._kernel_machine import is_against_rest, support_of
from hinge.estimators._kernel_model import KernelClassifier
from hinge.estimators._kernel_options import (
    kernel_options,
    problems_at_once,
    solver_of,
    wants_probability,
)
from hinge.estimators._listening import fit_listeners, fit_plan, interruption
from hinge.estimators._options import FitOptions
from hinge.estimators._progress import VIOLATION
from hinge.estimators._sparse_form import as_scikit_learn_has_it
from hinge.kernels import Kernel, Precomputed
from hinge.multiclass import Approximation, ClassPairs, data_fingerprint
from hinge.result import Certificate, Point, Solution, Status
from hinge.rows import Rows
from hinge.solvers import Solver, listening


class SVC(CallbackSupportMixin, KernelClassifier):
    r"""Support vector classification with kernels that says how close to the optimum it is.

    Takes the parameters of scikit-learn's ``SVC``, minimises the same objectives for the same
    arguments and stops by the same rule; see Notes for where the two differ.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses, greater than 0; a larger one regularises less.
    kernel : str, Kernel or callable, default="rbf"
        ``"linear"``, ``"poly"``, ``"rbf"``, ``"sigmoid"``, ``"laplacian"``, ``"chi2"`` or
        ``"precomputed"``; an object of :mod:`hinge.kernels`, which has its own parameters; or a
        function of two arrays of rows that returns their kernel values.
    degree : int, default=3
        Degree of ``"poly"``.
    gamma : float or {"scale", "auto"}, default="scale"
        Factor of ``"rbf"``, ``"poly"``, ``"sigmoid"``, ``"laplacian"`` and ``"chi2"``, not
        negative. ``"scale"`` is one over the number of features times the variance of X,
        ``"auto"`` one over the number of features; for ``"chi2"`` both are 1.
    coef0 : float, default=0.0
        Constant of ``"poly"`` and ``"sigmoid"``.
    shrinking : bool, default=True
        Whether rows that cannot move for now are left out until the end.
    probability : bool, default=False
        Whether to calibrate, for ``predict_proba``. Deprecated in scikit-learn 1.9, and here as
        long as scikit-learn has it.
    tol : float, default=1e-3
        Violation of the optimality conditions to reach, as in scikit-learn, at least 0. With 0,
        go on until nothing moves beyond rounding, and do not warn.
    cache_size : float, default=200
        Memory for kernel rows and matrices, in megabytes, for all threads together. A fit takes a
        tenth more at the most, and the data once more, from 20 on and unless 200 bytes for each
        row are more than a tenth and half of it; the first one of a process some 5 MB besides.
    class_weight : dict or "balanced" or None, default=None
        Factor of C for each class; ``"balanced"`` makes every class count the same in total.
    verbose : bool or int, default=False
        Above 0, show progress on stderr: as a bar if ``rich`` is installed, else as lines.
    max_iter : int, default=-1
        Limit on the solver's steps for each machine; -1 is none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        With more than two classes, one decision value per class, or one per pair of classes.
    break_ties : bool, default=False
        Accepted for scikit-learn's sake. It has no effect: ties between classes are always
        broken by the decision values.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds of ``probability``; None is 0, so that fits repeat.
    multiclass : {"ovo", "ovr"}, default="ovo"
        With more than two classes, a machine for every pair of them, as in scikit-learn, or one
        for every class against the rest, all over the same kernel rows. The latter has no decision
        values of pairs and takes no ``approximation``.
    loss : {"hinge", "squared_hinge", "huber"}, default="hinge"
        Loss of a margin; scikit-learn has the first one only.
    solver : str or Solver, default="auto"
        Name of a solver for kernels, or a configured one from ``hinge.solvers``.
    approximation : int, float or None, default=None
        None trains on the exact kernel matrix. An integer is the rank of a matrix that stands for
        it; a number between 0 and 1 is the share of its trace that may be missing (from 100,000
        rows on, a twentieth of that where coefficients are). Training then takes a fraction of the
        time, ``tol`` is the relative gap of the approximate problem, and ``approximations_`` says
        what was lost.
    exact_finish : bool, default=False
        Whether to go on from the approximation to ``tol`` on the exact problem.
    warm_start : bool, default=False
        Start from the dual coefficients of the last fit if rows and classes are as many.
    n_jobs : int or None, default=None
        Threads, which share out pairs of classes, or the work on one machine; None is 1 unless a
        joblib context says otherwise, -1 is every core. The result has the same bits for any
        number.
    time_limit : float or None, default=None
        Limit in seconds on the whole fit, greater than 0. Time for the last certificates is set
        aside, as much as they are forecast to take. It is for the calibration of probabilities,
        too: without time for it they are cruder, which a ``ConvergenceWarning`` says.
    callback : callable or None, default=None
        Called with a ``ClassEvent`` after every step of the solver, on the thread that called
        ``fit``; if it returns True the fit ends there, without a warning. Its ``label`` is the
        pair of classes, the class against the rest, or the second one if there are only two.

    Attributes
    ----------
    support_ : ndarray of int32 of shape (n_SV,)
        Numbers of the rows that are support vectors, in the order of their classes.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors, as they were given; empty for ``kernel="precomputed"``.
    n_support_ : ndarray of int32 of shape (n_classes,)
        How many support vectors each class has.
    dual_coef_ : ndarray or sparse matrix of shape (n_classes - 1, n_SV) or (n_classes, n_SV)
        Coefficients of the support vectors times their signs, laid out as in scikit-learn. With
        ``multiclass="ovr"`` and three or more classes, row k has those of the machine of class k,
        zero where a support vector is only another's, positive for rows of the class.
    intercept_ : ndarray of shape (n_machines,)
        Intercepts, one for each pair of classes, or with ``multiclass="ovr"`` for each class.
    coef_ : ndarray or sparse matrix of shape (n_machines, n_features)
        Weights of the features, if the kernel is linear.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of C.
    kernel_ : Kernel
        The kernel with every parameter a number.
    solution_ : Solution
        The solution; of several the one with the largest relative gap.
    certificate_ : Certificate
        Its certificate: primal, dual, gap, relative gap, violation and what follows from them.
    solutions_ : list of Solution
        The solution of every machine: of each pair of classes, or of each class.
    certificates_ : list of Certificate
        Their certificates.
    approximations_ : list of Approximation or None
        With ``approximation``, for every pair of classes: rank and trace error, the certificate of
        the approximate problem (``certificate``) and that of the exact one (``exact``), which
        ``certificates_`` has as well, and whether ``time_limit`` has cut the factor short
        (``is_cut_short``); None for a pair that was never begun. Support vectors are
        then the rows that span the approximation, and ``dual_coef_`` are their coefficients, of
        either sign. None without ``approximation``.
    fit_status_ : int
        0 if every machine has reached ``tol``, else 1.
    n_iter_ : ndarray of int32 of shape (n_machines,)
        Steps of the solver for each machine.
    probA_, probB_ : ndarray of shape (n_machines,)
        What ``predict_proba`` is made of, as in scikit-learn; empty without ``probability``.
    shape_fit_ : tuple of int
        Shape of X.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had any that are all strings.
    data_fingerprint_ : str
        What tells whether other rows, labels and weights are those of the fit.

    See Also
    --------
    SVCCV : Chooses C, and gamma, by cross-validation.
    LinearSVC : For linear machines of many rows.
    solve : The same for a binary problem, without the estimator.

    Notes
    -----
    For two classes, with labels :math:`y_i = \pm 1` and weights :math:`s_i` (sample weight times
    class weight), it minimises

    .. math:: \tfrac12 \|w\|^2 + C \sum_i s_i\, \ell(y_i (w'\phi(x_i) + b))

    with the images :math:`\phi` of the kernel and :math:`\ell(z) = \max(0, 1-z)`. More classes
    make one such problem for every pair of them, or for every class against the rest; there
    the weight of a class counts where it is the positive one, as in :class:`LinearSVC`.

    Unlike scikit-learn's, ``max_iter`` counts steps of another method, ``break_ties`` has no
    effect, ``random_state=None`` is a fixed seed, and ``class_weight="balanced"`` counts rows by
    their sample weight. The rule of ``gamma="scale"`` counts every row once, as scikit-learn's.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10.0).fit(X, y)
    >>> print(model.predict([[5.0, 3.5, 1.5, 0.2]]), model.n_support_.shape)
    [0] (3,)
    >>> bool(model.certificate_.kkt <= 1e-3)
    True
    """

    kernel_: Kernel
    solution_: Solution
    certificate_: Certificate
    solutions_: list[Solution]
    certificates_: list[Certificate]
    class_weight_: NDArray[np.float64]
    fit_status_: int
    approximations_: list[Approximation | None] | None
    n_iter_: NDArray[np.int32]
    n_features_in_: int
    shape_fit_: tuple[int, int]
    data_fingerprint_: str

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multiclass: str = "ovo",
        loss: str = "hinge",
        solver: str | Solver = "auto",
        approximation: float | None = None,
        exact_finish: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        time_limit: float | None = None,
        callback: Callable[[ClassEvent], Any] | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multiclass = multiclass
        self.loss = loss
        self.solver = solver
        self.approximation = approximation
        self.exact_finish = exact_finish
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.callback = callback

    @with_callbacks
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> SVC:
        """Fit the model and certify it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` the kernel matrix. C-contiguous float32 and
            float64 arrays and canonical CSR matrices are used in place.
        y : array-like of shape (n_samples,)
            Labels of any kind that can be put in order.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Not negative; weight 0 is a row that is absent, weight 2 a row that is there twice.

        Returns
        -------
        SVC
            The fitted estimator.

        Raises
        ------
        Interrupted
            On Ctrl-C, after the best model found so far has been stored in the estimator; it has
            no probabilities.
        """
        began = time.perf_counter()
        options, target = kernel_options(self), approximation_target(self)
        wants = wants_probability(self)
        if wants:
            warn_of_deprecation(3 + WRAPPED_FRAMES)
        rows, labels = training_data(self, X, y, sample_weight)
        division = division_of(self, labels)
        sizes = [division.size(number) for number in range(len(division))]
        at_once = problems_at_once(self, sizes, rows) if division.is_of_pairs else 1
        options = replace(resolved_options(options, rows), solver=solver_of(self, at_once, sizes))
        warm = self._warm_points(division, options.objective.C)
        arguments = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
        names = [division.label(number) for number in range(len(division))]

        def attributes(points: Mapping[int, Point]) -> dict[str, Any]:
            return machine_attributes(points, division, rows, options)

        with ExitStack() as stack:
            listeners = fit_listeners(stack, self, names, VIOLATION, arguments, attributes)
            plan = fit_plan(options, began, listeners, self.callback)
            flag = stack.enter_context(listening())
            calibrator = None
            plan = replace(plan, at_once=at_once)
            if wants:
                limit = math.inf if options.stop.seconds is None else options.stop.seconds
                unit = "pairs of classes" if division.is_of_pairs else "classes"
                calibrator = Calibrator(options.seed, len(division), flag, began + limit, unit)
                finish, finish_pairs = calibrator.finish, calibrator.finish_pairs
                plan = replace(plan, finish=finish, finish_pairs=finish_pairs)
            self.approximations_ = None
            if target is not None and isinstance(division, ClassPairs):
                fits = approximate(rows, division, options, target, plan, flag, self.exact_finish)
                solutions, self.approximations_ = fits.solve(), fits.approximations
                warm = [solution.point for solution in solutions]
                plan = plan_of_rest(plan, began)
            if target is None or (self.exact_finish and not flag):
                solutions = solve_division(rows, division, options.objective, warm, plan, flag)
                self.approximations_ = None
            self._store(solutions, division, rows, options)
            if calibrator is not None and not flag:
                self.probA_, self.probB_ = calibrator.parameters()
        if flag:
            raise interruption(began, solutions)
        self._warn_unless_solved(options, rows, division, time.perf_counter() - began)
        if calibrator is not None:
            calibrator.warn_if_late(self.time_limit, 3 + WRAPPED_FRAMES)
        return self

    def _warm_points(self, division: Division, C: float) -> list[Point | None]:
        """Return where to start each problem: at the last fit's points, if they fit."""
        before = getattr(self, "solutions_", None) if self.warm_start else None
        if (
            before is None
            or len(before) != len(division)
            or not np.array_equal(self.classes_, division.labels.classes)
            or is_against_rest(self.dual_coef_, len(self.classes_)) == division.is_of_pairs
        ):
            return [None] * len(division)
        factor = C / self._C_of_fit
        points: list[Point | None] = []
        for number, solution in enumerate(before):
            alpha = solution.point.dual_coef
            fits = alpha is not None and alpha.shape == (division.size(number),)
            points.append(replace(solution.point, dual_coef=factor * alpha) if fits else None)
        return points

    def _store(
        self, solutions: list[Solution], division: Division, rows: Rows, options: FitOptions
    ) -> None:
        """Set the fitted attributes; the solutions hold none of the training data."""
        labels = division.labels
        points = {number: solution.point for number, solution in enumerate(solutions)}
        for name, value in machine_attributes(points, division, rows, options).items():
            setattr(self, name, value)
        self.solutions_ = solutions
        self.certificates_ = [solution.certificate for solution in solutions]
        self.solution_ = worst_solution(solutions)
        self.certificate_ = self.solution_.certificate
        self.fit_status_ = int(any(s.status is not Status.SOLVED for s in solutions))
        self.n_iter_ = np.array([solution.steps for solution in solutions], dtype=np.int32)
        per_class = labels.class_weight
        self.class_weight_ = np.ones(len(labels.classes)) if per_class is None else per_class
        self.data_fingerprint_ = data_fingerprint(rows, labels)
        self._C_of_fit = options.objective.C

    def _warn_unless_solved(
        self, options: FitOptions, rows: Rows, division: Division, seconds: float
    ) -> None:
        if self.approximations_ is not None:
            message = approximation_message(self.solutions_, self.approximations_, options)
        else:
            message = kernel_convergence_message(self.solutions_, rows, division, options, seconds)
        if message is not None:
            warnings.warn(message, ConvergenceWarning, stacklevel=3 + WRAPPED_FRAMES)


def resolved_options(options: FitOptions, rows: Rows) -> FitOptions:
    """Return the options with every parameter of the kernel a number.

    Parameters
    ----------
    options : FitOptions
        Options whose gamma may be a rule.
    rows : Rows
        The training data, which a rule looks at.
    """
    kernel = options.objective.kernel
    assert kernel is not None
    return replace(options, objective=replace(options.objective, kernel=kernel.resolved(rows)))


def machine_attributes(
    points: Mapping[int, Point], division: Division, rows: Rows, options: FitOptions
) -> dict[str, Any]:
    """Return the fitted attributes that make an SVC predict with points.

    Parameters
    ----------
    points : mapping of int to Point
        The known points by the number of their problem.
    division : ClassPairs or ClassesAgainstRest
        The problems, with labels of the rows.
    rows : Rows
        The training data.
    options : FitOptions
        What the fit was asked to do.
    """
    found = support_of(points, division)
    kernel = options.objective.kernel
    is_matrix = isinstance(kernel, Precomputed)
    vectors = np.zeros((0, 0)) if is_matrix else rows.take(found.rows.astype(np.int64)).matrix
    if sp.issparse(vectors):
        vectors = as_scikit_learn_has_it(vectors)
    return {
        "classes_": division.labels.classes,
        "kernel_": kernel,
        "support_": found.rows,
        "support_vectors_": vectors,
        "n_support_": found.counts,
        "dual_coef_": _like_rows(found.dual_coef, rows),
        "intercept_": found.intercept,
        "probA_": np.zeros(0),
        "probB_": np.zeros(0),
        "shape_fit_": (rows.n_rows, rows.n_features),
        "_gamma": float(getattr(kernel, "gamma", 0.0)),
    }


def worst_solution(solutions: list[Solution]) -> Solution:
    """Return the solution of which least is proven.

    Parameters
    ----------
    solutions : list of Solution
        At least one.
    """

    def size(number: float) -> float:
        return math.inf if math.isnan(number) else number

    return max(solutions, key=lambda s: (size(s.certificate.relative_gap), size(s.certificate.kkt)))


def _like_rows(dual_coef: NDArray[np.float64], rows: Rows) -> Any:
    """Return coefficients as scikit-learn stores them: sparse where the rows are."""
    return as_scikit_learn_has_it(sp.csr_array(dual_coef)) if rows.is_sparse else dual_coef
