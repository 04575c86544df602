"""A kernel classifier that stops evaluating a query once its label is proven."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hinge.anytime import AnytimePredictor
from hinge.estimators._data import data_to_score, rows_to_score
from hinge.estimators.accelerate import accelerate
from hinge.estimators.svc import SVC
from hinge.kernels import Precomputed
from hinge.result import CertifiedPrediction

Floats = NDArray[np.float64]


class AnytimeClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Fits a kernel classifier and predicts its labels at a fraction of the cost, proven.

    Parameters
    ----------
    estimator : estimator or None, default=None
        A ``hinge.SVC`` or ``SVCCV``, or scikit-learn's ``SVC`` or ``NuSVC``; None is
        ``hinge.SVC()``.
    ordering : {"minwz", "hybrid", "meanlh", "sgma", "given"}, default="minwz"
        How basis points are chosen, among support vectors and other training rows.
    n_points : int, default=512
        How many there are at most; 0 for none.
    reduced_set : int, default=0
        How many points that need not be rows are candidates too; see ``accelerate``.
    verbose : bool or int, default=False
        Whether stderr shows how the choice of basis points and stages goes.
    random_state : int, RandomState, Generator or None, default=None
        Seed of draws; None is 0.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    predictor_ : AnytimePredictor
        What predicts.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X had any that are all strings.

    See Also
    --------
    accelerate : The same for a machine that is already fitted.

    Examples
    --------
    >>> import numpy as np, hinge
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = X[:, 0] > X[:, 1] ** 2
    >>> model = hinge.AnytimeClassifier(hinge.SVC(C=10.0)).fit(X, y)
    >>> bool(np.all(model.predict(X) == model.estimator_.predict(X)))
    True
    """

    classes_: NDArray[Any]
    estimator_: Any
    predictor_: AnytimePredictor
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        estimator: Any = None,
        *,
        ordering: str = "minwz",
        n_points: int = 512,
        reduced_set: int = 0,
        verbose: bool | int = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.ordering = ordering
        self.n_points = n_points
        self.reduced_set = reduced_set
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AnytimeClassifier:
        """Fit the classifier, then choose basis points and stages.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Their weights.

        Returns
        -------
        AnytimeClassifier
            This estimator.
        """
        inner = SVC() if self.estimator is None else clone(self.estimator)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self._adopt(inner.fit(X, y, **weights))
        is_matrix = getattr(inner, "kernel", None) == Precomputed.name or isinstance(
            getattr(inner, "kernel", None), Precomputed
        )
        self.predictor_ = accelerate(
            inner,
            candidates=None if is_matrix else rows_to_score(self, X),
            ordering=self.ordering,
            n_points=self.n_points,
            reduced_set=self.reduced_set,
            verbose=self.verbose,
            random_state=self.random_state,
        )
        return self

    def _adopt(self, inner: Any) -> None:
        """Set the fitted attributes that are those of the classifier."""
        self.estimator_ = inner
        self.classes_ = inner.classes_
        self.n_features_in_ = inner.n_features_in_
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if hasattr(inner, "feature_names_in_"):
            self.feature_names_in_ = inner.feature_names_in_

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of every row: those of the full evaluation.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``classes_``.
        """
        check_is_fitted(self)
        return self.predictor_.predict(data_to_score(self, X))

    def predict_certified(
        self, X: Any, seconds: float | None = None, max_terms: int | None = None
    ) -> CertifiedPrediction:
        """Return labels with bounds, and which of them are proven within a budget.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        seconds : float or None, default=None
            Time that all rows together may take; None is no limit.
        max_terms : int or None, default=None
            Kernel values that a row may cost; None is no limit.

        Returns
        -------
        CertifiedPrediction
            Labels, bounds, which labels are proven, and what each row has cost.
        """
        check_is_fitted(self)
        return self.predictor_.predict_certified(rows_to_score(self, X), seconds, max_terms)

    def decision_bounds(self, X: Any, max_terms: int | None = None) -> tuple[Floats, Floats]:
        """Return bounds on the true decision values, as tight as the labels have needed them.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        max_terms : int or None, default=None
            Kernel values that a row may cost; None is no limit.

        Returns
        -------
        lower, upper : ndarray of shape (n_samples,) or (n_samples, n_functions)
            The bounds; with three classes or more, of every pair of classes.
        """
        prediction = self.predict_certified(X, max_terms=max_terms)
        return prediction.lower, prediction.upper

    def decision_function(self, X: Any) -> Floats:
        """Return the decision values of the classifier, evaluated in full.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The values.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.decision_function(X))

    def explain(self) -> str:
        """Return in words what is done for a query, what it saves, and why.

        Returns
        -------
        str
            Sentences, one to a line.
        """
        check_is_fitted(self)
        return self.predictor_.explain()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(SVC() if self.estimator is None else self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        return tags


def accelerated_classifier(
    inner: Any, predictor: AnytimePredictor, **options: Any
) -> AnytimeClassifier:
    """Return a fitted ``AnytimeClassifier`` of a fitted classifier and its predictor.

    Parameters
    ----------
    inner : estimator
        A fitted classifier, which is not copied.
    predictor : AnytimePredictor
        What ``accelerate`` made of it.
    **options
        Parameters of ``AnytimeClassifier``.
    """
    given = {"estimator": clone(inner), **options}
    model = AnytimeClassifier(given.pop("estimator"), **given)
    model._adopt(inner)
    model.predictor_ = predictor
    return model
