"""The plan of a predictor in a file: plain numbers, by the names that its dataclass gives them.

A plan that gains a field needs nothing here, as long as it is a whole number, a truth value, a
number, a list of whole numbers, numbers by name, or a dataclass of these.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, get_args, get_origin, get_type_hints

from hinge.anytime import Plan
from hinge.models.fields import Fields

_EXITS = "exits"  # positions among the exits of an embedding, which the file says in points
_MOST = 2**31 - 1
_MOST_NAMES = 100
_LONGEST_NAME = 50


def put_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain content, without its exits.

    Parameters
    ----------
    plan : Plan
        The plan.
    """
    content = dataclasses.asdict(plan)
    del content[_EXITS]
    return {name: _plain(value) for name, value in content.items()}


def take_plan(content: Any) -> Plan:
    """Return the plan that some content describes, without exits.

    Parameters
    ----------
    content : object
        What the description says.
    """
    values = _dataclass(Plan, content, "anytime.plan", left_out=(_EXITS,))
    return Plan(**values)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [int(one) for one in value]
    if isinstance(value, bool) or value is None:
        return value
    return int(value) if isinstance(value, int) else float(value)


def _dataclass(
    kind: Any, content: Any, where: str, left_out: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the values of a dataclass, each of the type of its field."""
    fields = Fields(content, where)
    hints = get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        if field.name not in left_out:
            values[field.name] = _value(hints[field.name], fields, field.name)
    fields.finish()
    return values


def _value(hint: Any, fields: Fields, name: str) -> Any:
    """Return a field of a type out of a short list."""
    if hint is bool:
        return fields.flag(name)
    if hint is int:
        return fields.integer(name, most=_MOST)
    content = fields.take(name)
    if hint is float:
        return _number(fields, name, content)
    if get_origin(hint) is tuple:
        return _whole_numbers(fields, name, content)
    if get_origin(hint) is dict:
        return _numbers_by_name(fields, name, content)
    if type(None) in get_args(hint):
        if content is None:
            return None
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    return hint(**_dataclass(hint, content, f"{fields.where}.{name}"))


def _number(fields: Fields, name: str, content: Any) -> float:
    if isinstance(content, float) and math.isfinite(content) and content >= 0.0:
        return content
    raise fields.wrong(name, content, "a finite number of at least 0")


def _whole_numbers(fields: Fields, name: str, content: Any) -> tuple[int, ...]:
    is_list = isinstance(content, list) and len(content) <= _MOST_NAMES
    if is_list and all(type(one) is int and 0 <= one <= _MOST for one in content):
        return tuple(content)
    raise fields.wrong(name, content, "a short list of whole numbers")


def _numbers_by_name(fields: Fields, name: str, content: Any) -> dict[str, float]:
    if not isinstance(content, dict) or len(content) > _MOST_NAMES:
        raise fields.wrong(name, content, "a few numbers by name")
    for key, value in content.items():
        if len(key) > _LONGEST_NAME:
            raise fields.wrong(name, key, "numbers with short names")
        _number(fields, name, value)
    return dict(content)
