"""Text and tables for the demo: with rich if it is installed, plain if not."""

from __future__ import annotations

import textwrap

WIDTH = 100


def show_heading(text: str) -> None:
    """Print a heading."""
    try:
        from rich.console import Console  # noqa: PLC0415 - optional
    except ImportError:
        print(f"\n{text}\n{'=' * len(text)}\n")
        return
    console = Console(width=WIDTH)
    console.print()
    console.rule(f"[bold]{text}", align="left")
    console.print()


def show_text(text: str, indent: int = 0) -> None:
    """Print text, lines that are too long wrapped."""
    for line in text.splitlines():
        wrapped = textwrap.wrap(line, WIDTH - indent, replace_whitespace=False) or [""]
        # A line with columns stays as it is.
        wrapped = [line] if len(line) <= WIDTH - indent else wrapped
        print("\n".join(" " * indent + piece for piece in wrapped))
    print()


def show_table(columns: list[str], lines: list[list[str]], n_words: int = 2) -> None:
    """Print a table; the first of its columns is a group whose name is shown once.

    The first ``n_words`` columns are words, the others numbers.
    """
    shown = [
        ["" if k and lines[k - 1][0] == line[0] else line[0], *line[1:]]
        for k, line in enumerate(lines)
    ]
    try:
        from rich import box  # noqa: PLC0415 - optional
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Table  # noqa: PLC0415
    except ImportError:
        _show_plain(columns, shown)
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for number, column in enumerate(columns):
        side = "left" if number < n_words else "right"
        table.add_column(column, justify=side, overflow="fold", no_wrap=number == 1)
    for line in shown:
        table.add_row(*line, style="bold" if line[1] == "hinge" else None)
    Console(width=WIDTH).print(table)


def _show_plain(columns: list[str], lines: list[list[str]]) -> None:
    widths = [max(len(line[k]) for line in [columns, *lines]) for k in range(len(columns))]
    for line in [columns, *lines]:
        cells = zip(line, widths, strict=True)
        print("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
    print()
