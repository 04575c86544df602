"""The resident memory of this process, now and at its peak."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def _status_bytes(field: str) -> int | None:
    """Return a field of the kernel's account of this process; None where there is none."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def resident_bytes() -> int:
    """Return the memory that this process has now."""
    return _status_bytes("VmRSS:") or _most_ever_bytes()


def peak_bytes() -> int:
    """Return the most memory that this process has had since the last reset."""
    return _status_bytes("VmHWM:") or _most_ever_bytes()


def anonymous_bytes() -> int:
    """Return the memory that this process has now, without pages of files."""
    return _status_bytes("RssAnon:") or _most_ever_bytes()


def _most_ever_bytes() -> int:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale


def reset_peak() -> None:
    """Let the peak start from here, where the kernel allows it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return
