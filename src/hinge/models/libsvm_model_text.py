r"""LIBSVM's text format for models: what it holds, and what it leaves out.

::

    svm_type c_svc
    kernel_type rbf                     linear, polynomial, rbf, sigmoid or precomputed
    gamma 0.5                           those of degree, gamma and coef0 that the kernel has
    nr_class 3
    total_sv 5
    rho 0.25 -1 0.5                     a number for each pair of classes: 0-1, 0-2, 1-2
    label 1 2 3                         whole numbers, in an order of its own
    nr_sv 2 1 2                         support vectors of each class
    SV
    0.25 1 1:0.5 3:2                    a line for each: coefficients, one for each other class,
    ...                                 then features that are not zero; class by class

The value of a pair (i, j) is positive for class i: the sum over the support vectors of both of
coefficient times kernel, less rho. A support vector of class c has its coefficient of the pair
with class d in column d, or d - 1 for d > c. A precomputed kernel has ``0:`` and the number of the
training row, counted from 1, in place of features.

The file does not record C, the loss, weights of classes, nor how many features there were.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy import float64
from numpy.typing import NDArray

from hinge.kernels import RBF, Kernel, Linear, Polynomial, Precomputed, Sigmoid

SVM_TYPES = ("c_svc", "nu_svc")
# What LIBSVM also trains, and what stands against calling it a classifier.
OTHER_SVM_TYPES = {
    "one_class": "a one-class machine",
    "epsilon_svr": "a regression",
    "nu_svr": "a regression",
}
KERNEL_NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "rbf": RBF,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}
# Which lines say what a kernel is; each of these, and no other, must be there.
KERNEL_LINES: dict[str, tuple[str, ...]] = {
    "linear": (),
    "polynomial": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "precomputed": (),
}
MOST_FEATURES = 2**31 - 1  # LIBSVM holds indices as int


@dataclass(frozen=True)
class Header:
    """What stands before the support vectors.

    Parameters
    ----------
    svm_type : str
        One of ``SVM_TYPES``.
    kernel : Kernel
        With numbers as parameters.
    labels : tuple of int
        The labels in the order of the file, all different.
    n_support : tuple of int
        Support vectors of each class, in that order.
    rho : ndarray of shape (n_pairs,)
        What is subtracted, in the order of the pairs.
    sigmoids : tuple of ndarray or None
        ``probA`` and ``probB``, a number of each for every pair.
    """

    svm_type: str
    kernel: Kernel
    labels: tuple[int, ...]
    n_support: tuple[int, ...]
    rho: NDArray[float64]
    sigmoids: tuple[NDArray[float64], NDArray[float64]] | None = None

    @property
    def n_coefficients(self) -> int:
        """How many numbers stand before the features of a support vector."""
        return len(self.labels) - 1

    @property
    def n_lines(self) -> int:
        """How many support vectors there are."""
        return sum(self.n_support)

    @property
    def is_precomputed(self) -> bool:
        """Whether support vectors are numbers of training rows."""
        return isinstance(self.kernel, Precomputed)
