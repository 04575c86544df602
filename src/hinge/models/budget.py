"""How much memory the content of a file may take beyond the file itself.

A few bytes of a file can become many in memory: a string of one letter takes 50, a solution most
of a thousand. What a file unfolds to is therefore paid for before it is made, out of one purse.
"""

from __future__ import annotations

from hinge.errors import ModelFileError


class Budget:
    """Bytes that may still be taken.

    Parameters
    ----------
    size : int
        How many there are at first.
    """

    def __init__(self, size: int) -> None:
        self._left = size

    def spend(self, size: int, what: str) -> None:
        """Take some bytes for a purpose; a file that asks for more than are left is refused.

        Parameters
        ----------
        size : int
            How many.
        what : str
            What they are for, for the message.
        """
        self._left -= size
        if self._left < 0:
            message = f"{what}: in memory that would be too large for the rest of the file."
            raise ModelFileError(message)
