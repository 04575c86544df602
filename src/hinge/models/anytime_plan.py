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

_MOST = 2**31 - 1
_MOST_NAMES = 100
_LONGEST_NAME = 50


def put_plan(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain content.

    Parameters
    ----------
    plan : Plan
        The plan.
    """
    return {name: _plain(value) for name, value in dataclasses.asdict(plan).items()}


def take_plan(content: Any) -> Plan:
    """Return the plan that some content describes.

    Parameters
    ----------
    content : object
        What the description says.
    """
    return Plan(**_dataclass(Plan, content, "anytime.plan"))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, tuple | list):
        return [int(one) for one in value]
    if isinstance(value, bool) or value is None:
        return value
    return int(value) if isinstance(value, int) else float(value)


def _dataclass(kind: Any, content: Any, where: str) -> dict[str, Any]:
    """Return the values of a dataclass, each of the type of its field.

    What has a default may be missing, as it is in files of earlier versions.
    """
    fields = Fields(content, where)
    hints = get_type_hints(kind)
    values = {}
    for field in dataclasses.fields(kind):
        has_default = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        if fields.has(field.name) or not has_default:
            values[field.name] = _value(hints[field.name], fields, field.name)
    fields.finish()
    return values


def _value(hint: Any, fields: Fields, name: str) -> Any:
    """Return a field of a type out of a short list."""
    content = fields.take(name)
    if type(None) in get_args(hint):
        if content is None:
            return None
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    if hint is bool:
        if isinstance(content, bool):
            return content
        raise fields.wrong(name, content, "true or false")
    if hint is int:
        return _whole_number(fields, name, content)
    if hint is float:
        return _number(fields, name, content)
    if get_origin(hint) is tuple:
        return _whole_numbers(fields, name, content)
    if get_origin(hint) is dict:
        return _numbers_by_name(fields, name, content)
    return hint(**_dataclass(hint, content, f"{fields.where}.{name}"))


def _whole_number(fields: Fields, name: str, content: Any) -> int:
    if type(content) is int and 0 <= content <= _MOST:
        return content
    raise fields.wrong(name, content, f"a whole number from 0 to {_MOST}")


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
