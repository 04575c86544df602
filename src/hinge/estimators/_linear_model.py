"""What every fitted linear classifier can do: score rows, name classes, say what is proven."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hinge.block_map import map_blocks
from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.estimators._checks import jobs
from hinge.estimators._data import data_to_score, rows_to_score
from hinge.estimators._scoring import scores_alone
from hinge.estimators._settled_classes import checked_certificates
from hinge.ingest import canonical
from hinge.machines.linear_scores import linear_scores
from hinge.result import Certificate
from hinge.rows import Block, Rows
from hinge.threads import thread_count

Floats = NDArray[np.float64]


class LinearClassifier(ClassifierMixin, BaseEstimator):
    """Base of estimators with ``coef_``, ``intercept_``, ``classes_`` and ``certificates_``."""

    n_jobs: int | None
    coef_: Any
    intercept_: Any
    classes_: NDArray[Any]
    certificates_: list[Certificate]

    def decision_function(self, X: Any) -> Floats:
        """Return how far on the side of each class every row lies.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One value per row for two classes, positive for ``classes_[1]``; else one per class.
        """
        coef, intercept = _checked_weights(self)
        threads = thread_count(jobs(self.n_jobs))
        data = data_to_score(self, X)
        if sp.issparse(coef):
            return _finite(scores(Rows(data, threads), coef, intercept, threads))
        values = _flat(linear_scores(data, coef, intercept, threads))
        if not np.isfinite(values).all() and not np.isfinite(_stored(data)).all():
            Rows(data)  # says which value it is
        return _finite(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row: the one with the largest decision value.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``classes_``; of equal values the first one wins.
        """
        values = self.decision_function(X)
        return np.asarray(self.classes_)[winners(values)]

    def settled(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows' labels are proven to be those of the exact optimum.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Any rows, those of the training set or new ones.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True where no further training can change what ``predict`` says.
        """
        weights = _checked_weights(self)
        certificates = checked_certificates(self, weights[0].shape[0])
        rows = rows_to_score(self, X)
        values = _finite(scores(rows, *weights, 1))
        return proven_labels(rows, certificates, winners(values))[0]

    def sparsify(self) -> LinearClassifier:
        """Convert ``coef_`` to a sparse matrix, which takes less memory if it is mostly zero.

        Returns
        -------
        LinearClassifier
            The estimator itself.
        """
        check_is_fitted(self, msg=scores_alone(self))
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> LinearClassifier:
        """Convert ``coef_`` back to an array, which is what ``fit`` leaves.

        Returns
        -------
        LinearClassifier
            The estimator itself.
        """
        check_is_fitted(self, msg=scores_alone(self))
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _stored(data: Any) -> NDArray[Any]:
    """Return the values that dense or sparse rows hold."""
    return np.asarray(data.data) if sp.issparse(data) else np.asarray(data)


def _checked_weights(model: LinearClassifier) -> tuple[Any, Any]:
    """Return weights and intercepts that belong together, whatever has been set since the fit.

    What multiplies a sparse matrix does not look where it reads and writes, so its indices are
    looked at here; of everything else the shapes must agree, and the numbers be finite.
    """
    check_is_fitted(model, msg=scores_alone(model))
    n_features = getattr(model, "n_features_in_", None)
    if not isinstance(n_features, numbers.Integral) or isinstance(n_features, bool):
        message = f"n_features_in_ must be a whole number; got {n_features!r}. Fit the model again."
        raise InvalidParameterError(message)
    classes = _as_array("classes_", model.classes_)
    if classes.ndim != 1:
        message = f"classes_ must be a list; got shape {classes.shape}. Fit the model again."
        raise InvalidParameterError(message)
    n_problems = 1 if len(classes) == 2 else len(classes)
    coef: Any = model.coef_
    coef = canonical(coef) if sp.issparse(coef) else _as_array("coef_", coef)
    wanted = (n_problems, int(n_features))
    if coef.shape != wanted or coef.dtype.kind not in "biuf":
        message = (
            f"coef_ must hold numbers in shape {wanted}, for {len(classes)} classes_ and "
            f"{n_features} features; got {coef.dtype} in shape {coef.shape}. Fit the model again."
        )
        raise InvalidParameterError(message)
    intercept = _as_array("intercept_", model.intercept_)
    if intercept.shape not in ((), (n_problems,)) or intercept.dtype.kind not in "biuf":
        message = (
            f"intercept_ must hold {n_problems} numbers; got {intercept.dtype} in shape "
            f"{intercept.shape}. Fit the model again."
        )
        raise InvalidParameterError(message)
    for name, array in (("coef_", coef), ("intercept_", intercept)):
        if not np.isfinite(_stored(array)).all():
            message = f"{name} holds a number that is not finite. Fit the model again."
            raise InvalidParameterError(message)
    return coef, intercept


def _as_array(name: str, value: Any) -> NDArray[Any]:
    """Return what an attribute holds as an array, if it can be one."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        message = f"{name} cannot be read as an array: {error}. Fit the model again."
        raise InvalidParameterError(message) from error


def _finite(values: Floats) -> Floats:
    """Return decision values; infinite ones would be compared, and NaN be given a class."""
    if not np.isfinite(values).all():
        row = int(np.argwhere(~np.isfinite(values))[0][0])
        message = (
            f"the decision values of row {row} overflow: X and coef_ are too large to be "
            "multiplied. Scale X, and fit the model on scaled rows."
        )
        raise InvalidDataError(message)
    return values


def scores(rows: Rows, coef: Any, intercept: Any, threads: int = 1) -> Floats:
    """Return the decision values of rows, with the same bits for any number of threads.

    Parameters
    ----------
    rows : Rows
        The rows.
    coef : ndarray or sparse matrix of shape (n_problems, n_features)
        Weights.
    intercept : float or ndarray of shape (n_problems,)
        Intercepts.
    threads : int, default=1
        How many threads share out the blocks.
    """
    if not sp.issparse(coef):
        rows.check_structure()
        return _flat(linear_scores(rows.matrix, coef, intercept, threads))
    values = np.empty((rows.n_rows, coef.shape[0]))
    weights = coef.T

    def visit(block: Block) -> None:
        product = block.matrix @ weights
        product = product.toarray() if sp.issparse(product) else np.asarray(product)
        values[block.rows] = product + intercept

    map_blocks(visit, rows, lambda first, _: first, threads=threads)
    return _flat(values)


def _flat(values: Floats) -> Floats:
    """Return the values of all rows, as a vector if there is one problem."""
    return values.ravel() if values.shape[1] == 1 else values


def winners(values: Floats) -> NDArray[np.intp]:
    """Return the position of each row's class, given its decision values.

    Parameters
    ----------
    values : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Decision values.
    """
    if values.ndim == 1:
        return (values > 0).astype(np.intp)
    return np.asarray(values.argmax(axis=1))


def proven_labels(
    rows: Rows, certificates: list[Certificate], labels: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which labels are proven to be those of the exact optimum, and which not to be.

    Parameters
    ----------
    rows : Rows
        The rows.
    certificates : list of Certificate
        One for each problem.
    labels : ndarray of int of shape (n_samples,)
        The position of each row's class.
    """
    if len(certificates) == 1:
        lower, upper = certificates[0].decision_bounds(rows)
        right = np.where(labels == 1, lower > 0.0, upper < 0.0)
        # A decision value of zero is the first class.
        wrong = np.where(labels == 1, upper <= 0.0, lower > 0.0)
        return right, wrong
    own_lower, own_upper = np.empty(rows.n_rows), np.empty(rows.n_rows)
    others_lower = np.full(rows.n_rows, -np.inf)
    others_upper = np.full(rows.n_rows, -np.inf)
    for number, certificate in enumerate(certificates):
        lower, upper = certificate.decision_bounds(rows)
        own = labels == number
        own_lower[own], own_upper[own] = lower[own], upper[own]
        np.maximum(others_lower, lower, out=others_lower, where=~own)
        np.maximum(others_upper, upper, out=others_upper, where=~own)
    return own_lower > others_upper, others_lower > own_upper
