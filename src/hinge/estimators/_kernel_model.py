"""What every fitted kernel classifier can do: score rows, name classes, give probabilities."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hinge.anytime.codes import proven_codes
from hinge.anytime.rules import LargestRule, Rule, SignRule, VoteRule
from hinge.errors import InvalidDataError, InvalidParameterError
from hinge.estimators._checks import choice, jobs
from hinge.estimators._data import rows_to_score
from hinge.estimators._division import SHAPES, no_pair_values
from hinge.estimators._kept_machine import kept_machine
from hinge.estimators._kernel_machine import coefficients_of, is_against_rest, machine_count
from hinge.estimators._kernel_options import wants_probability
from hinge.estimators._scoring import scores_alone
from hinge.estimators._settled_classes import checked_certificates, proven_classes
from hinge.estimators._sigmoid import Sigmoid, coupled, shared_out
from hinge.estimators._sparse_form import as_scikit_learn_has_it
from hinge.kernels import Kernel, Linear, Precomputed
from hinge.machines import Machine
from hinge.multiclass.votes import class_values
from hinge.result import Certificate
from hinge.rows import Rows
from hinge.threads import thread_count

Floats = NDArray[np.float64]

_AGAIN = "Fit the model again."


def _has_probability(model: Any) -> bool:
    if not wants_probability(model):
        message = "predict_proba is not available when probability=False"
        raise AttributeError(message)
    return True


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """Base of estimators with support vectors, ``dual_coef_``, ``intercept_`` and ``kernel_``."""

    kernel: Any
    probability: Any
    decision_function_shape: str
    n_jobs: int | None
    n_features_in_: int
    kernel_: Kernel
    classes_: NDArray[Any]
    support_: NDArray[np.int32]
    support_vectors_: Any
    n_support_: NDArray[np.int32]
    dual_coef_: Any
    intercept_: Floats
    probA_: Floats  # noqa: N815 - scikit-learn's name
    probB_: Floats  # noqa: N815 - scikit-learn's name
    certificates_: list[Certificate]

    def decision_function(self, X: Any) -> Floats:
        """Return how far on the side of each class, or of each pair's first, every row lies.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` their kernel with every training row.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes one value per row, positive for ``classes_[1]``. For more, one per
            class, the largest of which is what ``predict`` says; with
            ``decision_function_shape="ovo"`` one per pair (0, 1), (0, 2), ..., positive for the
            first class of the pair. A value does not depend on the other rows of X.
        """
        shape = choice("decision_function_shape", self.decision_function_shape, SHAPES)
        values = self._machine_values(X)
        if values.shape[1] == 1:
            return values[:, 0]
        if is_against_rest(self.dual_coef_, len(self.classes_)):
            if shape == "ovo":
                raise no_pair_values()
            return values
        return values if shape == "ovo" else class_values(values, len(self.classes_))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row: that of the largest decision value.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` their kernel with every training row.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``classes_``. Of pairs of classes that is the class with the most votes;
            of classes with as many votes the one wins whose decision values add up to the most,
            whatever ``break_ties`` says.
        """
        kept = kept_machine(self, _fitted_machine)
        machine, wanted = kept.machine, jobs(self.n_jobs)
        rows = rows_to_score(self, X)
        rule = rule_of(self)
        if kept.takes(rows):
            codes = rule.codes(_finite(kept.values(rows), np.arange(rows.n_rows)))
            return np.asarray(self.classes_)[codes]
        threads = thread_count(wanted)

        def in_full(some: Rows, numbers: NDArray[np.int64]) -> Floats:
            return _finite(machine.values(some, threads), numbers)

        return np.asarray(self.classes_)[proven_codes(machine, rule, rows, in_full, threads)]

    def settled(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows' labels are proven to be those of the exact optimum.

        Of pairs of classes, a label is settled if it wins whichever way the pairs vote whose sign
        is not proven: with more proven votes than any other class can get or, where another can
        get as many, with a sum of decision values that is proven to be the larger one.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Any rows, those of the training set or new ones.

        Returns
        -------
        ndarray of bool of shape (n_samples,)
            True where no further training can change what ``predict`` says. Nowhere, if nothing
            is proven of the optimum's decision values: for ``kernel="precomputed"`` and kernels
            that are not positive semidefinite, with ``approximation``, and of imported models.
        """
        machine = kept_machine(self, _fitted_machine).machine
        rows = rows_to_score(self, X)
        certificates = checked_certificates(self, len(machine.intercept))
        rule = rule_of(self)
        codes = rule.codes(self._machine_values(X))
        # Of more than two classes the first of a pair is the positive one, in a problem the second.
        sign = -1.0 if isinstance(rule, VoteRule) else 1.0
        return np.asarray(proven_classes(rows, certificates, rule, sign) == codes)

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class for every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` their kernel with every training row.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``. For two classes they rise with the
            decision value; at one of zero they need not be a half.
        """
        check_is_fitted(self, msg=scores_alone(self))
        sigmoids = _checked_sigmoids(self)
        values = self._machine_values(X)
        if len(sigmoids) == 1:
            first = sigmoids[0](-values[:, 0])
            return np.column_stack((first, 1.0 - first))
        if is_against_rest(self.dual_coef_, len(self.classes_)):
            of_rest = [sigmoid(-values[:, k]) for k, sigmoid in enumerate(sigmoids)]
            return shared_out(1.0 - np.column_stack(of_rest))
        of_first = [sigmoid(values[:, k]) for k, sigmoid in enumerate(sigmoids)]
        return coupled(np.column_stack(of_first), len(self.classes_))

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of the probability of every class for every row.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The rows; for ``kernel="precomputed"`` their kernel with every training row.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Logarithms of probabilities; minus infinity where one is zero.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @property
    def coef_(self) -> Any:
        """Weights of the features, of shape (n_machines, n_features), if the kernel is linear."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            message = "coef_ is there after a fit with a linear kernel only"
            raise AttributeError(message)
        machine = machine_of(self)
        if machine.support is None:
            return np.zeros((len(machine.intercept), self.n_features_in_))
        weights: Any = machine.coefficients.T @ machine.support.matrix
        if machine.support.is_sparse:
            return as_scikit_learn_has_it(sp.csr_array(weights))
        weights.flags.writeable = False  # a change of it would change nothing
        return weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_matrix = isinstance(self.kernel, Precomputed) or (
            isinstance(self.kernel, str) and self.kernel == Precomputed.name
        )
        tags.input_tags.pairwise = is_matrix
        tags.input_tags.sparse = True
        return tags

    def _machine_values(self, X: Any) -> Floats:
        """Return the decision values of every machine: of pairs, or of classes."""
        kept = kept_machine(self, _fitted_machine)
        wanted = jobs(self.n_jobs)
        rows = rows_to_score(self, X)
        if kept.takes(rows):
            values = kept.values(rows)
        else:
            values = kept.machine.values(rows, thread_count(wanted))
        return _finite(values, np.arange(rows.n_rows))


def _finite(values: Floats, numbers: NDArray[np.int64]) -> Floats:
    """Return the decision values of rows of these numbers, unless they overflow."""
    if not np.isfinite(values).all():
        row = int(numbers[np.argwhere(~np.isfinite(values))[0][0]])
        message = (
            f"the decision values of row {row} overflow: kernel values of X and dual_coef_ are "
            "too large to be multiplied. Scale X, and fit the model on scaled rows."
        )
        raise InvalidDataError(message)
    return values


def _fitted_machine(model: KernelClassifier) -> Machine:
    """Return the machine of a model, if that is fitted."""
    check_is_fitted(model, msg=scores_alone(model))
    return machine_of(model)


def machine_of(model: KernelClassifier) -> Machine:
    """Return what decision values are made of, if it belongs together, whatever has been set.

    Native code does not look where it reads: shapes, types and ranges are looked at here, and
    sparse structure by ``Rows``.

    Parameters
    ----------
    model : KernelClassifier
        A fitted classifier.
    """
    n_features = getattr(model, "n_features_in_", None)
    if not isinstance(n_features, numbers.Integral) or isinstance(n_features, bool):
        message = f"n_features_in_ must be a whole number; got {n_features!r}. {_AGAIN}"
        raise InvalidParameterError(message)
    if not isinstance(getattr(model, "kernel_", None), Kernel):
        message = f"kernel_ must be a kernel object; got {model.kernel_!r}. {_AGAIN}"
        raise InvalidParameterError(message)
    classes = _as_array("classes_", model.classes_)
    if classes.ndim != 1 or len(classes) < 2:
        message = f"classes_ must be a list; got shape {classes.shape}. {_AGAIN}"
        raise InvalidParameterError(message)
    counts = _numbers("n_support_", model.n_support_, (len(classes),), "iu")
    if np.any(counts < 0):
        message = f"n_support_ must hold numbers of rows; got {counts.tolist()}. {_AGAIN}"
        raise InvalidParameterError(message)
    count = int(counts.sum(dtype=np.float64))
    dual_coef = model.dual_coef_
    dual_coef = dual_coef.toarray() if sp.issparse(dual_coef) else dual_coef
    height = len(classes) - (not is_against_rest(dual_coef, len(classes)))
    dual_coef = _numbers("dual_coef_", dual_coef, (height, count))
    machines = machine_count(dual_coef, len(classes))
    intercept = _numbers("intercept_", model.intercept_, (machines,))
    support = _checked_support(model, count, int(n_features))
    return Machine(model.kernel_, support, coefficients_of(dual_coef, counts), intercept)


def rule_of(model: KernelClassifier) -> Rule:
    """Return what makes codes of classes out of the decision values of a fitted model.

    Parameters
    ----------
    model : KernelClassifier
        A fitted classifier.
    """
    n_classes = len(model.classes_)
    if n_classes == 2:
        return SignRule()
    return LargestRule() if is_against_rest(model.dual_coef_, n_classes) else VoteRule(n_classes)


def _checked_support(model: KernelClassifier, count: int, n_features: int) -> Any:
    """Return the support vectors, or the columns that stand for them."""
    if isinstance(model.kernel_, Precomputed):
        columns = _numbers("support_", model.support_, (count,), "iu")
        if count and not (columns.min() >= 0 and columns.max() < n_features):
            message = (
                f"support_ must hold numbers from 0 to {n_features - 1}; got {columns.min()} to "
                f"{columns.max()}. {_AGAIN}"
            )
            raise InvalidParameterError(message)
        return columns
    vectors: Any = model.support_vectors_
    if np.shape(vectors) != (count, n_features):
        message = (
            f"support_vectors_ must have shape {(count, n_features)}, for n_support_ and "
            f"n_features_in_; got {np.shape(vectors)}. {_AGAIN}"
        )
        raise InvalidParameterError(message)
    return Rows(vectors) if count else None


def _checked_sigmoids(model: KernelClassifier) -> list[Sigmoid]:
    """Return the sigmoid of every pair, for decision values that favour its first class.

    Of classes against the rest it is for decision values that favour the rest.
    """
    machines = machine_count(model.dual_coef_, len(model.classes_))
    if np.size(getattr(model, "probA_", ())) == 0:
        message = "predict_proba is not available when fitted with probability=False"
        raise NotFittedError(message)
    slopes = _numbers("probA_", model.probA_, (machines,))
    offsets = _numbers("probB_", model.probB_, (machines,))
    return [Sigmoid(float(a), float(b)) for a, b in zip(slopes, offsets, strict=True)]


def _numbers(name: str, value: Any, shape: tuple[int, ...], kinds: str = "biuf") -> NDArray[Any]:
    """Return an attribute that holds finite numbers in a shape."""
    array = _as_array(name, value)
    if array.shape != shape or array.dtype.kind not in kinds:
        message = (
            f"{name} must hold numbers in shape {shape}; got {array.dtype} in shape "
            f"{array.shape}. {_AGAIN}"
        )
        raise InvalidParameterError(message)
    if not np.isfinite(array).all():
        message = f"{name} holds a number that is not finite. {_AGAIN}"
        raise InvalidParameterError(message)
    return array.astype(np.float64, copy=False) if kinds == "biuf" else array


def _as_array(name: str, value: Any) -> NDArray[Any]:
    """Return what an attribute holds as an array, if it can be one."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError) as error:
        message = f"{name} cannot be read as an array: {error}. {_AGAIN}"
        raise InvalidParameterError(message) from error
