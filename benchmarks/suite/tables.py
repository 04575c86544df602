"""Ratio tables in Markdown: losses as plainly as wins."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.suite.record import Run, frontier, time_to_gap
from benchmarks.suite.report import Report

GAPS = (1e-1, 1e-2, 1e-3, 1e-4)
_NONE = "-"


def markdown(report: Report, picture: str | None) -> str:
    """Return the whole page."""
    parts = [heading(report)]
    if picture:
        parts.append(f"![Relative gap against time]({picture})")
    parts += [tasks_table(report), seconds_table(report)]
    parts += [_ratios(report, gap) for gap in GAPS]
    parts += [_at_reached_gap(report), _memory(report), methods_table(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


def summary(report: Report) -> str:
    """Return what fits on a screen: seconds to each gap, and ratios at 1e-3."""
    return "\n\n".join([seconds_table(report), _ratios(report, 1e-3)])


def heading(report: Report) -> str:
    lines = [
        f"# {report.title}",
        "",
        f"- Command: `{report.command}`",
        f"- Machine: {report.machine}",
        f"- Date: {report.date}",
        *(f"- {remark}" for remark in report.remarks),
    ]
    return "\n".join(lines)


def tasks_table(report: Report) -> str:
    rows = [
        [
            task["title"],
            task["description"],
            f"{task['n_rows']} x {task['n_features']}",
            f"{task['optimum_at_most']:.8g}",
            f"{task['reference_gap']:.1e}",
        ]
        for task in report.tasks
    ]
    header = ["task", "data", "size", "best objective known", "proven to within"]
    return "## Tasks\n\n" + table(header, rows)


def _present(report: Report) -> list[str]:
    """Return the methods that have a run, hinge's own first."""
    seen = {run.method for run in report.runs}
    return [method["name"] for method in report.methods if method["name"] in seen]


def _rivals(report: Report) -> list[str]:
    return [name for name in _present(report) if name != report.ours]


def seconds_table(report: Report) -> str:
    """Return the seconds to every gap, method by method."""
    rows = []
    for task in report.tasks:
        for name in _present(report):
            runs = report.of(task["title"], name)
            if not runs:
                continue
            times = [_time(time_to_gap(runs, gap)) for gap in GAPS]
            rows.append([task["title"], name, *times, _tightest(runs)])
    header = ["task", "method", *(f"{gap:g}" for gap in GAPS), "smallest gap (seconds)"]
    text = "Seconds of the cheapest run whose recomputed relative gap is at most the one above."
    return f"## Time to a gap\n\n{text}\n\n" + table(header, rows)


def _ratios(report: Report, gap: float) -> str:
    """Return hinge's time over each rival's, to one gap."""
    rows = []
    for task in report.tasks:
        ours = time_to_gap(report.of(task["title"], report.ours), gap)
        cells = [_ratio(ours, report.of(task["title"], name), gap) for name in _rivals(report)]
        rows.append([task["title"], _time(ours), *cells])
    header = ["task", f"{report.ours} (s)", *_rivals(report)]
    text = (
        "Below 1 hinge is faster. `not reached`: no setting of that method that was run gets "
        "there; settings that take longer than the command's limit are not run."
    )
    return f"## Ratio hinge / other, to relative gap {gap:g}\n\n{text}\n\n" + table(header, rows)


def _ratio(ours: float | None, runs: Sequence[Run], gap: float) -> str:
    theirs = time_to_gap(runs, gap)
    if not runs:
        return _NONE
    if theirs is None:
        return "not reached" if ours is not None else "neither reached"
    return "hinge: not reached" if ours is None else f"{ours / theirs:.2f}"


def _at_reached_gap(report: Report) -> str:
    """Return hinge's worst ratio over all the gaps that a rival reaches."""
    rows = []
    for task in report.tasks:
        ours = report.of(task["title"], report.ours)
        cells = [_worst(ours, report.of(task["title"], name)) for name in _rivals(report)]
        rows.append([task["title"], *cells])
    header = ["task", *_rivals(report)]
    text = (
        "For each run of another method that no faster run of its own beats: hinge's time to that "
        "run's gap over that run's time. The worst of them, and the gap where it is."
    )
    return f"## Worst ratio at the gaps that others reach\n\n{text}\n\n" + table(header, rows)


def _worst(ours: Sequence[Run], theirs: Sequence[Run]) -> str:
    worst: tuple[float, float] | None = None
    unreached: float | None = None
    for seconds, gap in frontier(theirs):
        # A gap of zero or less is below what the reference can tell apart.
        time = time_to_gap(ours, gap) if gap > 0 else None
        if time is None:
            unreached = gap if unreached is None else max(unreached, gap)
        elif worst is None or time / seconds > worst[0]:
            worst = (time / seconds, gap)
    if not theirs:
        return _NONE
    text = _NONE if worst is None else f"{worst[0]:.2f} (at {worst[1]:.0e})"
    return text if unreached is None else f"{text}; not swept to {unreached:.0e}"


def _memory(report: Report) -> str:
    """Return the peak memory beyond the caller's arrays, the most over all settings."""
    rows = []
    for task in report.tasks:
        cells = [_megabytes(report.of(task["title"], name)) for name in _present(report)]
        # What hinge promises: per row (dual coefficients included), per feature, and a constant.
        promised = 104 * task["n_rows"] + 64 * task["n_features"] + 16e6
        sizes = [f"{size / 1e6:.1f}" for size in (task["array_bytes"], promised)]
        rows.append([task["title"], *sizes, *cells])
    header = ["task", "caller's arrays", "hinge's own limit", *_present(report)]
    text = "MB of resident memory beyond the caller's arrays, conversions included, at the peak."
    return f"## Peak memory\n\n{text}\n\n" + table(header, rows)


def _megabytes(runs: Sequence[Run]) -> str:
    key = "peak_bytes_beyond_arrays"
    peaks = [run.measurements[key] for run in runs if key in run.measurements]
    return f"{max(peaks) / 1e6:.1f}" if peaks else _NONE


def methods_table(report: Report) -> str:
    rows = [
        [method["name"], method["version"], method["arithmetic"], method["note"]]
        for method in report.methods
    ]
    return "## Methods\n\n" + table(["method", "version", "computes in", "note"], rows)


def _tightest(runs: Sequence[Run]) -> str:
    best = frontier(runs)
    if not best:
        return "; ".join(sorted({run.outcome for run in runs}))
    seconds, gap = best[-1]
    return f"{gap:.1e} ({_time(seconds)})"


def _time(seconds: float | None) -> str:
    return _NONE if seconds is None else f"{seconds:.3g}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
