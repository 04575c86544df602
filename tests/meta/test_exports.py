"""``hinge.__all__`` is the promise of public names: complete, sorted, and true."""

from __future__ import annotations

import importlib
import inspect

import pytest

import hinge


def test_all_is_sorted_without_repetition() -> None:
    assert hinge.__all__ == sorted(set(hinge.__all__))


def test_every_promised_name_is_there() -> None:
    missing = [name for name in hinge.__all__ if not hasattr(hinge, name)]
    assert missing == []


def test_no_public_name_is_left_out() -> None:
    # Importing hinge.rows also sets the attribute `rows`; submodules are public when promised.
    public = {
        name
        for name, value in vars(hinge).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert public - set(hinge.__all__) - {"annotations"} == set()


def test_promised_names_live_in_the_package() -> None:
    objects = {name: getattr(hinge, name) for name in hinge.__all__ if not name.startswith("_")}
    homes = {
        name: value.__name__ if inspect.ismodule(value) else value.__module__
        for name, value in objects.items()
    }
    assert homes
    assert {name: home for name, home in homes.items() if not home.startswith("hinge.")} == {}


@pytest.mark.parametrize("name", ["data", "kernels", "models"])
def test_completion_offers_the_public_names_of_a_package(name: str) -> None:
    package = importlib.import_module(f"hinge.{name}")
    assert dir(package) == sorted(package.__all__)
