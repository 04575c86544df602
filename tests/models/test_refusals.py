"""Every reason to refuse a file, each by a file that gives it, digest and all."""

import json
import struct

import numpy as np
import pytest
from fuzz.model_file.parts import Parts, join, split
from tests.models.fitted import data, fit

import hinge
from hinge import ModelFileError
from hinge.models import load, save


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Parts:
    path = tmp_path_factory.mktemp("sound") / "model"
    X, y = data()
    model = fit(X, y, intercept="free", loss="hinge", class_weight={"a": 1.0, "b": 2.0})
    model.feature_names_in_ = np.array(list("pqrs"), dtype=object)
    save(model, path)
    return split(path.read_bytes())


@pytest.fixture
def refused(tmp_path):
    def check(content: bytes, sentence: str) -> None:
        path = tmp_path / "model"
        path.write_bytes(content)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert sentence in str(caught.value)

    return check


def set_at(tree, path, value) -> None:
    *way, last = path.split("/")
    for key in way:
        tree = tree[int(key) if isinstance(tree, list) else key]
    tree[int(last) if isinstance(tree, list) else last] = value


def put_number(parts: Parts, name: str, place: int, value: float) -> None:
    start = parts.header[name]["data_offsets"][0] + 8 * place
    parts.data = parts.data[:start] + struct.pack("<d", value) + parts.data[start + 8 :]


DESCRIPTION = {
    "format": (2, "it is of format 2; this version of hinge reads format 1. Upgrade hinge"),
    "format ": ("1", "format must be a whole number from 0"),
    "kind": ("random-classifier", "it holds a 'random-classifier'; wanted is 'linear-classifier'"),
    "hinge": ("1.0; rm", "it does not say which version of hinge wrote it"),
    "extra": (1, "has fields that this format does not know: 'extra'"),
    "n_features": (5, "the rest of the file makes it float64 of shape (3, 5)"),
    "n_features ": (0, "n_features must be a whole number from 1"),
    "n_features  ": (True, "n_features must be a whole number from 1"),
    "is_sparse": (0, "is_sparse must be true or false"),
    "seed": (-1, "seed must be a whole number from 0"),
    "classes": ([], "classes must be an object with named fields"),
    "classes/kind": ("pickle", "classes.kind must be one of 'bool', 'int8'"),
    "classes/count": (4, "classes has 3 entries; the rest of the file makes it 4"),
    "classes/values/0": ("b", "classes must all be different and in order"),
    "classes/values/0 ": (3, "classes must be a list of strings"),
    "classes/values/2": ("c\x00", "a label that ends in a zero"),
    "feature_names/0": (None, "feature_names must be a list of strings"),
    "feature_names": (["a"], "feature_names has 1 entries; the rest of the file makes it 4"),
    "certificate/gap": (0.0, "is not that of the worst problem"),
    "status/0": ("perfect", "a status that this version does not know: 'perfect'"),
    "solver/0": ("", "the solver of problem 0 has a name that cannot be"),
    "notes": (["", ""], "notes has 2 entries; the rest of the file makes it 3"),
    "problem/C": (2.0, "the problem is not the one that the parameters stand for"),
    "problem/loss/name": ("huber", "the problem is not the one that the parameters stand for"),
    "parameters/C": (-1.0, "the parameters are not those of a fitted model: C must"),
    "parameters/C ": ([1.0], "parameters.C must be a single value"),
    "parameters/tol": (1e-12, "a problem is called solved; its relative gap of"),
    "parameters/solver": ("x" * 101, "parameters.solver must be a single value"),
    "parameters/solver ": ("os.system", "the parameters are not those of a fitted model: solver"),
    "parameters/callback": ("os.system", "parameters has fields that this format does not know"),
    "parameters/class_weight": (3, "parameters.class_weight must be null, 'balanced' or a list"),
    "parameters/class_weight/0": (["a"], "must be a label and a weight greater than 0"),
    "parameters/class_weight/0/1": (0.0, "must be a label and a weight greater than 0"),
    "parameters/class_weight/0/0": ("b", "parameters.class_weight has a label twice"),
    "proof": (None, "its tensors are not those of a linear-classifier: with"),
    "proof/n_rows": (119, "the rest of the file makes it float64 of shape (3, 119)"),
    "proof/fingerprint": ("0" * 63 + "G", "the fingerprint of the training data is none"),
    "tensors/coef/1": ([4, 3], "the description and the header name different tensors"),
}


@pytest.mark.parametrize("place", DESCRIPTION)
def test_a_field_that_does_not_fit_the_others(sound, refused, place):
    value, sentence = DESCRIPTION[place]
    parts = sound.copy()
    set_at(parts.description, place.strip(), value)
    refused(join(parts, repair=True), sentence)


@pytest.mark.parametrize(
    "name", ["classes", "proof", "parameters", "seed", "notes", "format", "kind", "hinge"]
)
def test_a_field_that_is_missing(sound, refused, name):
    parts = sound.copy()
    del parts.description[name]
    refused(join(parts, repair=True), "")


