"""Write the texts of the tests as seeds for the fuzzer: python -m fuzz.libsvm_text.make_seeds DIR.

Every text is written in three modes: one label per row; several; and one, in narrower types.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.data.libsvm_cases import seeds

MODES = (b"\x00", b"\x01", b"\x32")


def main(folder: Path) -> None:
    """Write one file for every text and mode."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in seeds().items():
        for mode in MODES:
            path = folder / f"{name.replace(' ', '-')}-{mode.hex()}"
            path.write_bytes(mode + text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
