"""What is said of a problem whose weights do not fit in memory."""

from __future__ import annotations

import numpy as np

from hinge.errors import TooManyFeaturesError
from hinge.problem import Problem

_MANY = 2**24  # features from which on vectors of weights are large beside anything else


def refuse_many_features(problem: Problem, error: MemoryError) -> None:
    """Raise an error that names the features, if it is their number that memory is short for.

    Parameters
    ----------
    problem : Problem
        What was to be solved.
    error : MemoryError
        What came of it.
    """
    rows = problem.rows
    is_wide = rows.is_sparse and len(rows.indices) > 0 and rows.n_features >= _MANY
    if problem.kernel is not None or not is_wide:
        return
    place = int(np.argmax(rows.indices))
    row = int(np.searchsorted(rows.indptr, place, side="right")) - 1
    message = (
        f"There is not enough memory for the weights of {rows.n_features} features "
        f"({8 * rows.n_features / 2**30:.3g} GiB for each copy of them). The highest one that has "
        f"a value is column {int(rows.indices[place])}, counted from 0, in row {row}: if that is a "
        "mistake, mend it; else number the features that occur without gaps, for example by "
        "X[:, numpy.unique(X.indices)]."
    )
    raise TooManyFeaturesError(message) from error
