"""One against one: only the votes of the class that is likely to win.

A class that wins all of its pairs has more votes than any other can have. So a query's class is
guessed, and the functions of that class's pairs alone are evaluated in float32, over the support
vectors that have a coefficient in one of them. Where all of these votes are proven so is the label;
a wrong guess, or a class that wins with fewer votes, leaves the query open. The guess is the winner
among the values of the embedding after some of its points, which need prove nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hinge._native import core
from hinge.anytime.embedding import Embedding
from hinge.anytime.functions import Functions
from hinge.anytime.queries import Queries
from hinge.anytime.rules import Rule, VoteRule
from hinge.anytime.single import SingleSums, packed_bytes
from hinge.anytime.stages import Settle

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]

_BYTES = 1 << 28  # of packed support vectors
_ROWS_A_CLASS = 32  # fewer rows of a class than this cost more alone than all classes together


def pairs_of(code: int, n_classes: int) -> Ids:
    """Return the numbers of the functions that a class has a vote in.

    Parameters
    ----------
    code : int
        Position of the class.
    n_classes : int
        How many classes there are.
    """
    first, second = np.triu_indices(n_classes, 1)
    return np.flatnonzero((first == code) | (second == code))


@dataclass(frozen=True)
class VoteStage:
    """The votes of a guessed class.

    Parameters
    ----------
    functions : Functions
        The functions, one for every pair of classes.
    embedding : Embedding
        Their embedding.
    exit : int
        Which exit of the embedding the guess is made at, by position.
    rule : VoteRule
        What counts votes.
    """

    functions: Functions
    embedding: Embedding
    exit: int
    rule: VoteRule
    name: str = "votes"

    @staticmethod
    def of(
        functions: Functions, embedding: Embedding | None, position: int, rule: Rule
    ) -> VoteStage | None:
        """Return the stage, if labels are made of votes and there is an embedding to guess from.

        Parameters
        ----------
        functions : Functions
            The functions.
        embedding : Embedding or None
            Their embedding.
        position : int
            Which exit the guess is made at.
        rule : Rule
            What makes labels.
        """
        if embedding is None or not isinstance(rule, VoteRule):
            return None
        if packed_bytes(functions.terms) * rule.n_classes > _BYTES:
            return None
        return VoteStage(functions, embedding, position, rule)

    def run(self, queries: Queries, ids: Ids, settle: Settle, terms_left: int) -> None:
        """Bound the values of every query's likeliest class."""
        if len(ids) < _ROWS_A_CLASS * self.rule.n_classes:
            return
        guessed = self._guesses(queries, ids)
        cost = self.embedding.exits[self.exit].count
        for code in np.unique(guessed):
            some = ids[guessed == code]
            sums: SingleSums | None = queries.made(
                f"class {code}", self.functions, partial(self._sums, int(code))
            )
            if sums is None or sums.terms.n_rows + cost > terms_left:
                continue
            lower, upper = sums.intervals(queries, some)
            pairs = pairs_of(int(code), self.rule.n_classes)
            wide = (len(some), len(self.functions.intercept))
            low, high = np.full(wide, -np.inf), np.full(wide, np.inf)
            low[:, pairs], high[:, pairs] = lower, upper
            settle(some, low, high, sums.terms.n_rows + cost)

    def _guesses(self, queries: Queries, ids: Ids) -> NDArray[np.intp]:
        """Return the class that wins by the embedding's values."""
        one = self.embedding.exits[self.exit]
        basis: Any = queries.made(
            "guess", one, lambda: self.embedding.basis.take(np.arange(one.count))
        )
        terms = queries.terms("guess", basis, np.float32)
        kept = queries.made(
            "guess sums", one, lambda: core.KeptTerms(terms.rows, np.ascontiguousarray(one.coef.T))
        )
        points = queries.side(np.float32)
        sums = np.empty((len(ids), one.coef.shape[1] + 1))
        kept.sums(points.rows, 0, ids, sums)
        values = np.nan_to_num(sums[:, :-1] + self.functions.intercept)
        return np.asarray(self.rule.codes(values))

    def _sums(self, code: int) -> SingleSums | None:
        """Return the functions of a class's pairs over the terms that they have."""
        functions = self.functions
        pairs = pairs_of(code, self.rule.n_classes)
        used = np.flatnonzero(np.any(functions.coef[:, pairs] != 0.0, axis=1))
        if len(used) == 0:
            return None
        return SingleSums(
            f"class {code}",
            functions.terms.take(used),
            np.ascontiguousarray(functions.coef[np.ix_(used, pairs)]),
            functions.total[pairs],
            len(functions.machine.coefficients),
            functions.intercept[pairs],
        )
