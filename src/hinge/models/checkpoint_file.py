"""Checkpoints in files: the same container, the same care, another kind."""

from __future__ import annotations

import importlib.metadata
import math
import os
import re
from typing import Any

import numpy as np

from hinge.errors import ModelFileError
from hinge.models.budget import Budget
from hinge.models.checkpoint_entries import FINAL, Done, Running
from hinge.models.container import Header, read_header, read_tensors, write_container
from hinge.models.fields import Fields
from hinge.models.files import (
    FORMAT,
    SPARE,
    TIMES_THE_FILE,
    check_kind,
    check_names,
    reading,
)
from hinge.models.text_lists import (
    SharedWords,
    Tensors,
    each_row,
    each_text,
    put_texts,
    tensors_of_texts,
)
from hinge.result import Point

KIND = "checkpoint"
MOST_RUNNING = 64  # states that one file holds; each takes a part of the header
_MOST_NUMBER = 2**40
_MOST_SEED = 2**128
_PER_DONE = 1000  # bytes that Python needs for a finished problem and everything in it
_FINAL = {status.value: status for status in FINAL}
_TABLE = ("number", "intercept", "steps", "work", "seconds", "certificate_seconds", "has_dual")
_WORDS = ("fingerprints", "solvers", "statuses")
_FINGERPRINT = re.compile(r"[0-9a-f]{32}", re.ASCII)
_ARRAY_NAME = re.compile(r"[a-z_]{1,40}", re.ASCII)


def write_checkpoint(
    path: str | os.PathLike[str], running: dict[int, Running], done: dict[int, Done]
) -> None:
    """Write entries by problem number, atomically and durably.

    Parameters
    ----------
    path : str or path-like
        Where to.
    running : dict of int to Running
        Problems under way; of more than ``MOST_RUNNING`` the last ones are kept.
    done : dict of int to Done
        Problems that need no more work.
    """
    tensors: Tensors = {}
    kept = list(running.items())[-MOST_RUNNING:]
    states = []
    for number, entry in kept:
        tensors |= {f"{number}.{name}": array for name, array in entry.arrays.items()}
        states.append(
            {
                "number": number,
                "fingerprint": entry.fingerprint,
                "solver": entry.solver,
                "seed": entry.seed,
                "values": entry.values,
                "arrays": sorted(entry.arrays),
            }
        )
    description = {
        "format": FORMAT,
        "hinge": importlib.metadata.version("hinge"),
        "kind": KIND,
        "running": states,
        "done": _put_done(done, tensors) if done else None,
    }
    write_container(path, description, tensors)


def read_checkpoint(path: str | os.PathLike[str]) -> tuple[dict[int, Running], dict[int, Done]]:
    """Return the entries of a checkpoint by problem number.

    Parameters
    ----------
    path : str or path-like
        The file.
    """
    with reading(path) as file:
        header = read_header(file)
        check_kind(header, (KIND,))
        check_names(header, _wanted(header))
        tensors = read_tensors(file, header)
        content = {name: header.description[name] for name in header.description}
        for name in ("format", "hinge", "kind", "tensors", "sha256"):
            content.pop(name, None)
        fields = Fields(content, "the description")
        running = [_running(entry, tensors) for entry in _list(fields.take("running"))]
        budget = Budget((TIMES_THE_FILE - 1) * header.size + SPARE)
        done = _take_done(fields.take("done"), tensors, budget)
        fields.finish()
        numbers = [number for number, _ in running] + list(done)
        if len(set(numbers)) != len(numbers):
            message = "the checkpoint has a problem twice."
            raise ModelFileError(message)
    return dict(running), done


def _put_done(done: dict[int, Done], tensors: Tensors) -> dict[str, Any]:
    """Return what the description says of finished problems; their points become tensors."""
    entries = list(done.values())
    points = [entry.point for entry in entries]
    tensors["done.coef"] = np.stack([point.coef for point in points])
    tensors["done.table"] = np.array(
        [
            [number, entry.point.intercept, *entry.counts, entry.point.dual_coef is not None]
            for number, entry in done.items()
        ],
        dtype=np.float64,
    )
    duals = [point.dual_coef for point in points]
    length = max((len(dual) for dual in duals if dual is not None), default=0)
    if length:
        nothing = np.zeros(length)
        tensors["done.dual_coef"] = np.stack([nothing if d is None else d for d in duals])
    words = {
        "fingerprints": [entry.fingerprint for entry in entries],
        "solvers": [entry.solver for entry in entries],
        "statuses": [entry.status.value for entry in entries],
    }
    described: dict[str, Any] = {
        name: put_texts(f"done.{name}", texts, tensors) for name, texts in words.items()
    }
    return {**described, "seed": entries[0].seed, "has_dual": length > 0}


