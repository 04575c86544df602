"""The hard limits on the size of files and functions, in tests as everywhere."""

from __future__ import annotations

import ast

from tests.meta.cpp_functions import function_bodies
from tests.meta.repository import ROOT, files

PYTHON_FILE = 500
CPP_FILE = 400
FUNCTION_BODY = 80
LINE = 100


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a body without its docstring."""
    body = function.body
    if ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    if not body:
        return 0
    last = function.end_lineno
    assert last is not None
    return last - body[0].lineno + 1


def test_python_files_are_short() -> None:
    counts = {path: len(path.read_text().splitlines()) for path in files(".py")}
    too_long = {str(p.relative_to(ROOT)): n for p, n in counts.items() if n > PYTHON_FILE}
    assert too_long == {}


def test_cpp_files_are_short() -> None:
    counts = {path: len(path.read_text().splitlines()) for path in files(".cpp", ".hpp")}
    too_long = {str(p.relative_to(ROOT)): n for p, n in counts.items() if n > CPP_FILE}
    assert too_long == {}


def test_python_functions_are_short() -> None:
    too_long = {}
    seen = 0
    for path in files(".py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                seen += 1
                if (lines := _body_lines(node)) > FUNCTION_BODY:
                    too_long[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = lines
    assert seen > 0
    assert too_long == {}


def test_cpp_functions_are_short() -> None:
    bodies = [
        (path, body) for path in files(".cpp", ".hpp") for body in function_bodies(path.read_text())
    ]
    assert bodies
    too_long = {
        f"{path.relative_to(ROOT)}:{body.first_line} {body.head}": body.lines
        for path, body in bodies
        if body.lines > FUNCTION_BODY
    }
    assert too_long == {}


def test_cpp_lines_are_short() -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files(".cpp", ".hpp")
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > LINE
    ]
    assert too_long == []


def test_the_cpp_reader_finds_what_it_must() -> None:
    text = """
    namespace a { struct B { int c = 0; int d() const { return 1; } }; }
    // void commented() {
    template <typename T>
    T e(T f, char g = '}') {
        auto h = [&](int i) {
            return i;
        };
        if (f > 0) {
            return h(2);
        }
        return 0;
    }
    """
    bodies = {body.head.split("(")[0].split()[-1]: body.lines for body in function_bodies(text)}
    assert bodies == {"d": 0, "e": 7}
