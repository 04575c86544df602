"""Data files as commands need them: read with the user's options, as wide as the model."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from hinge.cli._console import Output
from hinge.cli._errors import CommandError
from hinge.cli._labels import plain
from hinge.cli._options import IndexBase, ReadingOptions
from hinge.cli._progress import waiting
from hinge.cli._words import in_options
from hinge.data import Dataset, iter_blocks, read
from hinge.errors import DataFileError

STDIN = Path("-")
_NUMBER = re.compile(r"-?[0-9]{1,9}")
_SHOWN = 5  # names listed in a message


@dataclass(frozen=True)
class Reader:
    """Reads data files as the options say and passes on what the reader noticed.

    Parameters
    ----------
    options : ReadingOptions
        What the user asked for.
    output : Output
        Where notes go.
    threads : int or None, default=None
        How many threads may read.
    """

    options: ReadingOptions
    output: Output
    threads: int | None = None

    def read(self, path: Path, labelled: bool = True, required: bool = True) -> Dataset:
        """Read a file whole.

        Parameters
        ----------
        path : Path
            The file; ``-`` is standard input.
        labelled : bool, default=True
            Whether to look for labels in a table.
        required : bool, default=True
            Whether there must be labels.

        Returns
        -------
        Dataset
            Rows, and labels if there are any.
        """
        with (
            stored(path, self.options) as file,
            waiting(self.output, f"reading {plain(str(path))}"),
        ):
            data = read(
                file,
                n_jobs=self.threads,
                memory_limit=self.options.memory_limit,
                **self._arguments(labelled),
            )
        self._pass_on(data, path)
        if required and data.y is None:
            reason = "there are no labels in this file; name their column with --label."
            raise DataFileError(reason, str(path))
        if required and isinstance(data.y, list):
            reason = "rows with several labels each are not supported; split them into files."
            raise DataFileError(reason, str(path))
        return data

    def blocks(self, path: Path, labelled: bool = True) -> Iterator[Dataset]:
        """Read a file block by block, in bounded memory.

        Parameters
        ----------
        path : Path
            The file; ``-`` is standard input.
        labelled : bool, default=True
            Whether to look for labels in a table.

        Yields
        ------
        Dataset
            Consecutive rows.
        """
        with stored(path, self.options) as file:
            for number, block in enumerate(iter_blocks(file, **self._arguments(labelled))):
                if number == 0:
                    self._pass_on(block, path)
                yield block

    def _pass_on(self, data: Dataset, path: Path) -> None:
        for note in data.notes:
            self.output.note(f"{plain(str(path))}: {in_options(note)}")

    def _arguments(self, labelled: bool) -> dict[str, Any]:
        """Return what both functions of ``hinge.data`` take."""
        bases: dict[IndexBase, Any] = {
            IndexBase.AUTO: "auto",
            IndexBase.ZERO: True,
            IndexBase.ONE: False,
        }
        return {
            "format": None if self.options.format is None else str(self.options.format),
            "label": _column(self.options.label) if labelled else False,
            "zero_based": bases[self.options.index_base],
            "header": self.options.header,
        }


def _column(label: str | None) -> str | int | None:
    """Return a column as the user named it: a number where it is written like one."""
    return int(label) if label is not None and _NUMBER.fullmatch(label) else label


@contextmanager
def unnamed_rows() -> Iterator[None]:
    """Let a model with names of features take rows without, which ``fitted_to`` has matched."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


@contextmanager
def stored(path: Path, options: ReadingOptions) -> Iterator[Path]:
    """Give a file to read; standard input is put into a passing one, since readers go back.

    Parameters
    ----------
    path : Path
        A file, or ``-``.
    options : ReadingOptions
        What the user asked for; standard input needs the format unless it is LIBSVM text.

    Yields
    ------
    Path
        A file on the disk.
    """
    if path != STDIN:
        yield path
        return
    ending = ".libsvm" if options.format is None else f".{options.format}"
    with tempfile.TemporaryDirectory(prefix="hinge-") as folder:
        copy = Path(folder, f"stdin{ending}")
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield copy
        except DataFileError as error:
            raise DataFileError(error.reason, "standard input", error.line, error.column) from error


def fitted_to(model: Any, data: Dataset, output: Output) -> Dataset:
    """Return the data with the model's features in the model's order, or say why not.

    Columns with names are matched by name. A sparse file tells its width only by the largest index
    in it, so that features which the model never saw count as absent, as in LIBSVM; a dense table
    of another width is another table.

    Parameters
    ----------
    model : LinearSVC
        A fitted model.
    data : Dataset
        Rows.
    output : Output
        Where notes go.

    Returns
    -------
    Dataset
        With ``n_features_in_`` columns.
    """
    names = getattr(model, "feature_names_in_", None)
    if names is not None and data.feature_names is not None:
        return _by_name([str(name) for name in names], data, output)
    wanted, got = int(model.n_features_in_), int(data.X.shape[1])
    if wanted == got:
        return data
    if not sp.issparse(data.X):
        reason = (
            f"the rows have {got} features, but the model was trained on {wanted}; check --label, "
            "or --unlabelled for a table without labels."
        )
        raise DataFileError(reason, data.source)
    if got > wanted:
        output.note(
            f"{plain(data.source)}: features {wanted + 1} to {got} were not in the training data "
            "and are ignored."
        )
        return replace(data, X=data.X[:, :wanted])
    X: Any = data.X
    return replace(data, X=sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], wanted)))


def _by_name(wanted: list[str], data: Dataset, output: Output) -> Dataset:
    names = data.feature_names
    assert names is not None
    if list(names) == wanted:
        return data
    place = {name: number for number, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        reason = (
            f"these columns that the model was trained on are not among its features: "
            f"{_listed(missing)}; check --label, or --unlabelled for a table without labels."
        )
        raise DataFileError(reason, data.source)
    known = set(wanted)
    extra = [name for name in names if name not in known]
    if extra:
        output.note(
            f"{plain(data.source)}: these columns were not in the training data and are ignored: "
            f"{_listed(extra)}."
        )
    X = data.X[:, [place[name] for name in wanted]]
    return replace(data, X=X, feature_names=tuple(wanted))


def _listed(names: list[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"


def labels_like(classes: np.ndarray[Any, Any], y: Any, source: str) -> np.ndarray[Any, Any]:
    """Return labels of a file as values that compare with a model's classes.

    Parameters
    ----------
    classes : ndarray of shape (n_classes,)
        The classes of a model.
    y : ndarray of shape (n_samples,)
        Labels out of a file.
    source : str
        The file.

    Returns
    -------
    ndarray of shape (n_samples,)
        The labels; text and numbers are never taken for each other.
    """
    labels = np.asarray(y)
    text = [kind in "USO" for kind in (classes.dtype.kind, labels.dtype.kind)]
    if text[0] != text[1]:
        kinds = ["text" if is_text else "numbers" for is_text in text]
        message = (
            f"{plain(source)}: the labels are {kinds[1]}, but the classes of the model are "
            f"{kinds[0]}; name the right column with --label."
        )
        raise CommandError(message)
    return labels
