"""A model file taken apart and put together again, with or without a digest that fits.

Written apart from the package, so that a mistake there is not made here as well.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from typing import Any


@dataclass
class Parts:
    """The header, the description inside it, and the bytes of the tensors.

    Parameters
    ----------
    header : dict
        The tensors' entries, without the metadata.
    description : dict
        What the metadata key holds.
    data : bytes
        Everything after the header.
    """

    header: dict[str, Any]
    description: Any
    data: bytes

    def copy(self) -> Parts:
        """Return a copy that can be changed."""
        return copy.deepcopy(self)


def split(content: bytes) -> Parts:
    """Return the parts of a sound file."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    description = json.loads(header.pop("__metadata__")["hinge"])
    return Parts(header, description, content[8 + length :])


def join(parts: Parts, repair: bool, spelled: str | None = None) -> bytes:
    """Return the file of some parts.

    Parameters
    ----------
    parts : Parts
        Sound or not.
    repair : bool
        Whether to give it the digest that its content has now.
    spelled : str or None, default=None
        The JSON of the header, if it is to be another than that of the parts.
    """
    description = parts.description
    if repair and isinstance(description, dict):
        description = {**description, "sha256": digest(parts)}
    if spelled is None:
        metadata = {"hinge": dump(description)}
        spelled = json.dumps({"__metadata__": metadata, **parts.header})
    text = spelled.encode("utf-8", "surrogatepass")
    return len(text).to_bytes(8, "little") + text + parts.data


def digest(parts: Parts) -> str:
    """Return the digest of the content, as far as its tensors can be found."""
    bare = {name: value for name, value in parts.description.items() if name != "sha256"}
    found = hashlib.sha256(dump(bare).encode())
    for name in sorted(parts.header):
        try:
            start, stop = parts.header[name]["data_offsets"]
            found.update(parts.data[start:stop])
        except (TypeError, KeyError, ValueError):
            continue
    return found.hexdigest()


def dump(content: Any) -> str:
    """Return JSON the way that the package spells it, numbers that are none included."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
