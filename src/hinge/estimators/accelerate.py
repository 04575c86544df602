"""``hinge.accelerate``: a fitted kernel machine as a predictor that proves its labels early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hinge.anytime import ORDERINGS, AnytimePredictor, Options, build
from hinge.errors import InvalidDataError
from hinge.estimators import _checks as check
from hinge.estimators._building import building_display
from hinge.estimators._scored_machines import ScoredMachine, scored_machine
from hinge.parameters import count
from hinge.rows import Rows


def accelerate(
    machine: Any,
    candidates: Any = None,
    queries: Any = None,
    *,
    ordering: str = "minwz",
    n_points: int = 512,
    reduced_set: int = 0,
    threshold: float = 0.0,
    random_state: Any = None,
    callback: Callable[[str, int, int], Any] | None = None,
    verbose: bool | int = False,
) -> AnytimePredictor:
    """Return a predictor with the machine's labels, proven before its evaluation is complete.

    Parameters
    ----------
    machine : object
        A fitted ``hinge.SVC`` or ``SVCCV``; scikit-learn's ``SVC``, ``NuSVC``, ``OneClassSVM``,
        ``OneVsRestClassifier`` of such machines with one kernel, or ``GaussianProcessRegressor``
        with an RBF kernel, whose label is whether the mean is at least ``threshold``; or a tuple
        ``(support_vectors, dual_coef, intercept, kernel)``, as of a kernel Fisher discriminant.
    candidates : array-like, sparse matrix or None, default=None
        Rows that may be basis points besides the support vectors, such as the training rows.
    queries : array-like, sparse matrix or None, default=None
        Rows like those to classify, for the choice of stages; None for some of the candidates,
        else of the support vectors.
    ordering : {"minwz", "hybrid", "meanlh", "sgma", "given"}, default="minwz"
        How basis points are chosen.
    n_points : int, default=512
        How many basis points there are at most; 0 for none.
    reduced_set : int, default=0
        How many points that need not be rows are candidates for basis points too, each found by
        descent on what is left of the machine. Needs dense support vectors and a linear,
        polynomial or RBF kernel, normalised or not.
    threshold : float, default=0.0
        What the mean of a Gaussian process is compared with.
    random_state : int, RandomState, Generator or None, default=None
        Seed of draws; None is 0.
    callback : callable or None, default=None
        Called while the predictor is built with what is being made, how much of it there is, and
        how much there will be at the most. What it raises ends the building.
    verbose : bool or int, default=False
        Whether the same is shown on stderr.

    Returns
    -------
    AnytimePredictor
        With ``predict``, ``predict_certified``, ``decision_bounds`` and ``explain``. Its labels are
        those of hinge's full evaluation of the machine's numbers.

    See Also
    --------
    AnytimeClassifier : The same as an estimator.

    Examples
    --------
    >>> import numpy as np, hinge
    >>> generator = np.random.default_rng(0)
    >>> X = generator.normal(size=(200, 2))
    >>> y = X[:, 0] * X[:, 1] > 0
    >>> model = hinge.SVC().fit(X, y)
    >>> fast = hinge.accelerate(model, queries=X)
    >>> bool(np.all(fast.predict(X) == model.predict(X)))
    True
    """
    check.choice("ordering", ordering, ORDERINGS)
    options = Options(
        ordering,
        count(n_points, "n_points"),
        check.seed(random_state),
        count(reduced_set, "reduced_set"),
    )
    parts = scored_machine(machine, threshold)
    others = _rows("candidates", candidates, parts)
    sample = _rows("queries", queries, parts)
    with building_display(callback, bool(verbose)) as report:
        built = build(parts.machine, parts.rule, others, sample, options, report=report)
    return AnytimePredictor(parts.machine, parts.rule, parts.classes, parts.n_features, built)


def _rows(name: str, X: Any, parts: ScoredMachine) -> Rows | None:
    """Return rows that the caller gave, of as many features as the machine's."""
    if X is None:
        return None
    rows = X if isinstance(X, Rows) else Rows(X)
    if rows.n_features != parts.n_features:
        message = (
            f"{name} have {rows.n_features} features; the machine was trained on "
            f"{parts.n_features}."
        )
        raise InvalidDataError(message)
    return rows
