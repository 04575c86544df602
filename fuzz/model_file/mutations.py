"""Ways to damage a model file, by accident or on purpose.

Each takes a random generator and a sound file and returns bytes. Those of ``STRUCTURED`` know the
format, and take a flag that says whether the digest is made to fit afterwards.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.model_file.parts import join, split

EXTREMES: list[Any] = [
    *(
        0,
        1,
        -1,
        2,
        127,
        255,
        65536,
        2**31 - 1,
        2**31,
        2**32 + 1,
        2**53,
        2**62,
        2**63,
        2**64,
        -(2**63),
    ),
    *(10**300, 0.5, -0.5, 1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan),
    *("", "nan", "inf", "-inf", "tensors", "../../etc/passwd", "\x00", "\ud800", "x" * 3000),
    *(None, True, False, [], {}, [[]], {"": None}),
]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan]


def flip_bits(rng: random.Random, content: bytes) -> bytes:
    """Flip one to four bits anywhere."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def replace_bytes(rng: random.Random, content: bytes) -> bytes:
    """Put random bytes over a stretch."""
    start = rng.randrange(len(content))
    length = rng.choice([1, 2, 4, 8, 64])
    return content[:start] + rng.randbytes(length) + content[start + length :]


def move_bytes(rng: random.Random, content: bytes) -> bytes:
    """Take a stretch out, double it, or put it somewhere else."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice([1, 3, 8, 100, 1000]))
    piece = content[start:stop]
    rest = content[:start] + content[stop:]
    place = rng.randrange(len(rest) + 1)
    copies = rng.choice([0, 1, 2])
    return rest[:place] + piece * copies + rest[place:]


def cut_or_extend(rng: random.Random, content: bytes) -> bytes:
    """Cut the end off, or add to it."""
    if rng.random() < 0.5:
        return content[: rng.randrange(len(content))]
    return content + rng.randbytes(rng.choice([1, 8, 1000]))


def other_length(rng: random.Random, content: bytes) -> bytes:
    """Give the header another length."""
    length = int.from_bytes(content[:8], "little")
    new = rng.choice([0, 1, length - 1, length + 1, 2**20, 2**31, 2**63, 2**64 - 1])
    return (new % 2**64).to_bytes(8, "little") + content[8:]


def change_header(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Put an extreme in the place of something in the header."""
    parts = split(content)
    _change_somewhere(rng, parts.header)
    return join(parts, repair)


