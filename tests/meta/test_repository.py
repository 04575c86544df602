"""The sources say nothing about the machine they were written on, and agree with each other."""

from __future__ import annotations

import re
import tomllib

from tests.meta.repository import ROOT, files

BINARY = {".npz", ".npy", ".png", ".parquet", ".gz", ".bin", ".hinge"}

# Folders that exist on some machine only; spelt in pieces so that this file passes its own test.
_MACHINE_FOLDERS = ("work", "tmp", "root", "opt", "home", "Users", "mnt")
MACHINE_PATH = re.compile(r"(?<![\w.~}*/-])/(?:" + "|".join(_MACHINE_FOLDERS) + r")/[\w.-]")
PACKAGE_SOURCE = re.compile("file" + "://|index" + "-url|find" + "-links")


def test_no_path_of_a_machine() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files()
        if path.suffix not in BINARY
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if MACHINE_PATH.search(line) or PACKAGE_SOURCE.search(line)
    ]
    assert found == []


def test_the_search_would_find_one() -> None:
    for folder in _MACHINE_FOLDERS:
        assert MACHINE_PATH.search(f'open("/{folder}/data.npz")')
    assert not MACHINE_PATH.search("build/tmp/x and https://example.org/home/x")


def test_every_cpp_test_and_binding_is_built() -> None:
    lists = {
        "bind": (ROOT / "CMakeLists.txt", "HINGE_BIND_TOPICS"),
        "test": (ROOT / "cpp" / "tests" / "CMakeLists.txt", "HINGE_NATIVE_TESTS"),
    }
    for prefix, (path, variable) in lists.items():
        match = re.search(rf"^set\({variable}([^)]*)\)", path.read_text(), re.MULTILINE)
        assert match is not None
        present = {
            file.stem.removeprefix(f"{prefix}_")
            for file in files(".cpp")
            if file.name.startswith(f"{prefix}_")
        }
        assert present
        assert set(match.group(1).split()) == present


def test_scikit_learn_range_is_the_promised_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "scikit-learn>=1.6,<1.10" in project["dependencies"]
    assert project["requires-python"] == ">=3.11"
