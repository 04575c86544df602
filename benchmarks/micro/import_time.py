"""What ``import hinge`` costs beyond ``import sklearn.svm``.

The modules that hinge loads and scikit-learn's SVMs do not, their own times (-X importtime) added
up, the median of several fresh processes.

Usage: python benchmarks/micro/import_time.py [--repeats 10] [--limit 0.15]
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys

_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s*(\S+)$")
_SLOWEST_SHOWN = 8


def own_times(module: str) -> dict[str, float]:
    """Return the seconds that each module spent on itself while ``module`` was imported."""
    command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
    log = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    matches = (_LINE.match(line) for line in log.splitlines())
    return {match[2]: int(match[1]) * 1e-6 for match in matches if match}


def main() -> int:
    """Measure, print one JSON object, and return 1 if a given limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=10, help="fresh processes (default: 10)")
    parser.add_argument("--limit", type=float, help="seconds; more is a failure (default: none)")
    arguments = parser.parse_args()

    baseline = own_times("sklearn.svm").keys()
    runs = []
    for _ in range(arguments.repeats):
        times = own_times("hinge")
        runs.append({name: times[name] for name in times.keys() - baseline})
    totals = [sum(run.values()) for run in runs]
    median = statistics.median(totals)
    slowest = sorted(runs[-1].items(), key=lambda item: -item[1])[:_SLOWEST_SHOWN]
    report = {
        "name": "import_time",
        "median_seconds": round(median, 4),
        "minimum_seconds": round(min(totals), 4),
        "modules": len(runs[-1]),
        "slowest_modules": {name: round(seconds, 4) for name, seconds in slowest},
    }
    print(json.dumps(report, indent=2))
    return int(arguments.limit is not None and median > arguments.limit)


if __name__ == "__main__":
    sys.exit(main())
