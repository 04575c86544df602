"""JSON with one spelling for everything, and a reader that accepts no other.

Two readers that disagree about a file are how forged files get past checks; so a name that comes
twice, a number that is none, or a second spelling of the same thing are errors here.
"""

from __future__ import annotations

import collections
import json
import math
from typing import Any

from hinge.errors import ModelFileError

_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def canonical_json(content: Any) -> str:
    """Return the one spelling of plain content: sorted names, no spaces, ASCII only.

    Parameters
    ----------
    content : dict, list, str, int, float, bool or None
        What to spell; floats must be finite.

    Returns
    -------
    str
        JSON that reads back as the same content, floats to the last bit.

    Examples
    --------
    >>> canonical_json({"b": 0.1, "a": [1, None]})
    '{"a":[1,null],"b":0.1}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse_json(text: str, what: str) -> Any:
    """Return the content of JSON in which no name comes twice.

    Parameters
    ----------
    text : str
        The JSON.
    what : str
        What it is, for messages.

    Returns
    -------
    dict, list, str, int, float, bool or None
        The content.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique_names, parse_constant=_refused)
    except ModelFileError as error:
        message = f"{what} {error}"
        raise ModelFileError(message) from None
    except (ValueError, RecursionError) as error:
        message = f"{what} is no JSON that can be read: {str(error)[:200]}."
        raise ModelFileError(message) from None


def spelled_number(value: float) -> float | str:
    """Return a number as JSON has it: itself, or its name if it is not finite.

    Parameters
    ----------
    value : float
        Any number.
    """
    if math.isfinite(value):
        return float(value)
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def read_number(spelling: Any) -> float | None:
    """Return the number that ``spelled_number`` spelled so; None if it never does.

    Parameters
    ----------
    spelling : object
        What the JSON has.
    """
    if isinstance(spelling, str):
        return _NOT_FINITE.get(spelling)
    if isinstance(spelling, float) and math.isfinite(spelling):
        return spelling
    return None


def _unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        counts = collections.Counter(name for name, _ in pairs)
        twice = counts.most_common(1)[0][0]
        message = f"has the name {twice[:100]!r} twice."
        raise ModelFileError(message)
    return content


def _refused(constant: str) -> Any:
    message = f"has {constant}, which is no JSON."
    raise ModelFileError(message)
