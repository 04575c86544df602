"""What loading takes in memory is bounded by the size of the file, whatever the file says."""

import json
import subprocess
import sys
import textwrap
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from fuzz.model_file.parts import join, split
from tests.measured_memory import needs_true_memory
from tests.models.fitted import data, fit

import hinge
from hinge.models import load, save
from hinge.models.budget import Budget
from hinge.models.solutions_reader import Claim, take_solutions
from hinge.models.solutions_table import COLUMNS
from hinge.models.text_lists import SharedWords, take_texts
from hinge.multiclass import Labels
from hinge.problem import Intercept

pytestmark = [
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="needs the peak memory of a process"
    ),
    needs_true_memory,
]

SPARE = 64_000_000
TIMES = 4

# Loads files in a process of its own and says by how much its memory has grown after each.
MEASURE = textwrap.dedent(
    """
    import pathlib, sys
    import hinge
    from hinge.models import load

    def peak():  # not getrusage, which remembers the process that started this one
        lines = pathlib.Path("/proc/self/status").read_text().splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

    load(sys.argv[1])  # so that what is only needed once has been loaded
    before = peak()
    for path in sys.argv[2:]:
        try:
            load(path)
            outcome = "loaded"
        except hinge.ModelFileError:
            outcome = "refused"
        print(outcome, peak() - before)
    """
)


@pytest.fixture
def measured(tmp_path):
    small = tmp_path / "small"
    save(fit(*data()), small)

    def measure(*paths) -> list[tuple[str, int]]:
        command = [sys.executable, "-c", MEASURE, str(small), *map(str, paths)]
        lines = subprocess.check_output(command, text=True).splitlines()
        return [(line.split()[0], int(line.split()[1])) for line in lines]

    return measure


def tensors_of(parts):
    types = {"U8": np.uint8, "I64": np.int64, "F64": np.float64}
    return {
        name: np.frombuffer(parts.data[slice(*entry["data_offsets"])], types[entry["dtype"]])
        for name, entry in parts.header.items()
    }


def big_model(n_features: int, n_classes: int = 3) -> hinge.LinearSVC:
    X = np.zeros((2 * n_classes, n_features), dtype=np.float32)
    X[:, 0] = np.arange(len(X))
    return fit(X, np.arange(len(X)) % n_classes, max_iter=0)


def bombs(folder):
    """Yield files that claim to be, or unfold to, far more than they are."""
    path = folder / "sound"
    save(fit(*data()), path)
    sound = split(path.read_bytes())
    shape = sound.copy()
    shape.header["coef"]["shape"] = [2**31, 2**31]
    yield join(shape, repair=True)
    lists = "[" + ",".join(["[]"] * 320_000) + "]"
    yield join(sound, False, json.dumps({"__metadata__": {"hinge": lists}}))
    names = ",".join(f'"{k}":0' for k in range(100_000))
    yield join(sound, False, f"{{{names}}}")
    tensor = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'
    yield join(sound, False, "{" + ",".join(f'"{k}":{tensor}' for k in range(18_000)) + "}")
    wide = sound.copy()
    wide.description["classes"] = {
        "kind": "text",
        "count": 100_001,
        "values": [*(f"{k:06}" for k in range(100_000)), "z" * 1000],
    }
    yield join(wide, repair=True)
    yield b"\xff" * 8 + b"{}"


def test_a_file_takes_at_most_four_times_its_size(tmp_path, measured):
    model = big_model(200_000)
    model.feature_names_in_ = np.array([f"{k}" for k in range(200_000)], dtype=object)
    path = tmp_path / "big"
    save(model, path)
    [(outcome, grown)] = measured(path)
    assert outcome == "loaded"
    assert grown > path.stat().st_size // 2  # so the measure does measure
    assert grown <= TIMES * path.stat().st_size + SPARE


