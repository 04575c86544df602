"""The measure by which cross-validation has chosen C, and by which its model is scored."""

from __future__ import annotations

import inspect
from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.metrics import check_scoring


class ScoredAsChosen(ClassifierMixin):
    """A classifier that is scored by what its parameter ``scoring`` says."""

    scoring: Any

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the score of the model on rows, by the measure that chose C.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float
            Accuracy, or what ``scoring`` says.
        """
        if self.scoring is None:
            return float(super().score(X, y, sample_weight))
        return measured(self, self.scoring, X, y, sample_weight)


def measured(model: Any, scoring: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return what a measure says of a fitted model.

    Parameters
    ----------
    model : estimator
        The model.
    scoring : str or callable
        The measure, as in scikit-learn.
    X, y : array-like
        Rows and their labels.
    sample_weight : array-like or None
        Weights of the rows, for measures that take them.
    """
    scorer = check_scoring(model, scoring=scoring)
    takes_weights = "sample_weight" in inspect.signature(scorer).parameters
    weights = (
        {"sample_weight": sample_weight} if takes_weights and sample_weight is not None else {}
    )
    return float(scorer(model, X, y, **weights))
