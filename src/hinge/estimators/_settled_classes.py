"""What certificates prove of the labels that a fitted estimator gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hinge.errors import InvalidParameterError
from hinge.result import Certificate
from hinge.rows import Rows

if TYPE_CHECKING:
    from hinge.anytime.rules import Rule

NOT_PROVEN = -1


def checked_certificates(model: Any, count: int) -> list[Certificate]:
    """Return the certificates of a fitted estimator, one for each problem.

    Parameters
    ----------
    model : estimator
        Fitted, with ``certificates_``.
    count : int
        How many there must be.
    """
    found: Any = model.certificates_
    is_list = isinstance(found, list | tuple) and len(found) == count
    if not is_list or not all(isinstance(certificate, Certificate) for certificate in found):
        message = f"certificates_ must be a list of {count} certificates. Fit the model again."
        raise InvalidParameterError(message)
    return list(found)


def proven_classes(
    rows: Rows, certificates: Sequence[Certificate], rule: Rule, sign: float
) -> NDArray[np.intp]:
    """Return the position of the class that the exact optimum gives each row.

    Parameters
    ----------
    rows : Rows
        Any rows.
    certificates : sequence of Certificate
        One for each machine: of each pair of classes, or of each class.
    rule : Rule
        What makes codes of classes out of decision values.
    sign : float
        What the decision values that the rule sees are times those of the problems, 1 or -1.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The position of the class; ``NOT_PROVEN`` where decision values within their bounds give
        more than one.
    """
    bounds = [certificate.decision_bounds(rows) for certificate in certificates]
    lower, upper = (np.column_stack(part) for part in zip(*bounds, strict=True))
    if sign < 0.0:
        lower, upper = -upper, -lower
    is_proven, codes = rule.settled(lower, upper)
    return np.where(is_proven, codes, NOT_PROVEN)
