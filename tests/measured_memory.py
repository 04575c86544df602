"""The mark of tests that measure memory."""

from __future__ import annotations

import os

import pytest

needs_true_memory = pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="a sanitizer takes and keeps memory of its own",
)
