"""Messages of the library name parameters; on the command line they name options."""

from __future__ import annotations

import pytest

from hinge.cli._words import in_options


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("pass a larger memory_limit, or", "pass a larger --memory-limit, or"),
        (
            "is not one number; pass multilabel=True if rows have several labels, and write",
            "is not one number; split rows with several labels into files, and write",
        ),
        ("choose one with label=.", "choose one with --label."),
        ("pass label=False for a file", "pass --unlabelled for a file"),
        ("pass zero_based=True if", "pass --index-base 0 if"),
        ("Pass header=True or header=False.", "Pass --header or --no-header."),
        ("pass memory_limit=1234, or", "pass --memory-limit 1234, or"),
        ("name it with format= (csv)", "name it with --format (csv)"),
        ("format='csv' was asked for", "--format csv was asked for"),
        ("read with dtype=float64.", "read with --dtype float64."),
        ("raise max_iter, or loosen tol.", "raise --max-iter, or loosen --tol."),
        ("stopped at max_iter=3", "stopped at --max-iter=3"),
        ("raise time_limit", "raise --time-limit"),
        ("save the model with proof=True to", "train without --no-proof to"),
        ("the label 'total' is not", "the label 'total' is not"),
    ],
)
def test_parameters_become_options(said: str, shown: str) -> None:
    assert in_options(said) == shown