def change_description(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Put an extreme in the place of something in the description."""
    parts = split(content)
    _change_somewhere(rng, parts.description)
    return join(parts, repair)


def change_numbers(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Put special or random numbers in the place of some in the tensors."""
    parts = split(content)
    numbers = np.frombuffer(parts.data, dtype=np.uint8).copy()
    for _ in range(rng.choice([1, 1, 2, 10])):
        place = 8 * rng.randrange(max(1, len(numbers) // 8))
        value = rng.choice([*NUMBERS, rng.gauss(0, 1)])
        numbers[place : place + 8] = np.frombuffer(np.float64(value).tobytes(), np.uint8)
    parts.data = numbers.tobytes()
    return join(parts, repair)


def change_integers(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Put small and extreme whole numbers in the place of some in the tensors."""
    parts = split(content)
    data = bytearray(parts.data)
    for _ in range(rng.choice([1, 1, 3])):
        size = rng.choice([4, 8])
        place = size * rng.randrange(max(1, len(data) // size))
        value = rng.choice([0, 1, 2, 7, 8, 9, 23, 2**20, 2**31, 2**32 - 1, 2**61, 2**63, 2**64 - 1])
        data[place : place + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
    parts.data = bytes(data[: len(parts.data)])
    return join(parts, repair)


def swap_parts(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Let two tensors, or two fields of the description, change places."""
    parts = split(content)
    for table in rng.sample([parts.header, parts.description, parts.description["tensors"]], 2):
        if len(table) > 1:
            first, second = rng.sample(sorted(table), 2)
            table[first], table[second] = table[second], table[first]
    return join(parts, repair)


def remove_or_rename(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Leave a tensor or a field out, or call it something else."""
    parts = split(content)
    table = rng.choice([parts.header, parts.description, parts.description["tensors"]])
    name = rng.choice(sorted(table))
    value = table.pop(name)
    if rng.random() < 0.5:
        table[rng.choice(["extra", name + "x", "__class__", "0", ""])] = value
    return join(parts, repair)


def remove_with_data(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Leave a tensor out everywhere: entry, bytes and table."""
    parts = split(content)
    name = rng.choice(sorted(parts.header))
    start, stop = parts.header.pop(name)["data_offsets"]
    parts.description["tensors"].pop(name, None)
    parts.data = parts.data[:start] + parts.data[stop:]
    for entry in parts.header.values():
        if entry["data_offsets"][0] >= stop:
            entry["data_offsets"] = [place - (stop - start) for place in entry["data_offsets"]]
    return join(parts, repair)


def reshape(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Give a tensor another shape or type of the same size, in the header and in the table."""
    parts = split(content)
    name = rng.choice(sorted(parts.header))
    entry = parts.header[name]
    size = entry["data_offsets"][1] - entry["data_offsets"][0]
    dtype, width = rng.choice([("F64", 8), ("I64", 8), ("U8", 1), ("F32", 4), ("BOOL", 1)])
    shapes = [[size // width], [1, size // width], [size // width, 1], [1, 1, size // width]]
    entry["dtype"], entry["shape"] = dtype, rng.choice([*shapes, entry["shape"][::-1]])
    parts.description["tensors"][name] = [entry["dtype"], entry["shape"]]
    return join(parts, repair)


def double_name(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Say a name of the header twice, which most JSON readers let pass."""
    parts = split(content)
    name = rng.choice(sorted(parts.header))
    other = json.dumps(parts.header[rng.choice(sorted(parts.header))])
    text = join(parts, repair)
    length = int.from_bytes(text[:8], "little")
    header = text[8 : 8 + length].decode()
    spelled = header.rstrip()[:-1] + f", {json.dumps(name)}: {other}}}"
    return join(parts, repair, spelled)


def many_tensors(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Add thousands of tensors that take no room."""
    parts = split(content)
    end = len(parts.data)
    for number in range(rng.choice([100, 3000])):
        parts.header[f"t{number}"] = {"dtype": "U8", "shape": [0], "data_offsets": [end, end]}
    return join(parts, repair)


def deep_nesting(rng: random.Random, content: bytes, repair: bool) -> bytes:
    """Nest brackets deeply, in the header or in the description."""
    parts = split(content)
    depth = rng.choice([500, 100_000])
    text = "[" * depth + "]" * depth
    if rng.random() < 0.5:
        return join(parts, repair, f'{{"__metadata__": {text}}}')
    return join(parts, repair, json.dumps({"__metadata__": {"hinge": text}}))


PLAIN: list[Callable[[random.Random, bytes], bytes]] = [
    flip_bits,
    replace_bytes,
    move_bytes,
    cut_or_extend,
    other_length,
]
STRUCTURED: list[Callable[[random.Random, bytes, bool], bytes]] = [
    change_header,
    change_description,
    change_numbers,
    change_integers,
    swap_parts,
    remove_or_rename,
    remove_with_data,
    reshape,
    double_name,
    many_tensors,
    deep_nesting,
]
_WEIGHTS = [4, 6, 6, 4, 3, 3, 3, 3, 2, 0.1, 0.1]


def mutate(rng: random.Random, content: bytes) -> tuple[str, bool, bytes]:
    """Return the name of a mutation, whether the digest was repaired, and the mutated file."""
    if rng.random() < 0.3:
        plain = rng.choice(PLAIN)
        return plain.__name__, False, plain(rng, content)
    structured = rng.choices(STRUCTURED, _WEIGHTS)[0]
    repair = rng.random() < 0.75
    return structured.__name__, repair, structured(rng, content, repair)


def _change_somewhere(rng: random.Random, tree: Any) -> None:
    """Put an extreme in the place of one leaf, or of one branch, of plain content."""
    while True:
        keys = sorted(tree) if isinstance(tree, dict) else range(len(tree))
        if not len(keys):
            return
        key = rng.choice(list(keys))
        if isinstance(tree[key], dict | list) and rng.random() < 0.9:
            tree = tree[key]
            continue
        nearby = [tree[key] + 1, tree[key] - 1] if type(tree[key]) is int else []
        tree[key] = rng.choice([*EXTREMES, *nearby])
        return
