"""The stub that the build wrote says what the compiled module holds, at every CPU level."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from nanobind.stubgen import StubGen

from hinge import _native


def _module(level: str) -> ModuleType:
    return importlib.import_module(f"hinge._core_{level}")


def _stub() -> str:
    """Return the text of the stub that lies beside the compiled modules."""
    compiled = _module(_native.cpu_levels[0]).__file__
    assert compiled is not None
    return Path(compiled).with_name("_core.pyi").read_text()


def _public(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if not name.startswith("_")}


def _signatures(module: ModuleType) -> dict[str, str]:
    """Return what each name is: its signatures with docstrings, or its type.

    A signature that names a class names its module too, which is another for every level.
    """
    return {
        name: str(getattr(value, "__nb_signature__", type(value))).replace(module.__name__, "core")
        for name, value in _public(module).items()
    }


def test_stub_names_what_the_module_holds() -> None:
    defined: set[str] = set()
    for node in ast.parse(_stub()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            defined.add(node.target.id)
    assert "runnable_cpu_levels" in defined
    assert defined == set(_public(_module(_native.cpu_levels[0])))


def test_stub_is_what_the_module_would_give_now() -> None:
    generator = StubGen(_module(_native.cpu_levels[0]), max_expr_length=0)
    generator.put(_module(_native.cpu_levels[0]))
    assert generator.get() == _stub()


@pytest.mark.parametrize("level", _native.cpu_levels)
def test_every_level_has_the_same_interface(level: str) -> None:
    assert _signatures(_module(level)) == _signatures(_module(_native.cpu_levels[0]))
    assert _module(level).cpu_level == level
