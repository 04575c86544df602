"""The form in which fitted attributes hold sparse values: that of scikit-learn's."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp
from sklearn import get_config


def as_scikit_learn_has_it(values: Any) -> Any:
    """Return CSR values in scikit-learn's form, whatever the caller's rows were; no copy is made.

    That is ``csr_matrix``, of which ``*`` is the matrix product, unless the configuration of
    scikit-learn 1.9 or later asks for ``csr_array``.

    Parameters
    ----------
    values : csr_array or csr_matrix
        The values.
    """
    asks_for_arrays = get_config().get("sparse_interface") == "sparray"
    return sp.csr_array(values) if asks_for_arrays else sp.csr_matrix(values)