@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_weights_take_at_most_four_times_the_file(tmp_path, is_sparse):
    model = fit(np.random.default_rng(0).normal(size=(6, 100_000)), np.arange(6) % 3, max_iter=1)
    if is_sparse:
        model.sparsify()
    path = tmp_path / "model"
    save(model, path, proof=False)
    load(path)
    tracemalloc.start()
    loaded = load(path)
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size < taken <= TIMES * path.stat().st_size
    assert sp.issparse(loaded.coef_) is is_sparse
    assert np.array_equal(
        sp.csr_matrix(loaded.coef_).toarray(), sp.csr_matrix(model.coef_).toarray()
    )


def many_classes(count: int, n_features: int) -> hinge.LinearSVC:
    """Return a model of so many classes, as if each had been trained."""
    model = fit(np.arange(3.0)[:, None] * np.ones(n_features), np.arange(3))
    solution = model.solutions_[0]
    rng = np.random.default_rng(0)
    solutions = [
        replace(
            solution,
            point=hinge.Point(np.full(n_features, weight), weight),
            steps=int(1000 + 100 * weight),
            seconds=abs(weight),
        )
        for weight in rng.normal(size=count)
    ]
    labels = Labels(np.arange(count), np.zeros(0, dtype=np.int8))
    model._store(solutions, labels, Intercept.AUGMENTED)
    return model


def test_many_classes_take_no_more_than_their_share(tmp_path, measured):
    path = tmp_path / "many"
    save(many_classes(105_000, 2), path, proof=False)
    [(outcome, grown)] = measured(path)
    assert outcome == "loaded"
    assert grown <= TIMES * path.stat().st_size + SPARE


def test_more_classes_than_memory_is_promised_for_are_refused():
    message = "the file has 500000 problems: in memory that would be too large for the rest"
    tensors = {"solutions": np.zeros((500_000, len(COLUMNS)))}
    with pytest.raises(hinge.ModelFileError, match=message):
        take_solutions({}, tensors, Claim(0, 1e-4, 1.0), Budget(300_000_000))


def test_a_model_that_could_not_be_loaded_again_is_not_saved(tmp_path):
    with pytest.raises(hinge.UnsupportedError, match="cannot be saved: the file has 150000 probl"):
        save(many_classes(150_000, 1), tmp_path / "many", proof=False)
    assert list(tmp_path.iterdir()) == []


def test_notes_of_many_lines_are_paid_for():
    words = SharedWords(Budget(1_000_000))
    assert words.lines("one\ntwo") == ("one", "two")
    assert words.word("one\ntwo") == "one\ntwo"
    with pytest.raises(hinge.ModelFileError, match="the problems have many solvers, or long"):
        words.lines("ab\n" * 10_000)


def test_bombs_are_refused_without_taking_memory(tmp_path, measured):
    paths = []
    for number, content in enumerate(bombs(tmp_path)):
        paths.append(tmp_path / f"bomb {number}")
        paths[-1].write_bytes(content)
    for path, (outcome, grown) in zip(paths, measured(*paths), strict=True):
        assert outcome == "refused", path
        assert grown <= SPARE, path


def test_names_that_would_unfold_beyond_the_limit_are_refused(tmp_path):
    model = big_model(50_000, n_classes=2)
    model.feature_names_in_ = np.full(50_000, "n", dtype=object)
    save(model, tmp_path / "model")
    parts = split((tmp_path / "model").read_bytes())
    assert parts.description["feature_names"] == "tensors"
    assert load(tmp_path / "model").feature_names_in_.tolist() == ["n"] * 50_000
    rest = 8 * 50_000 * 4  # as if weights took no room
    with pytest.raises(hinge.ModelFileError, match="too large for the rest of the file"):
        take_texts("feature_names", "tensors", tensors_of(parts), 50_000, Budget(rest))
    start, _ = parts.header["feature_names.ends"]["data_offsets"]
    data = bytearray(parts.data)
    data[start : start + 8] = (-1).to_bytes(8, "little", signed=True)
    parts.data = bytes(data)
    (tmp_path / "model").write_bytes(join(parts, repair=True))
    with pytest.raises(hinge.ModelFileError, match="the entries of feature_names do not follow"):
        load(tmp_path / "model")