HEADER = {
    "coef/dtype": ("F128", "tensor 'coef' has a dtype that this format does not know"),
    "coef/shape": ([3, 0], "tensor 'coef' has a shape or offsets that cannot be"),
    "coef/shape ": ([2**62, 2**62], "takes 170141183460469231731687303715884105728 bytes"),
    "coef/shape  ": ([1, 1, 3, 4], "tensor 'coef' has a shape or offsets that cannot be"),
    "coef/data_offsets": ([-96, 0], "tensor 'coef' has a shape or offsets that cannot be"),
    "coef/data_offsets ": ([0, 97], "its offsets give it 97"),
    "coef/data_offsets  ": ([8, 104], "begins at byte 8, not at 0"),
    "coef": ([], "tensor 'coef' must have a dtype, a shape and data_offsets"),
}


@pytest.mark.parametrize("place", HEADER)
def test_a_header_that_does_not_fit_the_file(sound, refused, place):
    value, sentence = HEADER[place]
    parts = sound.copy()
    set_at(parts.header, place.strip(), value)
    refused(join(parts, repair=True), sentence)


NUMBERS = {
    "weights not finite": ("coef", 0, np.inf, "tensor 'coef' holds a number that is not finite"),
    "a negative dual": ("dual_coef", 5, -1.0, "tensor 'dual_coef' holds a negative coefficient"),
    "another objective": ("solutions", 0, 7.0, "certificate of problem 0 do not belong together"),
    "a negative gap": ("solutions", 2, -1.0, "certificate of problem 0 do not belong together"),
    "another relative gap": ("solutions", 3, 0.0, "do not belong together"),
    "a negative violation": ("solutions", 5, -1.0, "do not belong together"),
    "half a step": ("solutions", 6, 0.5, "problem 0 has steps, work, seconds or flags"),
    "endless seconds": ("solutions", 8, np.inf, "problem 0 has steps, work, seconds or flags"),
    "half a flag": ("solutions", 10, 0.5, "problem 0 has steps, work, seconds or flags"),
    "a negative radius": ("region.bounds", 0, -1.0, "region of the optimum of problem 0 cannot be"),
    "a radius of NaN": ("region.bounds", 0, np.nan, "region of the optimum of problem 0 cannot be"),
    "an empty interval": ("region.bounds", 1, np.inf, "region of the optimum of problem 0 cannot"),
    "a constant feature": ("region.bounds", 3, 1.0, "region of the optimum of problem 0 cannot be"),
}


@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_that_no_model_has(sound, refused, what):
    name, place, value, sentence = NUMBERS[what]
    parts = sound.copy()
    put_number(parts, name, place, value)
    refused(join(parts, repair=True), sentence)


def test_solved_without_a_gap(sound, refused):
    parts = sound.copy()
    for place in (2, 3, 4):
        put_number(parts, "solutions", place, np.inf)
    put_number(parts, "solutions", 11, 0.0)
    refused(
        join(parts, repair=True),
        "a problem is called solved; its relative gap of inf is above tol=0.0001",
    )
    put_number(parts, "solutions", 11, 1.0)
    refused(join(parts, repair=True), "a region of the optimum, but no gap that could prove it")


def test_solved_with_a_gap_above_the_tolerance(refused, tmp_path):
    X, y = data()
    save(fit(X, y, max_iter=1, tol=1e-9, loss="hinge"), tmp_path / "unsolved")
    parts = split((tmp_path / "unsolved").read_bytes())
    assert parts.description["status"][1] == "iteration_limit"
    parts.description["status"][1] = "solved"
    refused(join(parts, repair=True), "a problem is called solved; its relative gap of")


def test_a_tolerance_that_was_changed_after_the_fit_cannot_be_saved(tmp_path):
    X, y = data()
    model = fit(X, y).set_params(tol=0.0)
    wanted = r"this model cannot be saved: a problem is called solved; its .* is above tol=0\."
    with pytest.raises(hinge.UnsupportedError, match=wanted):
        save(model, tmp_path / "model")


def test_a_tolerance_of_zero_is_kept(tmp_path):
    X, y = data()
    save(fit(X, y, tol=0.0, loss="hinge"), tmp_path / "model")
    assert load(tmp_path / "model").tol == 0.0


def test_a_proof_without_an_owner(sound, refused):
    parts = sound.copy()
    put_number(parts, "solutions", 10, 0.0)
    refused(join(parts, repair=True), "a region of the optimum, but no gap that could prove it")
    for row in range(3):
        put_number(parts, "solutions", 12 * row + 10, 0.0)
        put_number(parts, "solutions", 12 * row + 11, 0.0)
    refused(join(parts, repair=True), "dual coefficients that belong to no problem")


def test_a_flipped_bit_anywhere_in_the_tensors(sound, refused):
    for place in range(0, len(sound.data), 97):
        parts = sound.copy()
        data = bytearray(parts.data)
        data[place] ^= 4
        parts.data = bytes(data)
        refused(join(parts, repair=False), "does not match its SHA-256 digest")


