"""Labels as text, and the weights that ``--class-weight`` gives them."""

from __future__ import annotations

import numpy as np
import pytest

from hinge.cli._errors import UsageError
from hinge.cli._labels import label_json, label_text, plain
from hinge.cli._weights import class_weights


@pytest.mark.parametrize(
    ("label", "text"),
    [
        (np.float64(1.0), "1"),
        (np.float64(-0.0), "0"),
        (np.float64(1.5), "1.5"),
        (np.float64(0.1), "0.1"),
        (np.float64(1e300), "1e+300"),
        (np.int64(-3), "-3"),
        (np.bool_(True), "True"),
        (np.str_("cat"), "cat"),
        (np.datetime64("2024-02-03", "D"), "2024-02-03"),
        (np.datetime64("2024-02-03", "ns"), "2024-02-03T00:00:00.000000000"),
        (np.timedelta64(5, "s"), "5 seconds"),
        ("two\nlines", r"two\nlines"),
        ("\x1b[2J", r"\x1b[2J"),
        ("naïve ½", "naïve ½"),
    ],
)
def test_a_label_is_one_printable_line(label: object, text: str) -> None:
    assert label_text(label) == text


def test_text_that_a_terminal_would_obey_is_escaped() -> None:
    assert plain("a\x07\u202eb") == r"a\x07\u202eb"


def test_labels_in_json() -> None:
    labels = np.asarray([1.0, 1.5]), np.asarray(["a"]), np.asarray([True])
    assert [label_json(label) for array in labels for label in array] == [1, 1.5, "a", True]
    assert label_json(np.datetime64("2024", "ns")) == "2024-01-01T00:00:00.000000000"
    assert label_json(np.timedelta64(1, "ns")) == "1 nanoseconds"


def test_no_weights_and_balanced_ones() -> None:
    assert class_weights(None, np.asarray([1, 2])) is None
    assert class_weights([], np.asarray([1, 2])) is None
    assert class_weights(["balanced"], np.asarray([1, 2])) == "balanced"


def test_weights_belong_to_the_labels_of_the_data() -> None:
    numbers = np.asarray([-1.0, 1.0])
    assert class_weights(["-1=2", "+1=0.5"], numbers) == {-1.0: 2.0, 1.0: 0.5}
    assert class_weights(["a=b=3"], np.asarray(["a=b", "c"])) == {"a=b": 3.0}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1"], "--class-weight takes LABEL=WEIGHT or the word balanced; got '1'."),
        (["balanced", "1=2"], "--class-weight takes LABEL=WEIGHT or the word balanced; got "),
        (["3=1"], "--class-weight: there is no class '3' in the data; it has -1, 1."),
        (["x=1"], "--class-weight: there is no class 'x' in the data; it has -1, 1."),
        (["1=1", "1.0=2"], "--class-weight gives class '1.0' two weights."),
        (["1=x"], "--class-weight takes a weight that is a finite number above 0; got '1=x'."),
        (["1=0"], "--class-weight takes a weight that is a finite number above 0; got '1=0'."),
        (["1=-2"], "--class-weight takes a weight that is a finite number above 0; got '1=-2'."),
        (["1=nan"], "--class-weight takes a weight that is a finite number above 0; got '1=nan'."),
    ],
)
def test_weights_that_make_no_sense(texts: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        class_weights(texts, np.asarray([-1.0, 1.0]))
    assert str(caught.value).startswith(message)
