"""Error and gap against C: the numbers of ``hinge path``, and their picture."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge.cli._errors import Exit, UsageError
from hinge.durable import atomic_write
from hinge.errors import MissingDependencyError

Floats = NDArray[np.float64]

_FORMATS = (".png", ".svg", ".pdf")
_INK, _SOFT, _LINE = "#1f4e79", "#9bbad9", "#b03a2e"


@dataclass(frozen=True)
class Curve:
    """What a path has found.

    Parameters
    ----------
    Cs : ndarray of shape (n_Cs,)
        Values of C, in the order asked for; after an interruption, those that a fold is done with.
    errors : ndarray of shape (n_folds, n_Cs)
        Fraction of wrong labels, by fold; NaN where a fold is not done.
    gaps, seconds : ndarray of shape (n_Cs,)
        The largest relative gap, and the time of all fits.
    tolerance : float
        The relative gap that was asked for.
    folds : int
        Number of folds; 0 where the rows trained on were scored.
    best : float or None
        The value with the least error; None if none was done in every fold.
    warnings : tuple of str
        What was not reached.
    interrupted : bool
        Whether Ctrl-C ended it.
    """

    Cs: Floats
    errors: Floats
    gaps: Floats
    seconds: Floats
    tolerance: float
    folds: int
    best: float | None
    warnings: tuple[str, ...] = ()
    interrupted: bool = False

    @property
    def mean_errors(self) -> Floats:
        """The mean error of every C, over the folds that are done with it."""
        return np.asarray(np.nanmean(self.errors, axis=0))

    @property
    def least_error(self) -> float:
        """The mean error at the best value."""
        whole = ~np.isnan(self.errors).any(axis=0)
        return float(self.mean_errors[whole].min())

    @property
    def folds_done(self) -> list[int]:
        """How many folds are done with every C."""
        return [int(count) for count in np.count_nonzero(~np.isnan(self.errors), axis=0)]

    @property
    def exit_code(self) -> Exit:
        """What the command returns: solved only if every gap is what was asked for."""
        if self.interrupted:
            return Exit.INTERRUPTED
        return Exit.SOLVED if np.all(self.gaps <= self.tolerance) else Exit.NOT_CERTIFIED

    def data(self) -> dict[str, Any]:
        """Return the numbers, for ``--json``."""
        columns = zip(self.Cs, self.gaps, self.seconds, self.errors.T, strict=True)
        return {
            "exit_code": int(self.exit_code),
            "folds": self.folds,
            "tolerance": self.tolerance,
            "best_C": self.best,
            "interrupted": self.interrupted,
            "points": [
                {
                    "C": float(C),
                    "relative_gap": float(gap),
                    "seconds": float(seconds),
                    "error": float(np.nanmean(errors)),
                    "errors": [float(error) for error in errors],
                }
                for C, gap, seconds, errors in columns
            ],
            "warnings": list(self.warnings),
        }


def check_matplotlib(path: Path) -> None:
    """Refuse, before any work is done, a picture that cannot be drawn.

    Parameters
    ----------
    path : Path
        The file of the picture.
    """
    if path.suffix.lower() not in _FORMATS:
        message = f"--plot writes {', '.join(_FORMATS)}; got {str(path)!r}."
        raise UsageError(message)
    _figure()


def draw(curve: Curve, path: Path) -> None:
    """Draw error above and gap below, against C, and save the picture.

    Parameters
    ----------
    curve : Curve
        The numbers.
    path : Path
        A file that ends in .png, .svg or .pdf; it appears whole or not at all.
    """
    figure = _figure()(figsize=(7.0, 5.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    order = np.argsort(curve.Cs, kind="stable")
    Cs, errors = curve.Cs[order], curve.errors[:, order]
    if curve.folds:
        for fold in errors:
            above.plot(Cs, fold, color=_SOFT, linewidth=0.8)
    above.plot(Cs, curve.mean_errors[order], color=_INK, marker="o", markersize=4)
    if curve.best is not None:
        label = f"least at C = {curve.best:.3g}"
        above.axvline(curve.best, color=_LINE, linestyle=":", label=label)
        above.legend(frameon=False)
    above.set_ylabel(f"error, {curve.folds} folds" if curve.folds else "training error")
    # A gap of zero, or one that proves nothing, has no place on a logarithmic scale.
    gaps = np.where(np.isfinite(curve.gaps) & (curve.gaps > 0), curve.gaps, np.nan)[order]
    below.plot(Cs, gaps, color=_INK, marker="o", markersize=4)
    below.axhline(curve.tolerance, color=_LINE, linestyle=":", label="asked for")
    below.set(xscale="log", yscale="log", xlabel="C", ylabel="relative gap")
    if curve.tolerance > 0.0:
        # Within less than a decade the marks of a logarithmic scale are numbers nobody reads.
        lowest, highest = np.nanmin([*gaps, curve.tolerance]), np.nanmax([*gaps, curve.tolerance])
        below.set_ylim(min(lowest, highest / 10.0) / 2.0, highest * 2.0)
    below.legend(frameon=False)
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix[1:].lower(), dpi=150)
    with atomic_write(path) as file:
        file.write(picture.getvalue())


def _figure() -> Any:
    """Return matplotlib's class of figures, which needs no screen."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an optional package
    except ImportError:
        message = "--plot needs matplotlib; install it with pip install 'hinge[viz]'."
        raise MissingDependencyError(message) from None
    return Figure