def test_every_truncation(sound, refused):
    content = join(sound, repair=True)
    for length in range(0, len(content), 13):
        refused(content[:length], "")
    refused(content[:-1], "the tensors take")
    refused(content + b"\x00", "something was added to it")
    refused(b"", "it was cut off")
    refused(b"\x00" * 7, "it was cut off")


def test_headers_that_are_no_json(sound, refused):
    def header(text: bytes) -> bytes:
        return len(text).to_bytes(8, "little") + text + sound.data

    refused(header(b"\xff\xfe"), "the header is not UTF-8 at byte 8")
    refused(header(b"{"), "the header is no JSON that can be read")
    refused(header(b"[]"), "the header is not a JSON object")
    refused(header(b"{}"), "not a hinge file")
    refused(header(b'{"a": NaN}'), "the header has NaN, which is no JSON")
    refused(header(b'{"a": 1, "a": 2}'), "the header has the name 'a' twice")
    refused(header(b"[" * 100_000), "the header is no JSON that can be read")
    refused(header(b"1" * 10_000), "the header is no JSON that can be read")
    refused(header(b'{"__metadata__": {"hinge": 1}}'), "must hold text")
    refused(header(b'{"__metadata__": {"hinge": "[]"}}'), "the description is not a JSON object")
    refused(header(b'{"__metadata__": {"hinge": "{"}}'), "the description is no JSON")
    refused(header(b'{"__metadata__": {"hinge": "{}", "x": ""}}'), "must have the one key 'hinge'")
    refused(header(b'{"__metadata__": {"hinge": "{ }"}}'), "not spelled the way hinge spells it")
    refused(header(b'{"__metadata__": {"hinge": "{\\"a\\":1e999}"}}'), "not spelled the way hinge")
    refused((2**63).to_bytes(8, "little") + sound.data, "gives its header 9223372036854775808")
    refused(header(b" " * 1_000_001), "a header at most 1000000")


def test_a_name_that_comes_twice_in_the_description(sound, refused):
    parts = sound.copy()
    text = json.dumps(parts.description)[:-1] + ', "seed": 3}'
    spelled = json.dumps({"__metadata__": {"hinge": text}, **parts.header})
    refused(join(parts, repair=False, spelled=spelled), "the description has the name 'seed' twice")


def test_tensors_that_nobody_asked_for(sound, refused):
    parts = sound.copy()
    end = len(parts.data)
    parts.header["extra"] = {"dtype": "U8", "shape": [1], "data_offsets": [end, end + 1]}
    parts.description["tensors"]["extra"] = ["U8", [1]]
    parts.data += b"\x00"
    refused(join(parts, repair=True), "are not those of a linear-classifier: with 'extra'")
    many = sound.copy()
    for number in range(10_000):
        many.header[f"t{number}"] = {"dtype": "U8", "shape": [0], "data_offsets": [end, end]}
    refused(join(many, repair=True), "has a shape or offsets that cannot be")


def test_a_tensor_that_is_missing(sound, refused):
    parts = sound.copy()
    last = max(parts.header, key=lambda name: parts.header[name]["data_offsets"][1])
    start, _ = parts.header.pop(last)["data_offsets"]
    del parts.description["tensors"][last]
    parts.data = parts.data[:start]
    refused(join(parts, repair=True), f"a linear-classifier: without '{last}'")


def test_a_tensor_of_another_type(sound, refused):
    parts = sound.copy()
    parts.header["intercept"]["dtype"] = "I64"
    parts.description["tensors"]["intercept"][0] = "I64"
    refused(join(parts, repair=True), "tensor 'intercept' is int64 of shape (3,)")


def test_what_is_no_file_at_all(tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path)


def test_models_that_cannot_be_saved(tmp_path):
    X, y = data("int")
    path = tmp_path / "model"
    with pytest.raises(
        hinge.InvalidParameterError,
        match=r"model must be what hinge.accelerate returns or a fitted hinge",
    ):
        save(object(), path)
    with pytest.raises(ValueError, match="not fitted"):
        save(hinge.LinearSVC(), path)
    model = fit(X, y)
    model.coef_ = model.coef_ + 1.0
    with pytest.raises(hinge.InvalidParameterError, match="were changed after the fit"):
        save(model, path)
    with pytest.raises(hinge.InvalidParameterError, match="C must"):
        save(fit(X, y).set_params(C=-1.0), path)
    model = fit(X, y)
    for solution in model.solutions_:
        solution.point.coef[0] = np.nan
    model.coef_[:, 0] = np.nan
    with pytest.raises(hinge.UnsupportedError, match="the weights are not finite"):
        save(model, path)
    with pytest.raises(hinge.UnsupportedError, match=r"labels of dtype .* cannot be saved"):
        save(fit(X, np.where(y == 3, np.longdouble(3), np.longdouble(4))), path)
    with pytest.raises(hinge.UnsupportedError, match=r"class_weight=.* cannot be saved"):
        save(fit(X, y, class_weight={3: 1.0, -7: 1.0, 12: 1.0, (): 1.0}), path)
    assert not path.exists()
