"""Evaluate random and adversarial cases through the index of margins and judge them exactly.

``python -m fuzz.margin_bounds.campaign 10000`` runs every bound, loss, storage and treatment of the
intercept in turn. It ends with an error if a value or a gradient is farther from the exact one
than the stated rounding bound, or if a pruned row is not, in rational arithmetic, on the side where
it was left.
"""

from __future__ import annotations

import sys
import time

from tests.bounds.exactness import POINTS, check_case, random_case


def main() -> int:
    """Run the cases and return the exit status."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    started, spared, failed = time.perf_counter(), 0, []
    for number in range(count):
        try:
            spared += check_case(random_case(number))
        except AssertionError as error:
            failed.append((number, error))
    seconds = time.perf_counter() - started
    print(
        f"{count} cases of {POINTS + 1} evaluations in {seconds:.0f} s: {len(failed)} failed, "
        f"{spared} rows spared"
    )
    for number, error in failed[:10]:
        print(f"case {number}: {error}")
    return 1 if failed or not spared else 0


if __name__ == "__main__":
    sys.exit(main())
