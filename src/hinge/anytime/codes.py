"""The classes of a batch: in float32 where that proves them, else by the full evaluation.

For one call of ``predict``: nothing is built ahead, no basis points are chosen and nothing is kept.
A sum in float32 costs half of one in float64, and its error bound leaves few rows open (see
:mod:`hinge.anytime.single`); the classes are those of the full evaluation, ties included.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries, Sides
from hinge.anytime.reasons import why_in_full
from hinge.anytime.rules import Codes, Rule, widened
from hinge.anytime.single import SingleStage, SingleSums
from hinge.machines import Machine, Team
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Values = Callable[[Rows, Ids], Floats]

_LEAST_VALUES = 1 << 20  # kernel values below which bounds cost more than they save


def proven_codes(
    machine: Machine, rule: Rule, rows: Rows, in_full: Values, threads: int = 1
) -> Codes:
    """Return the code of every row, as the full evaluation would give it.

    Parameters
    ----------
    machine : Machine
        The machine.
    rule : Rule
        What makes codes of its values.
    rows : Rows
        The rows.
    in_full : callable
        Given some of the rows and their numbers, the decision values of the full evaluation.
    threads : int, default=1
        How many threads share out the rows; never changes a code.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The codes.
    """
    everyone = np.arange(rows.n_rows)
    is_small = rows.n_rows * len(machine.coefficients) < _LEAST_VALUES
    if is_small or why_in_full(machine):
        return rule.codes(in_full(rows, everyone))
    functions = Functions(machine, machine.support, machine.coefficients)
    if not SingleStage(functions).is_possible:
        return rule.codes(in_full(rows, everyone))
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = _intervals(functions, rows, threads)
        settled, codes = rule.settled(lower, upper)
    left = np.flatnonzero(~settled)
    if len(left):
        some = rows if len(left) == rows.n_rows else rows.take(left)
        codes[left] = rule.codes(in_full(some, left))
    return codes


def _intervals(functions: Functions, rows: Rows, threads: int) -> tuple[Floats, Floats]:
    """Return intervals that hold what the full evaluation computes."""
    queries, everyone = Queries(Sides(functions), rows), np.arange(rows.n_rows)
    lower, upper = SingleSums.of(functions).intervals(queries, everyone, Team(threads))
    return widened(lower, upper, queries.full_errors(everyone))
