"""Ways to damage a LIBSVM text model: by accident, and on purpose."""

from __future__ import annotations

import random

from fuzz.liblinear_text.mutations import EXTREMES as NUMBERS
from fuzz.liblinear_text.mutations import flipped_bit, lines, other_byte, part_removed, part_twice

SEEDS = (
    b"svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 3\nrho 0.25\nlabel -1 1\n"
    b"nr_sv 2 1\nSV\n0.5 1:0.25 3:-1 \n0.25 2:1e-3 \n-0.75 1:2 2:3 3:4 \n",
    b"svm_type c_svc\nkernel_type polynomial\ndegree 3\ngamma 0.2\ncoef0 -1\nnr_class 3\n"
    b"total_sv 4\nrho 0.5 -0.25 1\nlabel 7 -2 3\nnr_sv 1 2 1\nSV\n1 0.5 1:1 \n-1 0.25 2:2 4:1 \n"
    b"0 1 1:3 \n-0.5 -1.25 3:1 \n",
    b"svm_type nu_svc\nkernel_type sigmoid\ngamma 0.1\ncoef0 0\nnr_class 2\ntotal_sv 2\nrho 0\n"
    b"label 4 2\nprobA -1.5\nprobB 0.125\nnr_sv 1 1\nSV\n1 0:1 2:1 \n-1 1:1 \n",
    b"svm_type c_svc\r\nkernel_type linear\r\nnr_class 2\r\ntotal_sv 2\r\nrho -3\r\nlabel 1 2\r\n"
    b"nr_sv 1 1\r\nSV\r\n1 1:5 \r\n-1 \r\n",
    b"svm_type c_svc\nkernel_type precomputed\nnr_class 2\ntotal_sv 2\nrho 1\nlabel 1 0\n"
    b"nr_sv 1 1\nSV\n1 0:3 \n-1 0:1 \n",
)

EXTREMES = (
    *NUMBERS, b"one_class", b"epsilon_svr", b"nu_svc", b"precomputed", b"linear", b"rbf",
    b"polynomial", b"1:1", b"0:1", b"2147483647:1", b"4294967297:1", b"-1:1", b"1:nan", b"1:",
    b":1", b"1:1:1", b"3:1", b"99999999999:1",
)  # fmt: skip


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Return a file that has been damaged one to three times.

    Parameters
    ----------
    content : bytes
        A file.
    rng : random.Random
        Where chance comes from.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice(KINDS)(content, rng)
    return content


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _extreme_token(content: bytes, rng: random.Random) -> bytes:
    """Replace a word anywhere."""
    tokens = content.split(b" ")
    number = rng.randrange(len(tokens))
    word, end, rest = tokens[number].partition(b"\n")
    tokens[number] = rng.choice(EXTREMES) + end + rest if word else rng.choice(EXTREMES)
    return b" ".join(tokens)


def _header_number(content: bytes, rng: random.Random) -> bytes:
    """Give one of the header's lines an extreme value."""
    parts = content.split(b"\n")
    number = rng.randrange(min(11, len(parts)))
    key = parts[number].split(b" ")[0]
    parts[number] = key + b" " + rng.choice(EXTREMES)
    return b"\n".join(parts)


def _digit(content: bytes, rng: random.Random) -> bytes:
    """Change a digit of a support vector: often still a model, but another one."""
    start = content.find(b"\nSV")
    digits = [i for i in range(start + 1, len(content)) if content[i : i + 1].isdigit()]
    if start < 0 or not digits:
        return content
    changed = bytearray(content)
    changed[rng.choice(digits)] = rng.choice(b"0123456789")
    return bytes(changed)


def _count(content: bytes, rng: random.Random) -> bytes:
    """Change a digit of one of the counts, of the labels or of rho."""
    stop = content.find(b"\nSV")
    digits = [i for i in range(max(stop, 0)) if content[i : i + 1].isdigit()]
    if not digits:
        return content
    changed = bytearray(content)
    changed[rng.choice(digits)] = rng.choice(b"0123456789-")
    return bytes(changed)


def _joined(content: bytes, rng: random.Random) -> bytes:
    """Take the beginning of this file and the end of another."""
    other = rng.choice(SEEDS)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other)) :]


KINDS = (
    flipped_bit,
    other_byte,
    _cut,
    part_removed,
    part_twice,
    _extreme_token,
    _header_number,
    lines,
    _digit,
    _count,
    _joined,
)
