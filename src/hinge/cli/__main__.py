"""``python -m hinge.cli``: the same as the program ``hinge``."""

from __future__ import annotations

from hinge.cli import main

if __name__ == "__main__":
    main()
