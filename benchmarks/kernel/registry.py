"""Every method by name, in the order in which tasks are run."""

from __future__ import annotations

from benchmarks.kernel.method import KernelMethod
from benchmarks.kernel.methods.hinge_svc import AGAINST_REST, BY_NAME, SVC
from benchmarks.kernel.methods.libsvm import LIBSVM
from benchmarks.kernel.methods.scikit_learn import INTELEX, SCIKIT_LEARN
from benchmarks.kernel.methods.thundersvm import THUNDERSVM

# scikit-learn's objective is what the others have to reach, and hinge's time limits theirs.
METHODS: tuple[KernelMethod, ...] = (SCIKIT_LEARN, *SVC, *INTELEX, THUNDERSVM, LIBSVM, *BY_NAME)
OURS = tuple(method.name for method in SVC)


def find_method(name: str) -> KernelMethod:
    """Return the method of that name."""
    # One class against the rest is another problem, which is no part of comparisons.
    methods = {method.name: method for method in (*METHODS, *AGAINST_REST)}
    if name not in methods:
        message = f"There is no method {name!r}; there are: {', '.join(methods)}."
        raise ValueError(message)
    return methods[name]
