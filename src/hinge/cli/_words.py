"""Sentences of the library, which name parameters, in the words of the command line."""

from __future__ import annotations

import re

_WORDS = [
    (r"\blabel=False\b", "--unlabelled"),
    (r"\blabel=", "--label"),
    (r"\bzero_based=True\b", "--index-base 0"),
    (r"\bzero_based=False\b", "--index-base 1"),
    (r"\bheader=True\b", "--header"),
    (r"\bheader=False\b", "--no-header"),
    (r"\bmemory_limit=(\d+)", r"--memory-limit \1"),
    (r"\bmemory_limit\b", "--memory-limit"),
    (
        r"\bpass multilabel=True if rows have several labels\b",
        "split rows with several labels into files",
    ),
    (r"\bformat='(\w+)'", r"--format \1"),
    (r"\bformat=", "--format"),
    (r"\bdtype=", "--dtype "),
    (r"save the model with proof=True", "train without --no-proof"),
    (r"\b(max|time)_(iter|limit)\b", r"--\1-\2"),
    (r"\btol\b", "--tol"),
    (r"\bhinge\.verify with\b", "hinge verify on"),
]
_COMPILED = [(re.compile(pattern), words) for pattern, words in _WORDS]


def in_options(text: str) -> str:
    """Return a sentence with options in the place of parameters.

    Parameters
    ----------
    text : str
        A message of the library.

    Returns
    -------
    str
        The same for somebody who types commands.
    """
    for pattern, words in _COMPILED:
        text = pattern.sub(words, text)
    return text
