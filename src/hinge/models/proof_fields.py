"""What a file says of the training data: a fingerprint, or nothing."""

from __future__ import annotations

from typing import Any

from hinge.errors import ModelFileError
from hinge.models.fields import Fields

_DIGITS = 64


def check_fingerprint(fingerprint: Any) -> None:
    """Refuse what is neither a fingerprint nor None.

    Parameters
    ----------
    fingerprint : object
        What a file has.
    """
    is_digest = isinstance(fingerprint, str) and len(fingerprint) == _DIGITS
    if fingerprint is not None and not (is_digest and set(fingerprint) <= set("0123456789abcdef")):
        message = "the fingerprint of the training data is none."
        raise ModelFileError(message)


def take_fingerprint(content: Any) -> str | None:
    """Return the fingerprint of the training data, if a proof has one.

    Parameters
    ----------
    content : object
        What the description has under "proof"; None without one.
    """
    if content is None:
        return None
    fields = Fields(content, "proof")
    fingerprint: str | None = fields.take("fingerprint")
    fields.finish()
    check_fingerprint(fingerprint)
    return fingerprint
