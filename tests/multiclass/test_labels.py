"""Labels of several classes and the binary problems made of them."""

from __future__ import annotations

import numpy as np
import pytest

from hinge.labels import row_weights
from hinge.losses import get_loss
from hinge.multiclass import Labels, Objective, class_problem
from hinge.problem import Intercept
from hinge.rows import Rows

ROWS = Rows(np.arange(12.0).reshape(6, 2))
OBJECTIVE = Objective(get_loss("hinge"), 2.0, Intercept.AUGMENTED, 3.0)
THREE = np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8)
TWO = np.array([0, 1, 1, 0, 1, 0], dtype=np.uint8)


def test_two_classes_make_one_problem_with_the_second_positive() -> None:
    labels = Labels(np.array(["a", "b"]), TWO)
    assert labels.n_problems == 1
    problem = class_problem(ROWS, labels, OBJECTIVE, 0)
    assert problem.signs.tolist() == [-1, 1, 1, -1, 1, -1]
    assert problem.sample_weight is None
    assert (problem.C, problem.intercept_scale) == (2.0, 3.0)


def test_every_class_is_positive_once() -> None:
    labels = Labels(np.array(["a", "b", "c"]), THREE)
    assert labels.n_problems == 3
    for number in range(3):
        problem = class_problem(ROWS, labels, OBJECTIVE, number)
        assert ((problem.signs == 1) == (number == THREE)).all()
        assert problem.rows is ROWS


def test_class_weights_of_two_classes_multiply_both() -> None:
    labels = Labels(np.arange(2), TWO, None, np.array([0.5, 4.0]))
    weights = class_problem(ROWS, labels, OBJECTIVE, 0).sample_weight
    assert weights is not None
    assert weights.tolist() == [0.5, 4.0, 4.0, 0.5, 4.0, 0.5]


def test_class_weights_of_more_classes_multiply_the_positive_one() -> None:
    by_row = np.array([1.0, 2.0, 3.0, 0.0, 1.0, 1.0])
    labels = Labels(np.arange(3), THREE, by_row, np.array([10.0, 100.0, 1000.0]))
    weights = class_problem(ROWS, labels, OBJECTIVE, 1).sample_weight
    assert weights is not None
    assert weights.tolist() == [1.0, 200.0, 3.0, 0.0, 100.0, 1.0]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_sample_weights_are_shared_where_they_suffice(number: int) -> None:
    by_row = np.ones(6)
    labels = Labels(np.arange(3), THREE, by_row)
    assert labels.weights(number) is by_row


def test_problems_share_the_weights_that_were_read() -> None:
    weights = row_weights(np.arange(1.0, ROWS.n_rows + 1), ROWS.n_rows)
    codes = np.arange(ROWS.n_rows) % 3
    labels = Labels(np.arange(3), codes, weights)
    for number in range(3):
        assert class_problem(ROWS, labels, OBJECTIVE, number).sample_weight is weights
