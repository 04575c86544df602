"""The functions that a kernel machine is made of, each as a point of its binary problem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hinge.certificates.kernel_foreign import ForeignMachine
from hinge.estimators._division import Division
from hinge.models.kernel_machine import KernelMachine, class_slices, coefficient_row
from hinge.models.kernel_machine import pairs as class_pairs
from hinge.result import Point
from hinge.rows import Rows

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def point_of(machine: KernelMachine, division: Division, support: Ints, number: int) -> Point:
    """Return the dual point of a problem, placed among the rows of the problem.

    Parameters
    ----------
    machine : KernelMachine
        The machine.
    division : ClassPairs or ClassesAgainstRest
        The problems, with the labels of the rows.
    support : ndarray of int of shape (n_support,)
        Which row every support vector is.
    number : int
        Which problem.
    """
    ids = division.rows_of(number)
    alpha = np.zeros(len(division.labels.codes))
    terms, coefficients = _function(machine, number)
    alpha[support[terms]] = np.abs(coefficients)
    intercept = float(machine.sign * machine.intercept[number])
    return Point(np.zeros(0), intercept, alpha if ids is None else alpha[ids])


def own_machine(machine: KernelMachine, number: int) -> ForeignMachine:
    """Return the machine of a problem with its own support vectors.

    Parameters
    ----------
    machine : KernelMachine
        A machine that knows its support vectors.
    number : int
        Which problem.
    """
    terms, coefficients = _function(machine, number)
    sign = machine.sign
    vectors = Rows(machine.vectors[terms])
    return ForeignMachine(vectors, sign * coefficients, float(sign * machine.intercept[number]))


def _function(machine: KernelMachine, number: int) -> tuple[Ints, Floats]:
    """Return which support vectors a function is a sum over, and their coefficients."""
    if machine.is_against_rest:
        return np.arange(machine.dual_coef.shape[1]), machine.dual_coef[number]
    slices = class_slices(machine.n_support)
    first, second = class_pairs(len(machine.classes))[number]
    terms, coefficients = [], []
    for own, other in ((first, second), (second, first)):
        terms.append(np.arange(slices[own].start, slices[own].stop))
        coefficients.append(machine.dual_coef[coefficient_row(own, other), slices[own]])
    return np.concatenate(terms), np.concatenate(coefficients)
