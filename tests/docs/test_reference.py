"""The reference names every public name, and its tables every field, status and exception."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import hinge
import hinge.bounds
import hinge.certificates
import hinge.data
import hinge.kernels
import hinge.losses
import hinge.lowrank
import hinge.solvers
import hinge.testing

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function|exception|data):: (\S+)$", re.MULTILINE)


def _documented() -> set[str]:
    return set(DIRECTIVE.findall("\n".join(page.read_text() for page in REFERENCE.glob("*.md"))))


def _first_column(page: str, heading: str) -> list[str]:
    """Return the names in the first column of the table under a heading."""
    text = (REFERENCE / page).read_text()
    section = text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(
    "module",
    [
        hinge,
        hinge.bounds,
        hinge.certificates,
        hinge.data,
        hinge.kernels,
        hinge.losses,
        hinge.lowrank,
        hinge.solvers,
        hinge.testing,
    ],
)
def test_every_public_name_has_an_entry(module: object) -> None:
    names = module.__all__
    public = {
        f"{module.__name__}.{name}" for name in names if not inspect.ismodule(getattr(module, name))
    }
    # The driver's solve is the public one, described under that name.
    assert public - _documented() - {"hinge.solvers.solve"} == set()


def test_every_method_of_the_estimator_has_an_entry() -> None:
    text = (REFERENCE / "estimators.md").read_text()
    match = re.search(r"autoclass:: hinge.LinearSVC\n\s+:members: (.+)\n", text)
    assert match is not None
    own = {
        name
        for name, value in inspect.getmembers(hinge.LinearSVC, inspect.isfunction)
        if not name.startswith("_") and value.__module__.startswith("hinge.")
    }
    assert own
    assert own <= set(match.group(1).split(", "))


@pytest.mark.parametrize("name", ["Stop", "Point", "Certificate", "Solution"])
def test_the_table_of_a_result_has_every_field(name: str) -> None:
    fields = [field.name for field in dataclasses.fields(getattr(hinge, name))]
    assert _first_column("results.md", name) == fields


def test_the_table_of_statuses_is_whole() -> None:
    assert _first_column("results.md", "Status") == [status.name for status in hinge.Status]
