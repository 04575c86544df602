"""No road leads from a file to code: what loaders may not even mention, and what they never do."""

import ast
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.meta.repository import ROOT
from tests.models.fitted import data, fit

from hinge.models import load, save, verify

LOADERS = ("models", "data")
FORBIDDEN_CALLS = {
    *("eval", "exec", "compile", "__import__", "import_module", "find_spec", "exec_module"),
    *("literal_eval", "system", "popen", "Popen", "spawnv", "globals", "load_module"),
}
FORBIDDEN_MODULES = {
    *("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"),
    *("skops", "importlib.util", "runpy", "imp", "code", "codeop", "subprocess", "ctypes"),
    *("yaml", "xml", "builtins", "types", "multiprocessing"),
}
# importlib.metadata says which version of hinge writes; it imports nothing.
ALLOWED_IMPORTLIB = {"importlib.metadata"}


def loader_files() -> list[Path]:
    files = [path for name in LOADERS for path in (ROOT / "src/hinge" / name).rglob("*.py")]
    assert len(files) > 10
    return files


def sinks(tree: ast.AST) -> list[str]:
    """Return everything in a module that could turn data into code."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            names = []
        for name in names:
            parts = name.split(".")
            prefixes = {".".join(parts[:k]) for k in range(1, len(parts) + 1)}
            is_importlib = parts[0] == "importlib" and not prefixes & ALLOWED_IMPORTLIB
            if prefixes & FORBIDDEN_MODULES or is_importlib:
                found.append(f"import {name}")
        if isinstance(node, ast.Call):
            called = node.func
            name = getattr(called, "id", None) or getattr(called, "attr", "")
            owner = getattr(getattr(called, "value", None), "id", "")
            if name in FORBIDDEN_CALLS and (owner, name) != ("re", "compile"):
                found.append(f"{name}()")
            allows = [word.value for word in node.keywords if word.arg == "allow_pickle"]
            if any(getattr(value, "value", True) is not False for value in allows):
                found.append("allow_pickle")
    return found


@pytest.mark.parametrize("path", loader_files(), ids=lambda path: path.stem)
def test_loaders_mention_nothing_that_makes_code_of_data(path):
    assert sinks(ast.parse(path.read_text())) == []


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "import importlib; importlib.import_module('os')",
        "eval('1')",
        "builtins.exec('')",
        "np.load(path, allow_pickle=True)",
        "np.load(path, allow_pickle=flag)",
        "os.system('true')",
        "from importlib.util import find_spec",
    ],
)
def test_the_scan_finds_what_it_looks_for(source):
    assert sinks(ast.parse(source))


def test_hostile_strings_have_no_effect(tmp_path):
    """Labels and names that look like code, paths or formats stay text."""
    bait = tmp_path / "bait"
    labels = np.array([f"__import__('pathlib').Path({str(bait)!r}).touch()", "{0.__class__}", "%n"])
    X, _ = data("text")
    y = labels[np.arange(len(X)) % 3]
    model = fit(X, y, class_weight=dict.fromkeys(labels.tolist(), 1.5))
    model.feature_names_in_ = np.array(["../../x", "/etc/passwd", "$(id)", "\x1b[2J"], dtype=object)
    save(model, tmp_path / "model")
    seen = []
    sys.addaudithook(lambda event, arguments: seen.append((event, arguments)))
    before = set(sys.modules)
    loaded = load(tmp_path / "model")
    during = list(seen)
    assert set(sys.modules) == before
    assert not [event for event, _ in during if event in {"exec", "compile", "os.system"}]
    opened = {
        os.fspath(a[0])
        for event, a in during
        if event == "open" and isinstance(a[0], str | os.PathLike)
    }
    assert opened <= {os.fspath(tmp_path / "model")}
    assert loaded.classes_.tolist() == sorted(labels.tolist())
    del loaded.feature_names_in_
    assert verify(loaded, X, y).truthful
    assert not bait.exists()
