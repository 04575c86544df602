"""Finds the function bodies of a C++ file, well enough to count their lines."""

from __future__ import annotations

import re
from typing import NamedTuple

_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL
)
_NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|concept|requires)\b[^()]*$")


class Body(NamedTuple):
    """One function: what stands before its brace, and its lines between the braces."""

    head: str
    first_line: int
    lines: int


def _without_noise(text: str) -> str:
    """Blank out comments and literals, keeping every newline where it is."""
    return _NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def function_bodies(text: str) -> list[Body]:
    """Return the outermost function bodies; lambdas and blocks count with what holds them."""
    code = _without_noise(text)
    bodies: list[Body] = []
    opened: list[tuple[int, str, bool]] = []
    head_start = 0
    for position, character in enumerate(code):
        if character == "{":
            head = code[head_start:position].strip()
            inside = any(is_function for _, _, is_function in opened)
            is_function = "(" in head and not inside and not _NOT_A_FUNCTION.search(head)
            opened.append((position, head, is_function))
        elif character == "}" and opened:
            start, head, is_function = opened.pop()
            if is_function:
                lines = max(code.count("\n", start, position) - 1, 0)
                bodies.append(Body(head, code.count("\n", 0, start) + 1, lines))
        if character in "{};":
            head_start = position + 1
    return bodies
