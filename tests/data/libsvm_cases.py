"""Small LIBSVM texts, good and bad, that tests and the fuzzer begin with."""

from __future__ import annotations

from typing import NamedTuple


class Bad(NamedTuple):
    """A text that must be refused: where, and with which words."""

    text: bytes
    line: int
    column: int
    words: str


#: What must be refused, by name.
BAD = {
    "nan": Bad(b"1 1:0.5\n-1 2:nan\n", 2, 6, "the value 'nan' is not finite; replace it"),
    "minus inf": Bad(b"1 1:-inf\n", 1, 5, "the value '-inf' is not finite"),
    "infinity": Bad(b"1 7:Infinity\n", 1, 5, "the value 'Infinity' is not finite"),
    "overflow": Bad(b"1 1:1\n1 1:1e400\n", 2, 5, "the value '1e400' is too large for float64"),
    "index -1": Bad(b"1 1:1\n1 -1:2\n", 2, 3, "the index in '-1:2' is negative"),
    "index beyond 63 bits": Bad(
        b"1 9223372036854775808:1\n", 1, 3, "'9223372036854775808:1' is too large"
    ),
    "largest 63 bits": Bad(
        b"1 9223372036854775807:1\n", 1, 3, "'9223372036854775807:1' is too large"
    ),
    "index of thirty digits": Bad(b"1 " + b"9" * 30 + b":1\n", 1, 3, "counted in 63 bits"),
    "index is a fraction": Bad(b"1 1.5:2\n", 1, 3, "the index in '1.5:2' is not an integer"),
    "index is a word": Bad(b"1 cost:2\n", 1, 3, "the index in 'cost:2' is not an integer"),
    "index missing": Bad(b"1 :2\n", 1, 3, "the index in ':2' is not an integer"),
    "duplicate": Bad(b"1 1:1 2:2 2:3\n", 1, 11, "'2:3' has stood in this row before"),
    "unsorted": Bad(b"\n1 3:1 2:2\n", 2, 7, "'2:2' is smaller than the one before it; sort"),
    "NUL in value": Bad(b"1 1:1\n1 1:2\x00 2:1\n", 2, 6, "there is a NUL byte"),
    "NUL in label": Bad(b"1\x00 1:1\n", 1, 2, "there is a NUL byte"),
    "NUL in comment": Bad(b"1 1:1 # a\x00b\n", 1, 10, "there is a NUL byte"),
    "trailing token": Bad(b"1 1:1 more\n", 1, 7, "'more' is not of the form index:value"),
    "trailing number": Bad(b"1 1:1 2\n", 1, 7, "'2' is not of the form index:value"),
    "value missing": Bad(b"1 3: 4:1\n", 1, 5, "a value is missing behind the colon"),
    "value is a word": Bad(b"1 3:x\n", 1, 5, "the value 'x' is not a decimal number"),
    "value has a comma": Bad(b"1 3:-0,5\n", 1, 5, "is not a decimal number; write -0.5, with a"),
    "value goes on": Bad(b"1 3:1.5.2\n", 1, 5, "the value '1.5.2' is not a decimal number"),
    "value is hexadecimal": Bad(b"1 3:0x10\n", 1, 5, "the value '0x10' is not a decimal"),
    "value has underscore": Bad(b"1 3:1_000\n", 1, 5, "the value '1_000' is not a decimal"),
    "value has two colons": Bad(b"1 3:4:5\n", 1, 5, "the value '4:5' is not a decimal number"),
    "exponent missing": Bad(b"1 3:1e\n", 1, 5, "the value '1e' is not a decimal number"),
    "point only": Bad(b"1 3:.\n", 1, 5, "the value '.' is not a decimal number"),
    "sign only": Bad(b"1 3:-\n", 1, 5, "the value '-' is not a decimal number"),
    "label missing": Bad(b"1 1:1\n2:1\n", 2, 1, "begins with '2:1', which is no label"),
    "label and query missing": Bad(b"qid:1 2:1\n", 1, 1, "'qid:1', which is no label"),
    "label is a word": Bad(b"cat 2:1\n", 1, 1, "the label 'cat' is not a number"),
    "label nan": Bad(b"nan 2:1\n", 1, 1, "the label 'nan' is not finite"),
    "label overflows": Bad(b"1e999 2:1\n", 1, 1, "the label '1e999' is too large for float64"),
    "label inexact": Bad(b"9007199254740993 1:1\n", 1, 1, "is a number above 2^53"),
    "label inexact with a point": Bad(b"9007199254740993.0 1:1\n", 1, 1, "a number above 2^53"),
    "negative label inexact": Bad(b"-9007199254740993. 1:1\n", 1, 1, "a number above 2^53"),
    "labels in one-label file": Bad(b"1,2 2:1\n", 1, 1, "pass multilabel=True"),
    "query of words": Bad(b"1 qid:a 2:1\n", 1, 3, "'qid:a' is not qid: with a 64-bit integer"),
    "query too large": Bad(b"1 qid:9223372036854775808 2:1\n", 1, 3, "with a 64-bit integer"),
    "query missing": Bad(b"1 qid:1 2:1\n1 2:1\n", 2, 3, "the row has no qid although"),
    "query unexpected": Bad(b"1 2:1\n1 qid:1 2:1\n", 2, 3, "the row has 'qid:1' although"),
    "query misplaced": Bad(b"1 2:1 qid:1\n", 1, 7, "'qid:1' must come straight after the label"),
    "lone carriage return": Bad(b"1 1:1\r2:1\n", 1, 5, r"the value '1\r2:1' is not a decimal"),
    "vertical tab": Bad(b"1 1:1\x0b2:1\n", 1, 5, r"the value '1\x0b2:1' is not a decimal"),
    "not ASCII": Bad("1 1:½\n".encode(), 1, 5, r"the value '\xc2\xbd' is not a decimal"),
    "UTF-16": Bad("\ufeff1 1:1\n".encode("utf-16-le"), 1, 1, "this is UTF-16 text; save it"),
    "long word": Bad(b"1 1:" + b"x" * 1000 + b"\n", 1, 5, "'" + "x" * 40 + "...'"),
}

