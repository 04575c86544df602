"""The benchmarks' command line: ``python -m benchmarks --help``."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from benchmarks.anytime import command as anytime
from benchmarks.bounds import command as bounds
from benchmarks.duals import command as duals
from benchmarks.kernel import command as kernel
from benchmarks.kernel import extremes as kernel_extremes
from benchmarks.kernel import growth as kernel_growth
from benchmarks.kernel import memory as kernel_memory
from benchmarks.micro import kernels
from benchmarks.promises import (
    choice,
    extremes,
    growth,
    interrupts,
    memory,
    path,
    reader,
    small,
    threads,
)
from benchmarks.suite import contest, contests, environments, linear, tables
from benchmarks.suite.arrays import cache_folder
from benchmarks.suite.registry import PEERS
from benchmarks.suite.report import Report, new_report
from benchmarks.suite.sweep import Budget

_RESULTS = Path(__file__).parents[1] / "docs" / "results"
_QUICK = Budget(seconds=5.0, tightest_gap=1e-4, quick=True)
_CONTESTS = {
    "hard": "large C, and the sets of the suite, against LIBLINEAR",
    "others": "other libraries, wherever they come within 0.1 %% of the optimum",
}
_KEEPING = {
    "anytime": "labels of kernel machines before their evaluation is complete",
    "duals": "kernel machines: every solver of the dual, and exact paths in C",
    "kernel-extremes": "kernel machines on unscaled rows, with C = 1e6 and degree 5; Ctrl-C",
    "kernel-growth": "kernel machines: time against the number of rows",
    "kernel-memory": "kernel machines: memory with caches from 20 MB to 4 GB",
    "growth": "time and memory against the number of rows",
    "path": "a path of C against fits of their own",
    "small": "linear machines of small data beside scikit-learn's",
    "threads": "one thread against two",
}
_CLOCKS = {
    "wall_seconds": "Seconds are those of the clock on the wall.",
    "processor_seconds": "Seconds are processor time: others used the machine meanwhile.",
}
_FULL = Budget(seconds=60.0, tightest_gap=1e-6, quick=False, rounds=2)


def main(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    if arguments[:1] == ["choice"]:
        return choice.main(_RESULTS, arguments)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("choice", help="solver='auto' against every solver by name")
    _add_linear(commands.add_parser("linear", help="linear machines against other libraries"))
    for name, text in _CONTESTS.items():
        contested = commands.add_parser(name, help=text)
        contested.add_argument("--quick", action="store_true", help="small sets, a minute or two")
        contested.add_argument("--fresh", action="store_true", help="run again what was run before")
        contested.add_argument("--reference-seconds", type=float, default=120.0)
        contested.add_argument("--processor-clock", action="store_true", help="as for linear")
    bounds.add_options(commands.add_parser("bounds", help="the experiments on margin bounds"))
    kernel.add_options(
        commands.add_parser("kernel", help="kernel machines against other libraries")
    )
    peers = commands.add_parser("peers", help="make an environment for every other library")
    peers.add_argument("names", nargs="*", help="only these; all by default")
    commands.add_parser("micro", help="the native kernels")
    commands.add_parser("extremes", help="C from 1e-10 to 1e10")
    commands.add_parser("interrupts", help="how soon a fit answers Ctrl-C")
    commands.add_parser("memory", help="what a fit takes beyond the caller's arrays")
    for name, text in _KEEPING.items():
        keeping = commands.add_parser(name, help=text)
        keeping.add_argument("--quick", action="store_true", help="small sets, a minute or two")
        keeping.add_argument("--fresh", action="store_true", help="run again what was run before")
    commands.add_parser("reader", help="how fast LIBSVM text is read")
    again = commands.add_parser("tables", help="write page and picture of a record once more")
    again.add_argument("record", type=Path, help="a JSON file that a benchmark wrote")
    options = parser.parse_args(arguments)
    if options.command == "linear":
        return _linear(options, arguments)
    if options.command in _CONTESTS:
        return _contest(options, arguments)
    if options.command == "bounds":
        return bounds.main(options, arguments, _RESULTS)
    if options.command == "kernel":
        return kernel.main(options, arguments, _RESULTS)
    if options.command == "peers":
        return _peers(options.names)
    if options.command == "micro":
        return kernels.main()
    if options.command == "extremes":
        return extremes.main(_RESULTS, arguments)
    if options.command == "interrupts":
        return interrupts.main(_RESULTS, arguments)
    if options.command == "memory":
        return memory.main(_RESULTS, arguments)
    if options.command in _KEEPING:
        return _keeping(options, arguments)
    if options.command == "reader":
        return reader.main(_RESULTS, arguments)
    linear.write(Report.load(options.record), options.record.parent, options.record.stem)
    return 0


def _add_linear(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="small sets, loose gaps, a minute")
    parser.add_argument("--loss", choices=["hinge", "squared_hinge"], default="hinge")
    parser.add_argument("--intercept", choices=["augmented", "free"], default="augmented")
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--datasets", nargs="+", default=[], help="only these")
    parser.add_argument("--methods", nargs="+", default=[], help="only these methods or peers")
    parser.add_argument(
        "--update", action="store_true", help="keep what the stored record has of anything else"
    )
    parser.add_argument("--seconds", type=float, help="limit on one fit")
    parser.add_argument(
        "--processor-clock",
        action="store_true",
        help="count processor time, for a machine that others use (default: wall clock)",
    )
    parser.add_argument("--rounds", type=int, help="how often to time the runs that count")
    parser.add_argument("--reference-seconds", type=float, default=120.0)
    parser.add_argument("--output", type=Path, help="folder for the results")


def _linear(options: argparse.Namespace, arguments: list[str]) -> int:
    budget = _QUICK if options.quick else _FULL
    if options.seconds is not None:
        budget = dataclasses.replace(budget, seconds=options.seconds)
    if options.processor_clock:
        budget = dataclasses.replace(budget, clock="processor_seconds")
    if options.rounds is not None:
        budget = dataclasses.replace(budget, rounds=options.rounds)
    selection = linear.Selection(
        options.loss,
        options.intercept,
        options.dtype,
        tuple(options.datasets),
        tuple(options.methods),
        options.reference_seconds,
    )
    name = f"linear-{options.loss}-{options.intercept}-{options.dtype}"
    output = options.output or (cache_folder() / "quick" if options.quick else _RESULTS)
    title = f"Linear machines: {options.loss} loss, {options.intercept} intercept, {options.dtype}"
    report = new_report(title, arguments)
    report.remarks = _remarks(budget, options.dtype)
    if options.update:
        report = Report.load(output / f"{name}.json").updated_by(report)
    for _ in linear.run(selection, budget, report):
        # After every task, so that a benchmark that is cut short leaves what it has.
        linear.write(report, output, name)
    print(f"wrote {output / name}.md, .json and, with matplotlib, .png")
    if options.quick:
        print("\n" + tables.summary(report))
    return 0


def _keeping(options: argparse.Namespace, arguments: list[str]) -> int:
    """Run a benchmark that keeps its measurements as they come."""
    output = cache_folder() / "quick" if options.quick else _RESULTS
    shown = [word for word in arguments if word != "--fresh"]
    module: Any = {
        "anytime": anytime,
        "duals": duals,
        "growth": growth,
        "kernel-extremes": kernel_extremes,
        "kernel-growth": kernel_growth,
        "kernel-memory": kernel_memory,
        "path": path,
        "small": small,
        "threads": threads,
    }[options.command]
    return int(module.main(output, shown, fresh=options.fresh, quick=options.quick))


def _contest(options: argparse.Namespace, arguments: list[str]) -> int:
    """Run a contest, go on with what an earlier run has left, and say whether promises are kept."""
    plans = {
        "hard": (contests.HARD, contests.HARD_QUICK),
        "others": (contests.OTHERS, contests.OTHERS_QUICK),
    }
    plan = plans[options.command][int(options.quick)]
    output = cache_folder() / "quick" if options.quick else _RESULTS
    report = new_report(plan.title, [word for word in arguments if word != "--fresh"])
    clock = "processor_seconds" if options.processor_clock else "wall_seconds"
    budget = dataclasses.replace(_FULL, clock=clock, quick=options.quick)
    report.ours, report.remarks = contest.AUTO, _remarks(budget, "float64")[1:]
    record = output / f"{options.command}.json"
    if record.exists() and not options.fresh:
        report = Report.load(record).updated_by(report)
    for _ in contest.run(plan, report, options.reference_seconds, budget):
        contest.write(plan, report, output, options.command)
    contest.write(plan, report, output, options.command)
    lines = contest.verdicts(plan, report)
    for line in lines:
        print("  ".join(line))
    broken = sum(line[-1] == "NO" for line in lines)
    print(f"{broken} of {len(lines)} promises broken; wrote {record} and its page")
    return int(broken > 0)


def _remarks(budget: Budget, dtype: str) -> list[str]:
    """Return what a reader of the tables should know of the conditions."""
    return [
        f"Every run in its own process, one thread, shortest of at least three fits (fewer only "
        f"where they take more than {budget.seconds:g} s); a fit of 100 rows before. Runs that "
        f"count were timed in {budget.rounds} rounds.",
        _CLOCKS[budget.clock],
        f"All arrays are {dtype}; methods that compute in float32 are given them rounded.",
        "Gap of another method: its objective, recomputed, against the best proven lower bound. "
        "Gap of hinge: as its own certificate proves it.",
    ]


def _peers(names: list[str]) -> int:
    """Build the environments; one that cannot be had is reported and no failure."""
    for peer in PEERS:
        if names and peer.name not in names:
            continue
        print(f"{peer.name}: ", end="", flush=True)
        environment = environments.build(peer)
        print(environment.reason or "ready")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
