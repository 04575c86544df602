"""How well a model does on labelled rows: accuracy, confusion table, figures per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from hinge.cli._errors import CommandError
from hinge.cli._labels import label_json, plain

Array = np.ndarray[Any, Any]
_LABELS_AT_LEAST = 1000  # so many different labels are taken from any file


@dataclass(frozen=True)
class Scores:
    """The figures of one model on one set of rows.

    Parameters
    ----------
    name : str
        The model.
    labels : list
        Every label that the model or the rows have, in order.
    confusion : ndarray of shape (n_labels, n_labels)
        How many rows of each label (first axis) were given each label (second axis).
    precision, recall, f1, support : ndarray of shape (n_labels,)
        Per label; 0 where nothing can be said.
    """

    name: str
    labels: list[Any]
    confusion: Array
    precision: Array
    recall: Array
    f1: Array
    support: Array

    @property
    def rows(self) -> int:
        """How many rows were judged."""
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        """How many of them got their own label."""
        return int(np.trace(self.confusion))

    @property
    def accuracy(self) -> float:
        """The share of the right ones."""
        return self.right / max(1, self.rows)

    @property
    def mean_recall(self) -> float:
        """The mean recall over the labels that the rows have: balanced accuracy."""
        return float(np.mean(self.recall[self.support > 0]))

    @property
    def mean_f1(self) -> float:
        """The mean F1 over the labels that the rows have."""
        return float(np.mean(self.f1[self.support > 0]))

    def data(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "model": self.name,
            "rows": self.rows,
            "right": self.right,
            "accuracy": self.accuracy,
            "mean_recall": self.mean_recall,
            "mean_f1": self.mean_f1,
            "labels": [label_json(label) for label in self.labels],
            "confusion": self.confusion.tolist(),
            "per_class": [
                {
                    "label": label_json(label),
                    "precision": float(self.precision[k]),
                    "recall": float(self.recall[k]),
                    "f1": float(self.f1[k]),
                    "rows": int(self.support[k]),
                }
                for k, label in enumerate(self.labels)
            ],
        }


def check_labels(classes: Array, truth: Array, source: str) -> None:
    """Refuse what are no labels: a table over all pairs of them would fill the memory.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes of the model.
    truth : ndarray of shape (n_samples,)
        The labels of the rows.
    source : str
        The file that they come from.
    """
    count = len(np.unique(truth))
    if count > max(_LABELS_AT_LEAST, 2 * len(classes)):
        message = (
            f"{plain(source)}: there are {count} different labels, and the model knows "
            f"{len(classes)} classes; name the column of the labels with --label."
        )
        raise CommandError(message)


def score(name: str, classes: Array, truth: Array, guessed: Array) -> Scores:
    """Judge what a model said.

    Parameters
    ----------
    name : str
        The model.
    classes : ndarray of shape (n_classes,)
        Its classes.
    truth, guessed : ndarray of shape (n_samples,)
        The labels of the rows, and what the model gave them.

    Returns
    -------
    Scores
        The figures.
    """
    labels = np.union1d(classes, truth)
    # Positions instead of labels: sorted by us, and never text beside numbers.
    positions = np.arange(len(labels))
    true_at, guessed_at = np.searchsorted(labels, truth), np.searchsorted(labels, guessed)
    per_class = precision_recall_fscore_support(
        true_at, guessed_at, labels=positions, average=None, zero_division=0.0
    )
    confusion = confusion_matrix(true_at, guessed_at, labels=positions)
    return Scores(name, list(labels), confusion, *per_class)
