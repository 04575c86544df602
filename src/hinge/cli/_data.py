"""Data files as commands need them: read with the user's options, with notes passed on."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hinge.cli._console import Output
from hinge.cli._errors import UsageError
from hinge.cli._labels import plain
from hinge.cli._options import IndexBase, ReadingOptions
from hinge.cli._progress import waiting
from hinge.cli._words import in_options
from hinge.data import Dataset, iter_blocks, read
from hinge.errors import DataFileError, InvalidParameterError

STDIN = Path("-")
_NUMBER = re.compile(r"-?[0-9]{1,9}")
COUNTED = ("zero", "one")  # the words for the two bases of indices


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
    index_base : int or None, default=None
        Number of the first feature in LIBSVM text that a model was trained on, which holds for
        other files too unless the options say otherwise.
    """

    options: ReadingOptions
    output: Output
    threads: int | None = None
    index_base: int | None = None

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
            self._explained(file, path),
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
        with stored(path, self.options) as file, self._explained(file, path):
            for number, block in enumerate(iter_blocks(file, **self._arguments(labelled))):
                if number == 0:
                    self._pass_on(block, path)
                yield block

    def _pass_on(self, data: Dataset, path: Path) -> None:
        for note in data.notes:
            self.output.note(f"{plain(str(path))}: {in_options(note)}")
        if self.index_base is not None and data.index_base is not None:
            counted = COUNTED[data.index_base]
            text = f"Indices are counted from {counted}, as in the training data of the model."
            self.output.note(f"{plain(str(path))}: {text}")

    @contextmanager
    def _explained(self, file: Path, path: Path) -> Iterator[None]:
        """Put complaints about options into our words, and say whose index base was taken."""
        try:
            yield
        except InvalidParameterError as error:
            message = in_options(str(error), str(file))
            raise UsageError(message.replace(str(file), _shown(path))) from error
        except DataFileError as error:
            if self.index_base is None or "zero_based" not in error.reason:
                raise
            reason = (
                "the index is 0, but those of the model's training data are counted from one; if "
                "both files count from zero, train again with --index-base 0."
            )
            raise DataFileError(reason, error.path, error.line, error.column) from error

    def _arguments(self, labelled: bool) -> dict[str, Any]:
        """Return what both functions of ``hinge.data`` take."""
        bases: dict[IndexBase, Any] = {
            IndexBase.AUTO: "auto",
            IndexBase.ZERO: True,
            IndexBase.ONE: False,
        }
        base = bases[self.options.index_base]
        if self.index_base is not None:
            base = self.index_base == 0
        return {
            "format": None if self.options.format is None else str(self.options.format),
            "label": _column(self.options.label) if labelled else False,
            "zero_based": base,
            "header": self.options.header,
        }


def _shown(path: Path) -> str:
    """Return what a file is called in a message."""
    return "standard input" if path == STDIN else str(path)


def _column(label: str | None) -> str | int | None:
    """Return a column as the user named it: a number where it is written like one."""
    return int(label) if label is not None and _NUMBER.fullmatch(label) else label


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
            raise DataFileError(error.reason, _shown(path), error.line, error.column) from error
