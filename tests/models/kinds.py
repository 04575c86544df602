"""Every kind of linear model that exists: classes, labels, intercepts, names of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from hinge import LinearSVC

_LABELS: dict[str, list[Any]] = {
    "int": [-3, 0, 7],
    "uint8": [1, 2, 200],
    "float": [-1.0, 0.0, 2.0],
    "str": ["no", "yes", "ÿ maybe\n"],
    "object": ["a", "b b", "c"],
    "bool": [False, True],
}
_DTYPES = {"uint8": np.uint8, "object": object}
_INTERCEPTS: dict[str, dict[str, Any]] = {
    "augmented": {},
    "scaled": {"intercept_scaling": 0.3},
    "free": {"intercept": "free"},
    "none": {"fit_intercept": False},
}


@dataclass(frozen=True)
class Kind:
    """What distinguishes a model."""

    labels: str
    n_classes: int
    intercept: str
    loss: str = "hinge"
    has_names: bool = False

    def __str__(self) -> str:
        names = "-named" if self.has_names else ""
        return f"{self.labels}-{self.n_classes}-{self.intercept}-{self.loss}{names}"

    def fitted(self) -> tuple[LinearSVC, Any]:
        """Return a fitted model of this kind and the rows it was fitted on."""
        rng = np.random.default_rng(0)
        values = rng.normal(size=(60, 5))
        codes = values[:, : self.n_classes].argmax(axis=1)
        y = np.asarray(_LABELS[self.labels], dtype=_DTYPES.get(self.labels))[codes]
        X = pd.DataFrame(values, columns=[f"feature {n}" for n in range(5)])
        rows = X if self.has_names else values
        model = LinearSVC(loss=self.loss, **_INTERCEPTS[self.intercept])
        return model.fit(rows, y), rows


def _kinds() -> list[Kind]:
    kinds = [
        Kind(labels, n_classes, "augmented")
        for labels, values in _LABELS.items()
        for n_classes in (2, 3)
        if n_classes <= len(values)
    ]
    kinds += [Kind("int", n_classes, kind) for kind in _INTERCEPTS for n_classes in (2, 3)]
    kinds += [Kind("int", 2, "augmented", loss) for loss in ("squared_hinge", "huber")]
    kinds += [Kind("str", 3, "free", has_names=True), Kind("bool", 2, "none", has_names=True)]
    return list(dict.fromkeys(kinds))


KINDS = _kinds()


def largest_difference(model: LinearSVC, X: Any) -> Any:
    """Return how far two evaluations of the same weights may be apart by rounding alone.

    The bound that the documentation states: ``2 (n + 2) u (sum |w_i x_i| + |b|)``, n being the
    number of features. A sum of n products and an intercept is off by ``n + 1`` roundings at
    most, in either evaluation; the rest covers those of the bound itself.
    """
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_
    sums = np.abs(np.asarray(X, dtype=np.float64)) @ np.abs(coef.T) + np.abs(model.intercept_)
    bound = 2.0 * (coef.shape[1] + 2) * 2.0**-53 * sums
    return bound.ravel() if len(coef) == 1 else bound
