"""Ways to damage a LIBLINEAR text model: by accident, and on purpose."""

from __future__ import annotations

import random
from collections.abc import Callable

SEEDS = (
    b"solver_type L2R_L2LOSS_SVC_DUAL\nnr_class 2\nlabel -1 1\nnr_feature 3\nbias 1\nw\n"
    b"0.25 \n-1.0000000000000001e-05 \n0.10000000000000001 \n0.5 \n",
    b"solver_type L2R_L2LOSS_SVC\nnr_class 2\nlabel 2 1\nnr_feature 2\nbias -1\nw\n-7 \n0 \n",
    b"solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 3\nlabel 7 -2 3\nnr_feature 2\nbias 0.5\nw\n"
    b"1 2 3 \n4 -5.25 6 \n-0.125 0 1e-300 \n",
    b"solver_type L2R_L2LOSS_SVC_DUAL\r\nnr_class 4\r\nlabel 1 2 3 4\r\nnr_feature 1\r\n"
    b"bias -1\r\nw\r\n0.10000000000000001 -0.2 0 3 \r\n",
)

# Numbers and words that have broken readers: limits of integers, products that wrap, not finite.
EXTREMES = (
    b"0", b"-0", b"-1", b"1", b"2", b"65536", b"65537", b"2147483647", b"-2147483648",
    b"2147483648", b"4294967295", b"4294967297", b"9223372036854775807", b"18446744073709551616",
    b"1" * 30, b"1" * 500, b"nan", b"inf", b"-inf", b"1e308", b"-1.7976931348623157e308", b"1e309",
    b"1e-400", b"4.9e-324", b"1e", b"0x10", b"1_0", b"+5", b".5", b"5.", b".", b"-", b"", b"\0",
    b"L2R_LR", b"MCSVM_CS", b"L2R_L2LOSS_SVR", b"ONECLASS_SVM", b"L2R_L1LOSS_SVC_DUAL",
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


def flipped_bit(content: bytes, rng: random.Random) -> bytes:
    """Change one bit."""
    changed = bytearray(content or b"\0")
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def other_byte(content: bytes, rng: random.Random) -> bytes:
    """Replace a byte by one that means something."""
    changed = bytearray(content or b"\0")
    changed[rng.randrange(len(changed))] = rng.choice(b"0123456789.-+eE \n\r\t\0\xffw")
    return bytes(changed)


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def part_removed(content: bytes, rng: random.Random) -> bytes:
    """Leave some bytes out."""
    start = rng.randrange(len(content) + 1)
    return content[:start] + content[start + rng.randrange(1, 20) :]


def part_twice(content: bytes, rng: random.Random) -> bytes:
    """Repeat some bytes."""
    start = rng.randrange(len(content) + 1)
    stop = start + rng.randrange(1, 40)
    return content[:stop] + content[start:stop] * rng.choice((1, 1, 2, 50)) + content[stop:]


def _extreme_token(content: bytes, rng: random.Random) -> bytes:
    """Replace a word of the header or a weight."""
    tokens = content.split(b" ")
    number = rng.randrange(len(tokens))
    word, end, rest = tokens[number].partition(b"\n")
    tokens[number] = rng.choice(EXTREMES) + end + rest if word else rng.choice(EXTREMES)
    return b" ".join(tokens)


def _header_number(content: bytes, rng: random.Random) -> bytes:
    """Give one of the header's lines an extreme value."""
    lines = content.split(b"\n")
    number = rng.randrange(min(5, len(lines)))
    key = lines[number].split(b" ")[0]
    lines[number] = key + b" " + rng.choice(EXTREMES)
    return b"\n".join(lines)


def lines(content: bytes, rng: random.Random) -> bytes:
    """Swap, repeat or remove a line."""
    parts = content.split(b"\n")
    one, other = rng.randrange(len(parts)), rng.randrange(len(parts))
    what = rng.randrange(3)
    if what == 0:
        parts[one], parts[other] = parts[other], parts[one]
    elif what == 1:
        parts.insert(other, parts[one])
    else:
        del parts[one]
    return b"\n".join(parts)


def _consistent(content: bytes, rng: random.Random) -> bytes:
    """Change a digit of a weight: still a model, but another one."""
    start = content.find(b"\nw")
    digits = [i for i in range(start + 1, len(content)) if content[i : i + 1].isdigit()]
    if start < 0 or not digits:
        return content
    changed = bytearray(content)
    changed[rng.choice(digits)] = rng.choice(b"0123456789")
    return bytes(changed)


def _joined(content: bytes, rng: random.Random) -> bytes:
    """Take the beginning of this file and the end of another."""
    other = rng.choice(SEEDS)
    return content[: rng.randrange(len(content) + 1)] + other[rng.randrange(len(other)) :]


KINDS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flipped_bit,
    other_byte,
    _cut,
    part_removed,
    part_twice,
    _extreme_token,
    _header_number,
    lines,
    _consistent,
    _joined,
)
