"""A coverage-guided fuzzer of the model loader, on atheris.

Usage: python -m fuzz.model_file.fuzz_loader [CORPUS] [-max_total_time=600] [libFuzzer options]

Needs ``pip install atheris``. Mutations are half libFuzzer's own and half those that know the
format; without these nearly everything would end at the first check. Half of the files that
can be read as such get a digest that fits.
"""

from __future__ import annotations

import inspect
import os
import random
import sys
import tempfile
from pathlib import Path

import atheris
from fuzz.model_file.judge import judge_model
from fuzz.model_file.mutations import mutate
from fuzz.model_file.parts import join, split
from fuzz.model_file.seeds import model_files

MOST_BYTES = 100_000
REGRESSIONS = Path(__file__).with_name("regressions")
_MEMORY = Path("/dev/shm")  # a file system without a disk, where there is one
_FOLDER = Path(tempfile.mkdtemp(dir=_MEMORY if _MEMORY.is_dir() else None))


def instrument_loader() -> None:
    """Count the branches of everything in hinge.models.

    Function by function, because the hook of an editable install comes before atheris' own.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("hinge.models.")]
    for module in modules:
        owners = [module, *(kind for _, kind in inspect.getmembers(module, inspect.isclass))]
        for owner in owners:
            for _, function in inspect.getmembers(owner, inspect.isfunction):
                if function.__module__ == module.__name__:
                    atheris.instrument_func(function)


def load_bytes(content: bytes) -> None:
    """Load some bytes; anything but a typed error or a sound model is a finding."""
    path = _FOLDER / "mutated"
    path.write_bytes(content)
    judge_model(path, b"", repaired=True)


def mutated(content: bytes, most: int, seed: int) -> bytes:
    """Return a mutation of some bytes, by libFuzzer or by one who knows the format."""
    rng = random.Random(seed)
    try:
        if rng.random() < 0.5:
            return mutate(rng, content)[2][:most]
        changed = atheris.Mutate(content, most)
        return join(split(changed), repair=True)[:most]
    except Exception:  # bytes that are no file any more cannot be taken apart
        return atheris.Mutate(content, most)


def main() -> None:
    """Load what was found before, fill the corpus with that and with sound files, then fuzz."""
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    corpus = Path(folders[0]) if folders else _FOLDER / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(model_files()):
        (corpus / f"sound-{number}").write_bytes(content)
    for path in sorted(REGRESSIONS.iterdir()):
        load_bytes(path.read_bytes())
        (corpus / path.name).write_bytes(path.read_bytes())
    os.fsync = lambda _: None  # every model that is accepted is saved again; no need to wait
    instrument_loader()
    arguments = [sys.argv[0], str(corpus), f"-max_len={MOST_BYTES}", "-timeout=5"]
    arguments += [argument for argument in sys.argv[1:] if argument.startswith("-")]
    atheris.Setup(arguments, load_bytes, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