def _wanted(header: Header) -> set[str]:
    """Return the names of the tensors that the description of a checkpoint asks for."""
    wanted: set[str] = set()
    for entry in _list(header.description.get("running")):
        number, names = Fields(entry, "a state").take("number"), entry.get("arrays")
        wanted |= {f"{number}.{name}" for name in _list(names)}
    done = header.description.get("done")
    if isinstance(done, dict):
        wanted |= {"done.coef", "done.table"}
        wanted |= {"done.dual_coef"} if done.get("has_dual") is True else set()
        for name in _WORDS:
            wanted |= tensors_of_texts(f"done.{name}", done.get(name))
    return wanted


def _list(content: Any) -> list[Any]:
    if not isinstance(content, list):
        message = "the description has something else where a list should be."
        raise ModelFileError(message)
    return content


def _running(content: Any, tensors: Tensors) -> tuple[int, Running]:
    fields = Fields(content, "a state")
    number = fields.integer("number", most=_MOST_NUMBER)
    fingerprint = _fingerprint(fields.text("fingerprint", longest=32))
    solver = fields.text("solver", longest=100)
    seed = fields.integer("seed", most=_MOST_SEED)
    values, names = fields.take("values"), _list(fields.take("arrays"))
    fields.finish()
    are_names = all(isinstance(name, str) and _ARRAY_NAME.fullmatch(name) for name in names)
    if not isinstance(values, dict) or not are_names:
        message = "a state in the checkpoint is not made of named values and arrays."
        raise ModelFileError(message)
    arrays = {name: tensors[f"{number}.{name}"] for name in names}
    return number, Running(fingerprint, solver, values, arrays, seed)


def _fingerprint(text: str) -> str:
    if not _FINGERPRINT.fullmatch(text):
        message = "the checkpoint has a fingerprint that is none."
        raise ModelFileError(message)
    return text


def _take_done(content: Any, tensors: Tensors, budget: Budget) -> dict[int, Done]:
    if content is None:
        return {}
    fields = Fields(content, "done")
    table, coef, duals = _tables(tensors, fields.flag("has_dual"))
    budget.spend(_PER_DONE * len(table), f"the checkpoint has {len(table)} finished problems")
    words = [each_text(f"done.{name}", fields.take(name), tensors, len(table)) for name in _WORDS]
    seed = fields.integer("seed", most=_MOST_SEED)
    fields.finish()
    shared = SharedWords(budget)
    done = {}
    for place, (row, fingerprint, solver, status) in enumerate(
        zip(each_row(table), *words, strict=True)
    ):
        number, intercept, *counts, has_dual = row
        is_row = math.isfinite(intercept) and has_dual in (0.0, 1.0)
        are_counts = all(0.0 <= value <= 2.0**53 for value in (number, *counts))
        are_words = status in _FINAL and len(solver) <= 100
        if not (is_row and are_counts and are_words and number.is_integer()):
            message = "a finished problem in the checkpoint has numbers that cannot be."
            raise ModelFileError(message)
        dual = duals[place] if duals is not None and has_dual else None
        done[int(number)] = Done(
            _fingerprint(fingerprint),
            shared.word(solver),
            _FINAL[status],
            Point(coef[place], intercept, dual),
            (counts[0], counts[1], counts[2], counts[3]),
            seed,
        )
    if len(done) != len(table):
        message = "the checkpoint has a finished problem twice."
        raise ModelFileError(message)
    return done


def _tables(tensors: Tensors, has_dual: bool) -> tuple[Any, Any, Any]:
    """Return the tables of finished problems: numbers, weights, dual coefficients."""
    table, coef = tensors["done.table"], tensors["done.coef"]
    duals = tensors["done.dual_coef"] if has_dual else None
    parts = [table, coef] if duals is None else [table, coef, duals]
    are_tables = all(part.dtype == np.float64 and part.ndim == 2 for part in parts)
    if not are_tables or len({len(part) for part in parts}) > 1 or table.shape[1] != len(_TABLE):
        message = "the tables of finished problems in the checkpoint do not belong together."
        raise ModelFileError(message)
    if not all(np.isfinite(part).all() for part in parts):
        message = "the tables of finished problems hold numbers that are not finite."
        raise ModelFileError(message)
    return table, coef, duals