#: What must be read: the same two rows, 1 with 0.5 and 2 in columns 0 and 2, -1 with 0.001 in 1.
SAME_ROWS = {
    "plain": b"1 1:0.5 3:2\n-1 2:0.001\n",
    "CRLF": b"1 1:0.5 3:2\r\n-1 2:0.001\r\n",
    "no final newline": b"1 1:0.5 3:2\n-1 2:0.001",
    "CRLF without the last LF": b"1 1:0.5 3:2\r\n-1 2:0.001\r",
    "comments": b"# head\n1 1:0.5 3:2 # a: b\n  # alone\n-1 2:0.001#tail",
    "blank lines": b"\n\n1 1:0.5 3:2\n \t \n\r\n-1 2:0.001\n\n",
    "tabs and many blanks": b" \t1\t 1:0.5   3:2 \t\n  -1  2:0.001   \n",
    "leading plus": b"+1 +1:+0.5 3:+2\n-1 2:+1e-3\n",
    "leading zeros": b"01 001:0.5 3:02\n-1 " + b"0" * 30 + b"2:000.001\n",
    "other decimals": b"1.0 1:.5 3:2.\n-1. 2:1E-03\n",
    "counted from zero": b"1 0:0.5 2:2\n-1 1:0.001\n",
    "byte order mark": b"\xef\xbb\xbf1 1:0.5 3:2\n-1 2:0.001\n",
}

#: Further texts that are fine.
GOOD = {
    "no features": b"1\n-1 3:1\n",
    "queries": b"1 qid:3 1:1\n2 qid:-4 2:1\n",
    "many digits": b"1 1:" + b"0.1" + b"2" * 2000 + b"e-3\n",
    "int64": b"1 4294967297:1\n",
    "several labels": b"1,3,2 1:1\n 2:1\n4\n",
}


def seeds() -> dict[str, bytes]:
    """Return every text by its name."""
    return {name: bad.text for name, bad in BAD.items()} | SAME_ROWS | GOOD
