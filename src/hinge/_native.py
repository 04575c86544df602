"""The compiled core, in the build that suits this CPU; nothing else imports it.

The same C++ source is compiled once per CPU level: ``v2`` (x86-64-v2, any 64-bit x86 CPU since
about 2009) and ``v3`` (x86-64-v3: AVX2 and FMA), or the single level ``base`` on other
architectures. The highest level the CPU can run is taken; the environment variable
``HINGE_CPU_LEVEL`` names another one, for tests and for results that must not depend on the
machine (bits are promised per level).
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

_LEVEL_VARIABLE = "HINGE_CPU_LEVEL"
_LOWEST_LEVELS = ("v2", "base")


def _import_level(level: str) -> ModuleType:
    return importlib.import_module(f"hinge._core_{level}")


def _import_lowest() -> ModuleType:
    """Import the level that every CPU of this architecture can run."""
    for level in _LOWEST_LEVELS:
        try:
            return _import_level(level)
        except ModuleNotFoundError as error:
            if error.name != f"hinge._core_{level}":
                raise
    message = (
        "hinge is installed without its compiled core: neither hinge._core_v2 nor "
        "hinge._core_base was found. Install it again with 'pip install hinge', or with "
        "'make env' in a source checkout; importing it straight from the source folder cannot work."
    )
    raise ImportError(message)


def _choose(asked: str | None, runnable: tuple[str, ...]) -> str:
    """Return the level to use: the one asked for, or the highest of the runnable ones."""
    if not asked:
        return runnable[-1]
    if asked in runnable:
        return asked
    message = (
        f"{_LEVEL_VARIABLE}={asked!r} asks for a build of hinge's compiled core that this machine "
        f"cannot run. Possible here: {', '.join(runnable)}. Set the variable to one of these, or "
        f"unset it to get {runnable[-1]!r}."
    )
    raise ImportError(message)


_lowest = _import_lowest()

#: The levels this machine can run, lowest first.
cpu_levels: tuple[str, ...] = tuple(_lowest.runnable_cpu_levels())

#: The level of `core`.
cpu_level: str = _choose(os.environ.get(_LEVEL_VARIABLE), cpu_levels)

if TYPE_CHECKING:
    # The build writes one stub for all levels.
    from hinge import _core as core
else:
    core = _import_level(cpu_level)

__all__ = ["core", "cpu_level", "cpu_levels"]
