"""What is wrong with a line of LIBSVM text, in words: what was found, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from hinge.errors import DataFileError

if TYPE_CHECKING:
    from hinge._native import core
    from hinge.data.libsvm_options import TextOptions
    from hinge.data.libsvm_text import Slot

_LONGEST_SHOWN = 40
_WORD_END = re.compile(rb"[ \t\n#]")
_WITH_COMMA = re.compile(r"'[+-]?\d+,\d+(e[+-]?\d+)?'", re.IGNORECASE)
_NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)([^a-z].*)?", re.IGNORECASE)


def fault_error(
    slot: Slot,
    outcome: core.LibsvmTextOutcome,
    options: TextOptions,
    path: str,
    lines_before: int,
) -> DataFileError:
    """Return the error for the fault that ended the reading of a piece of text."""
    begin = outcome.fault_offset
    match = _WORD_END.search(slot.text, begin, slot.length)
    word = bytes(slot.text[begin : match.start() if match else slot.length]).rstrip(b"\r")
    line, column = lines_before + outcome.lines + 1, outcome.fault_column + 1
    if outcome.fault == "nul_byte" or b"\0" in word:
        return DataFileError(_NUL_BYTE, path, line, column + max(word.find(b"\0"), 0))
    reason = _REASONS[outcome.fault](_shown(word), options)
    return DataFileError(reason, path, line, column)


def _shown(word: bytes) -> str:
    """Return a word as it can stand in a message: quoted, printable, not too long."""
    text = word[: _LONGEST_SHOWN + 1].decode("ascii", "backslashreplace")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"'{text[:_LONGEST_SHOWN]}...'" if len(text) > _LONGEST_SHOWN else f"'{text}'"


_NUL_BYTE = (
    "there is a NUL byte; text has none. The file is damaged, binary, or UTF-16: "
    "fetch it again or save it as UTF-8."
)


def _label_malformed(word: str, options: TextOptions) -> str:
    if _NOT_FINITE.fullmatch(word.strip("'")):
        return f"the label {word} is not finite; give the row a label or remove it."
    if "," in word and not options.multilabel:
        return (
            f"the label {word} is not one number; pass multilabel=True if rows have several "
            "labels, and write decimals with a point."
        )
    return f"the label {word} is not a number; replace label names by numbers."


def _index_malformed(word: str, _: TextOptions) -> str:
    if word.startswith("'-"):
        return f"the index in {word} is negative; indices begin with 0 or 1."
    return f"the index in {word} is not an integer; a feature is written index:value."


def _index_zero(word: str, _: TextOptions) -> str:
    return (
        f"the index in {word} is 0, but indices are counted from one here; pass zero_based=True "
        'or "auto" if the file counts from zero.'
    )


def _index_above(word: str, options: TextOptions) -> str:
    if options.n_features is None:
        return f"the index in {word} is too large: features are counted in 63 bits."
    last = options.last_index
    counted = "from zero" if options.zero_based is True else "from one"
    return (
        f"the index in {word} is above {last}, the last of n_features={options.n_features} "
        f"counted {counted}; pass a larger n_features, or none to take it from the file."
    )


def _value_malformed(word: str, _: TextOptions) -> str:
    if word == "''":
        return "a value is missing behind the colon; write index:value without blanks."
    if _NOT_FINITE.fullmatch(word.strip("'")):
        return f"the value {word} is not finite; replace it by a number or leave the feature out."
    if _WITH_COMMA.fullmatch(word):
        point = word.strip("'").replace(",", ".")
        return f"the value {word} is not a decimal number; write {point}, with a point."
    return f"the value {word} is not a decimal number."


def _value_overflow(word: str, options: TextOptions) -> str:
    return f"the value {word} is too large for {options.dtype}; scale the feature."


_REASONS: dict[str, Callable[[str, TextOptions], str]] = {
    "label_missing": lambda word, _: (
        f"the row begins with {word}, which is no label; write the label first."
    ),
    "label_malformed": _label_malformed,
    "label_overflow": lambda word, _: f"the label {word} is too large for float64.",
    "label_inexact": lambda word, _: (
        f"the label {word} is a number above 2^53, which float64 cannot tell from its "
        "neighbours; number the labels otherwise."
    ),
    "label_repeated": lambda word, _: f"a label stands twice in {word}; remove one of the two.",
    "query_malformed": lambda word, _: f"{word} is not qid: with a 64-bit integer behind it.",
    "query_missing": lambda *_: (
        "the row has no qid although rows before it have one; give every row a qid or none."
    ),
    "query_unexpected": lambda word, _: (
        f"the row has {word} although rows before it have no qid; give every row a qid or none."
    ),
    "query_misplaced": lambda word, _: f"{word} must come straight after the label.",
    "index_malformed": _index_malformed,
    "index_overflow": lambda word, _: (
        f"the index in {word} is too large: features are counted in 63 bits."
    ),
    "index_zero": _index_zero,
    "index_above": _index_above,
    "index_repeated": lambda word, _: (
        f"the index in {word} has stood in this row before; keep one of the two values."
    ),
    "index_unsorted": lambda word, _: (
        f"the index in {word} is smaller than the one before it; sort the features of the row."
    ),
    "pair_without_colon": lambda word, _: f"{word} is not of the form index:value.",
    "value_malformed": _value_malformed,
    "value_overflow": _value_overflow,
}
