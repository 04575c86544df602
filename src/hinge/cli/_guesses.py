"""What models say of the rows of a file, most rows looked at once for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hinge.bounds import LabelSequence
from hinge.cli._console import Output
from hinge.cli._matching import fitted_to, is_of_unknown_width
from hinge.cli._predicting import predicted, predicting
from hinge.data import Dataset
from hinge.estimators.linear_svc import LinearSVC

Array = np.ndarray[Any, Any]


class Guesses:
    """The labels that one model after another gives to the same rows.

    Parameters
    ----------
    output : Output
        Where notes go.
    threads : int
        For large passes.
    models : int
        How many models there are: margins are kept only for those that follow.

    Attributes
    ----------
    examined : int
        Rows whose decision value the last model had computed.
    """

    def __init__(self, output: Output, threads: int, models: int) -> None:
        self._output, self._threads = output, threads
        self._keeps = models > 1
        self._rows: dict[Any, Any] = {}
        self._sequences: dict[Any, LabelSequence] = {}
        self.examined = 0

    def of(self, model: Any, data: Dataset) -> Array:
        """Return the labels that a model gives to the rows of a file.

        Parameters
        ----------
        model : LinearSVC or SVC
            A fitted model.
        data : Dataset
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of the classes of the model.
        """
        names = getattr(model, "feature_names_in_", None)
        columns = None if names is None else tuple(map(str, names))
        base = getattr(model, "index_base_", None)
        key = (id(data), int(model.n_features_in_), columns, base)
        # A model of unknown width takes that of the rows, which only matching them tells it.
        if key not in self._rows or is_of_unknown_width(model):
            self._rows[key] = fitted_to(model, data, self._output).X
        rows = self._rows[key]
        self.examined = int(rows.shape[0])
        if self._keeps and len(model.classes_) == 2 and isinstance(model, LinearSVC):
            if key not in self._sequences:
                self._sequences[key] = LabelSequence(rows, n_jobs=self._threads)
            sequence = self._sequences[key]
            labels = sequence.predict(model)
            self.examined = sequence.examined
            return labels
        with predicting(self._output) as shown:
            shown.expect(int(rows.shape[0]))
            return predicted(model, rows, shown)
