"""``python -m benchmarks bounds``: which tables, on which sets, into which folder."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bounds import descent, gaussians, page, penalty, plain_pass, sampled
from benchmarks.bounds.record import Record
from benchmarks.bounds.sets import SETS, PaperSet, find_set
from benchmarks.suite.arrays import cache_folder
from hinge.errors import InvalidParameterError

TABLES = ("passes", "figure3", "penalty", "table2", "table3", "bounds")
BOUNDS = ("sphere", "centred", "norms", "box", "clusters", "tree", "trajectory")
_QUICK_SETS = ("reuters21578",)
# All tables together take some ten minutes of one core; a run that is cut short goes on.
_EVERY, _REPEATS, _STEPS, _ROUNDS = 10, 10, 1000, 20


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--quick", action="store_true", help="one small set, a minute")
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--sets", nargs="+", help="only these data sets")
    parser.add_argument("--anew", action="store_true", help="measure what is on record once more")
    parser.add_argument(
        "--every",
        type=int,
        default=_EVERY,
        help=f"of so many stretches of 20 steps without bounds run one (Table 2): {_EVERY}",
    )
    parser.add_argument("--repeats", type=int, help=f"of the runs of Table 3: {_REPEATS}")
    parser.add_argument(
        "--steps", type=int, help=f"for the rows that each bound examines: {_STEPS}"
    )
    parser.add_argument("--output", type=Path, help="folder for the results")


def main(options: argparse.Namespace, arguments: list[str], results: Path) -> int:
    """Measure what is not on record yet, writing page and pictures as it comes."""
    output = options.output or (cache_folder() / "quick" if options.quick else results)
    record = Record(output / "bounds.json", arguments, anew=options.anew)
    names = options.sets or (_QUICK_SETS if options.quick else [each.name for each in SETS])
    for name in options.tables:
        for key, row in _rows(name, [find_set(each) for each in names], options, record):
            record.keep(name, key, row)
            page.write(record, output)
            print(f"{name} {key}: " + _shown(row), flush=True)
    page.write(record, output)
    print(f"wrote {output / 'bounds'}.md, .json and, with matplotlib, pictures")
    return 0


def _rows(
    name: str, sets: list[PaperSet], options: argparse.Namespace, record: Record
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table that are not on record."""
    quick, known = options.quick, record.rows(name)
    if name == "figure3":
        if not known:
            yield from gaussians.figure3(gaussians.COUNT, _there(), 5 if quick else 100)
        return
    for each in sets:
        if name == "table2":
            epsilons = descent.EPSILONS[:2] if quick else descent.EPSILONS
            if any(f"{each.name} {eps:g}" not in known for eps in epsilons):
                yield from descent.table2(each, epsilons, options.every)
        elif name == "penalty":
            if each.name == penalty.SET and not known:
                yield from penalty.held_out_errors(each)
        elif name == "passes":
            if each.of == each.name and f"{each.name} csr" not in known:
                yield from plain_pass.passes(each, 5 if quick else _ROUNDS)
        elif name == "table3":
            batches = tuple(k for k in sampled.BATCHES if f"{each.name} {k}" not in known)
            repeats = options.repeats or (2 if quick else _REPEATS)
            yield from sampled.table3(each, batches, repeats) if batches else ()
        else:
            bounds = tuple(b for b in _there() if f"{each.name} {b}" not in known)
            steps = options.steps or (200 if quick else _STEPS)
            yield from descent.examined_by_bounds(each, bounds, steps) if bounds else ()


def _there() -> tuple[str, ...]:
    """Return the bounds that this version of hinge has."""
    from hinge.bounds import get_bound  # noqa: PLC0415 - costs the other benchmarks nothing

    found = []
    for bound in BOUNDS:
        try:
            get_bound(bound)
        except InvalidParameterError:
            continue
        found.append(bound)
    return tuple(found)


def _shown(row: dict[str, Any]) -> str:
    """Return the numbers of a row on one line."""
    numbers = {key: value for key, value in row.items() if isinstance(value, int | float)}
    return "  ".join(f"{key}={value:.4g}" for key, value in numbers.items())
