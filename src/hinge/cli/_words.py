"""Sentences of the library, which name parameters, in the words of the command line.

Only what the library itself says is put into other words: what stands in quotes comes from the
user's files, and so do paths, which the caller names.
"""

from __future__ import annotations

import re

_WORDS = [
    (r"\blabel=False\b", "--unlabelled"),
    (r"\blabel=(?=[\w-]|$)", "--label "),  # at the end of a part a quotation follows
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
    (r"read it block by block with hinge\.data\.iter_blocks", "turn it into shards"),
    (r", for example by X\[:, numpy\.unique\(X\.indices\)\]", ""),
    (r", as open_shards\(verify=True\) does", ""),  # no command does
    (r"save the model with proof=True", "train without --no-proof"),
    (r"\b(max|time)_(iter|limit)\b", r"--\1-\2"),
    (r"\btol\b", "--tol"),
    (r"\brandom_state\b", "--seed"),
    (r"\bintercept_scaling\b", "--intercept-scale"),
    (r"\bn_jobs\b", "--threads"),
    (r"\bclass_weight\b", "--class-weight"),
    (r"\bhinge\.models\.verify with\b", "hinge verify on"),
]
_COMPILED = [(re.compile(pattern), words) for pattern, words in _WORDS]
# An apostrophe follows a letter, a quotation does not; formats are words of the library.
_QUOTED = r"(?<!\w)(?<!format=)'[^']*'(?!\w)|(?<!\w)\"[^\"]*\"(?!\w)"


def in_options(text: str, kept: str | None = None) -> str:
    """Return a sentence with options in the place of parameters.

    Parameters
    ----------
    text : str
        A message of the library.
    kept : str or None, default=None
        What is left as it is wherever it stands: the path of a file.

    Returns
    -------
    str
        The same for somebody who types commands.
    """
    left_alone = _QUOTED if not kept else rf"(?<!\w){re.escape(kept)}(?!\w)|{_QUOTED}"
    parts = re.split(f"({left_alone})", text)
    return "".join(part if number % 2 else _translated(part) for number, part in enumerate(parts))


def _translated(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    for pattern, words in _COMPILED:
        text = pattern.sub(words, text)
    return text
