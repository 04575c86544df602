"""Boundaries that import contracts cannot express: who may name what in its source."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.meta.repository import ROOT, files

PACKAGE = ROOT / "src" / "hinge"


def _package_files() -> list[Path]:
    paths = [path for path in files(".py") if path.is_relative_to(PACKAGE)]
    assert paths
    return paths


def _is_submodule(name: str) -> bool:
    return any((PACKAGE / f"{name}{ending}").exists() for ending in ("", ".py", ".pyi"))


def _imports_from_root(tree: ast.AST) -> list[str]:
    """Return what a module takes from ``hinge`` itself instead of from the module that has it."""
    taken = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            taken += [alias.name for alias in node.names if alias.name == "hinge"]
        elif isinstance(node, ast.ImportFrom) and node.module == "hinge":
            taken += [alias.name for alias in node.names if not _is_submodule(alias.name)]
    return taken


def test_no_module_imports_from_the_package_root() -> None:
    found = {
        str(path.relative_to(ROOT)): taken
        for path in _package_files()
        if path != PACKAGE / "__init__.py"
        and (taken := _imports_from_root(ast.parse(path.read_text())))
    }
    assert found == {}


def test_the_search_tells_root_from_submodule() -> None:
    tree = ast.parse("import hinge\nfrom hinge import solve, _native\nfrom hinge.errors import X\n")
    assert _imports_from_root(tree) == ["hinge", "solve"]


def test_only_native_py_names_the_compiled_modules() -> None:
    naming = {
        path.name for path in _package_files() if re.search(r"\b_core\b|_core_", path.read_text())
    }
    assert naming == {"_native.py"}


def test_only_the_bindings_include_nanobind() -> None:
    including = [path for path in files(".cpp", ".hpp") if "nanobind" in path.read_text()]
    assert including
    outside = [path for path in including if path.parent != ROOT / "cpp" / "bind"]
    assert outside == []
