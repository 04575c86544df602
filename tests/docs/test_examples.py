"""Every example in the README and in the documentation runs and prints what the page says.

The ``python`` blocks of a page run in order in one namespace. A ``text`` block that follows one
directly is what it prints, compared word by word. Where a run's own figures are shown, which differ
from one machine to the next, the comment ``<!-- figures vary -->`` stands before the block, and
every number is compared as a number only.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
VARIES = "<!-- figures vary -->"


@dataclass(frozen=True)
class Example:
    """One ``python`` block of a page, and what it prints."""

    code: str
    line: int
    shown: str
    varies: bool

    def agrees(self, printed: str) -> bool:
        """Return whether this was printed, white space aside."""
        return _words(self.shown, self.varies) == _words(printed, self.varies)


def _words(text: str, varies: bool) -> list[str]:
    return (NUMBER.sub("#", text) if varies else text).split()


def _pages() -> list[Path]:
    site = [
        path
        for path in sorted((ROOT / "docs").rglob("*.md"))
        if path.relative_to(ROOT / "docs").parts[0] not in ("_build", "results")
    ]
    return [ROOT / "README.md", *site]


def _examples(text: str) -> list[Example]:
    found = []
    for fence, after in itertools.pairwise([*FENCE.finditer(text), None]):
        if fence is None or fence.group(1) != "python":
            continue
        shown, varies = "", False
        if after is not None and after.group(1) == "text":
            between = text[fence.end() : after.start()].strip()
            if between in ("", VARIES):
                shown, varies = after.group(2), between == VARIES
        line = text.count("\n", 0, fence.start()) + 2
        found.append(Example(fence.group(2), line, shown, varies))
    return found


def _pages_with_examples() -> list[Path]:
    return [path for path in _pages() if _examples(path.read_text())]


@pytest.mark.parametrize("path", _pages_with_examples(), ids=lambda p: str(p.relative_to(ROOT)))
def test_examples_of_a_page(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    for example in _examples(path.read_text()):
        source = compile("\n" * (example.line - 1) + example.code, str(path), "exec")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(source, namespace)
        printed = output.getvalue()
        where = f"{path.name}:{example.line}"
        assert example.agrees(printed), f"{where} prints\n{printed}\nthe page says\n{example.shown}"


def test_the_pages_have_examples() -> None:
    assert len(_pages_with_examples()) >= 12


@pytest.mark.parametrize(
    ("shown", "varies", "agrees"),
    [("1.5 rows", False, True), ("1.4 rows", False, False), ("1.4 rows", True, True)],
)
def test_what_is_compared(shown: str, varies: bool, agrees: bool) -> None:
    mark = f"{VARIES}\n" if varies else ""
    text = f"```python\nprint('1.5   rows')\n```\n\n{mark}```text\n{shown}\n```\n"
    (example,) = _examples(text)
    assert example.line == 2
    assert example.agrees("1.5   rows\n") is agrees
    assert not example.agrees("1.5 columns\n")
